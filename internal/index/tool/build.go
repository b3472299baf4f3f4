package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// Build is one run of "index build", from tables or from a graph.
type Build struct {
	Entities   string // path of a table; "" if none
	Properties string
	Graph      *build.Graph // if nil, only tables are read
	Out        string       // folder
	Into       Server       // if set, stores the names; the folder then contains only pulled entries
	IntoName   string       // name of Into in messages
	Embedder   lookup.Embedder
	Now        time.Time
	// Lock locks a folder for this process.
	Lock func(dir string) (release func() error, err error)
	// Progress shows the progress; Log prints messages that stay on the screen.
	Progress func(text string)
	Log      func(text string)
}

// Server stores an index on a server instead of in a folder. It is implemented by opensearch.Client.
type Server interface {
	// Rebuild builds a new index from the entries that rows adds, and replaces the earlier one.
	Rebuild(ctx context.Context, now time.Time, rows func(add func(lookup.Entry) error) error) error
}

// Run builds the index. Readers of an earlier index in the folder are not affected. If Run is interrupted, entries
// pulled from a graph are kept for the next call with the same folder.
func (b *Build) Run(ctx context.Context) (err error) {
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return fmt.Errorf("the folder for the index cannot be created: %w", err)
	}
	release, err := b.Lock(b.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	o := lookup.Options{Source: b.source(), Built: b.Now.UTC().Format(time.RFC3339), Embedder: b.Embedder,
		Progress: func(stage string, done, of int) {
			if of > 0 {
				b.Progress(fmt.Sprintf("%s: %d%%", stage, 100*done/of))
			}
		}}
	path := filepath.Join(b.Out, lookup.FileName)
	var h lookup.Header
	if b.Into != nil {
		path = b.IntoName
		err = b.Into.Rebuild(ctx, b.Now, func(add func(lookup.Entry) error) error {
			return b.rows(ctx, func(e lookup.Entry) error {
				count(&h, &e)
				return add(e)
			})
		})
	} else {
		h, err = lookup.Create(ctx, path, o, func(add func(lookup.Entry) error) error { return b.rows(ctx, add) })
	}
	if err != nil {
		return err
	}
	if b.Graph != nil {
		if err := build.Done(b.Out); err != nil {
			return err
		}
	}
	size := ""
	if i, err := os.Stat(path); err == nil && b.Into == nil {
		size = fmt.Sprintf(", %.1f MB", float64(i.Size())/1e6)
	}
	b.Log(fmt.Sprintf("%s: %d entities and %d properties with %d names%s", path, h.Entities, h.Properties, h.Names, size))
	switch {
	case h.Entities+h.Properties == 0:
		return errors.New("the index is empty: nothing with a name was found")
	case h.Entities == 0 && (b.Graph != nil || b.Entities != ""):
		b.Log("warning: the index has no entity: none with a name was found" + b.narrowed())
	}
	return nil
}

// count adds an entry to the counts in an index's header.
func count(h *lookup.Header, e *lookup.Entry) {
	if e.Type == lookup.Property {
		h.Properties++
	} else {
		h.Entities++
	}
	h.Names += len(e.Aliases)
	if e.Label != "" {
		h.Names++
	}
}

// narrowed describes how the names are restricted.
func (b *Build) narrowed() string {
	if b.Graph == nil || len(b.Graph.Languages) == 0 {
		return ""
	}
	return " in the languages " + strings.Join(b.Graph.Languages, ", ")
}

// KnownLanguages returns an error if any of the codes is neither in the IANA registry nor among Wikidata's additions.
func KnownLanguages(codes []string) error {
	var wrong []string
	for _, c := range codes {
		base, _, _ := strings.Cut(c, "-")
		if _, err := language.ParseBase(base); err != nil && base != "simple" && base != "eml" {
			wrong = append(wrong, strconv.Quote(c))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("no language has the code %s; use codes such as en, de or pt-br", strings.Join(wrong, ", "))
	}
	return nil
}

func (b *Build) source() string {
	switch {
	case b.Graph != nil:
		return b.Graph.Name
	case b.Entities == "" || b.Properties == "":
		return b.Entities + b.Properties
	}
	return b.Entities + ", " + b.Properties
}

func (b *Build) rows(ctx context.Context, add func(lookup.Entry) error) error {
	for _, kind := range []lookup.Type{lookup.Property, lookup.Entity} {
		plural := map[lookup.Type]string{lookup.Property: "properties", lookup.Entity: "entities"}[kind]
		if b.Graph != nil {
			err := build.Pull(ctx, *b.Graph, kind, b.Out, func(done int) {
				b.Progress(fmt.Sprintf("%s from %s: %d", plural,
					b.Graph.Name, done))
			}, add)
			if err != nil {
				return fmt.Errorf("%w\nthe entries pulled so far are kept: run the same command again to continue", err)
			}
			continue
		}
		path := map[lookup.Type]string{lookup.Property: b.Properties, lookup.Entity: b.Entities}[kind]
		if path == "" {
			continue
		}
		n := 0
		err := build.TableFile(ctx, path, kind, func(e lookup.Entry) error {
			if n++; n%10_000 == 0 {
				b.Progress(fmt.Sprintf("%s from %s: %d", plural, path, n))
			}
			return add(e)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
