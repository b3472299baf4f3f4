// Package build fills label indexes from tables in GRASP's format ([Table]) and from graphs ([Pull]).
package build

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// listSeparator separates the synonyms, or infos, in a column.
const listSeparator = ";;;"

// maxLine is the maximum length of a table line, in bytes.
const maxLine = 1 << 20

// columns lists the required columns of a table, followed by the optional ones.
var columns = []string{"label", "score", "synonyms", "id", "infos", "language", "uses", "external", "noise"}

const neededColumns = 5

// Table reads a table of entities or properties in GRASP's format: a header, then one line per entry, with
// tab-separated columns: label, score, synonyms, id and infos, in any order (the program and the paper differ), and
// optionally language, uses, external and noise. Synonyms and infos are lists separated by ";;;"; id is an IRI, with or
// without angle brackets; external and noise are 1 or 0. An empty score is 0. An empty label is replaced with the first
// synonym or derived from the IRI. If there are no external and noise columns, these values are guessed from the label
// and the infos. Errors include the line number.
func Table(ctx context.Context, name string, r io.Reader, kind lookup.Type, add func(lookup.Entry) error) error {
	t := table{kind: kind}
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	line := 0
	for s.Scan() {
		line++
		if line%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text := strings.TrimSuffix(s.Text(), "\r")
		if line == 1 {
			if err := t.header(strings.TrimPrefix(text, "\ufeff")); err != nil {
				return fmt.Errorf("%s:1: %w", name, err)
			}
			continue
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		e, err := t.entry(text)
		if err == nil {
			err = add(e)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if errors.Is(s.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: the line is longer than %d bytes; is this a table of labels?", name, line+1, maxLine)
	}
	if s.Err() == nil && line == 0 {
		return fmt.Errorf("%s: the file is empty; its first line must list the columns: %s", name,
			strings.Join(columns[:neededColumns], ", "))
	}
	return s.Err()
}

// TableFile reads a table from a file, which may be compressed with gzip.
func TableFile(ctx context.Context, path string, kind lookup.Type, add func(lookup.Entry) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if head, _ := in.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return Table(ctx, path, z, kind, add)
	}
	return Table(ctx, path, in, kind, add)
}

// table is the parsed header of a table.
type table struct {
	kind lookup.Type
	at   map[string]int // indexes of columns
	n    int
}

func (t *table) header(line string) error {
	t.at = map[string]int{}
	names := strings.Split(line, "\t")
	t.n = len(names)
	for i, n := range names {
		n = strings.ToLower(strings.TrimSpace(n))
		if !slices.Contains(columns, n) {
			return fmt.Errorf("%q is not a column; the first line must list the columns, separated by tabs: %s, and optionally %s",
				clip(n), strings.Join(columns[:neededColumns], ", "), strings.Join(columns[neededColumns:], ", "))
		}
		if _, twice := t.at[n]; twice {
			return fmt.Errorf("the column %q occurs twice", n)
		}
		t.at[n] = i
	}
	for _, n := range columns[:neededColumns] {
		if _, ok := t.at[n]; !ok {
			return fmt.Errorf("the column %q is missing; the first line must list the columns, separated by tabs: %s",
				n, strings.Join(columns[:neededColumns], ", "))
		}
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

func (t *table) entry(line string) (e lookup.Entry, err error) {
	cells := strings.Split(line, "\t")
	if len(cells) != t.n {
		return e, fmt.Errorf("has %d columns, but the header has %d", len(cells), t.n)
	}
	cell := func(name string) (string, bool) {
		i, ok := t.at[name]
		if !ok {
			return "", false
		}
		return strings.Join(strings.Fields(cells[i]), " "), true
	}
	text := func(name string) string { s, _ := cell(name); return s }
	e = lookup.Entry{Type: t.kind, Label: text("label"), Aliases: list(text("synonyms")), Infos: list(text("infos")),
		Language: strings.ToLower(text("language")), Uses: -1}
	id := text("id")
	e.IRI = strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
	if u, err := url.Parse(e.IRI); err != nil || u.Scheme == "" || strings.ContainsAny(e.IRI, " <>\"{}|^`\\") {
		return e, fmt.Errorf("the id %q is not an IRI; write it as <http://…>", clip(id))
	}
	if s := text("score"); s != "" {
		if e.Score, err = strconv.ParseFloat(s, 64); err != nil || math.IsNaN(e.Score) || math.IsInf(e.Score, 0) {
			return e, fmt.Errorf("the score %q is not a number", clip(s))
		}
	}
	if s := text("uses"); s != "" {
		if e.Uses, err = strconv.ParseInt(s, 10, 64); err != nil || e.Uses < 0 {
			return e, fmt.Errorf("the number of uses %q is not a number", clip(s))
		}
	}
	Complete(&e)
	for name, into := range map[string]*bool{"external": &e.External, "noise": &e.Noise} {
		if s, ok := cell(name); ok {
			if *into, err = strconv.ParseBool(s); s != "" && err != nil {
				return e, fmt.Errorf("%s is %q; use 1 or 0", name, clip(s))
			}
		}
	}
	return e, nil
}

func list(s string) (out []string) {
	for _, t := range strings.Split(s, listSeparator) {
		if t = strings.TrimSpace(t); t != "" {
			out = append(out, t)
		}
	}
	return out
}

// Complete fills in what can be derived from an entry's other fields: a missing label from the aliases or the IRI, and
// whether it is an external identifier or noise.
func Complete(e *lookup.Entry) {
	unnamed := false
	if e.Label == "" && len(e.Aliases) > 0 {
		e.Label, e.Aliases = e.Aliases[0], e.Aliases[1:]
	} else if e.Label == "" {
		e.Label, unnamed = NameOf(e.IRI), true
	}
	if e.Type == lookup.Property {
		e.External = e.External || seemsExternal(e)
		return
	}
	e.Noise = e.Noise || unnamed || seemsNoise(e)
}

// NameOf derives a name from an IRI: the part after the last slash or hash sign, decoded and split at punctuation and
// capitals.
func NameOf(iri string) string {
	rest := iri[strings.LastIndexAny(iri, "/#")+1:]
	if rest == "" {
		rest = strings.TrimRight(iri, "/#")
		rest = rest[strings.LastIndexAny(rest, "/#")+1:]
	}
	if d, err := url.PathUnescape(rest); err == nil && utf8.ValidString(d) {
		rest = d
	}
	var b strings.Builder
	before := rune(0)
	for _, r := range rest {
		switch {
		case strings.ContainsRune("_-.", r):
			r = ' '
		case unicode.IsUpper(r) && unicode.IsLower(before):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		before = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// seemsExternal recognizes identifiers in other databases by their names.
func seemsExternal(e *lookup.Entry) bool {
	words := lookup.Words(e.Label)
	if len(words) > 1 && slices.Contains([]string{"id", "ids", "identifier", "slug"}, words[len(words)-1]) {
		return true
	}
	for _, info := range e.Infos {
		w := lookup.Words(info)
		if len(w) > 1 && w[0] == "identifier" || len(w) > 2 && (w[0] == "unique" || w[0] == "numeric") &&
			w[1] == "identifier" {
			return true
		}
	}
	return false
}

// noiseClasses lists the descriptions and classes of wiki-internal pages, and of the scholarly articles that make up a
// third of Wikidata.
var noiseClasses = []string{"wikimedia disambiguation page", "wikimedia category", "wikimedia template",
	"wikimedia list article",
	"wikimedia module", "wikinews article", "wikimedia internal item", "scholarly article", "scientific article"}

func seemsNoise(e *lookup.Entry) bool {
	for _, info := range e.Infos {
		info = strings.ToLower(strings.TrimPrefix(strings.ToLower(info), "instance of "))
		for _, c := range noiseClasses {
			if info == c || strings.HasPrefix(info, c+" ") {
				return true
			}
		}
	}
	return false
}
