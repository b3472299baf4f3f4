package sparql

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// seeds contains small queries that together cover every construct in the dialect.
func seeds(t testing.TB) (out []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("testdata/seeds.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func seed(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
}

// FuzzParse checks that parsing terminates on every input, and that mistakes have a position within the text.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err == nil {
			if q == nil || q.Body == nil || q.Body.Where == nil {
				t.Fatal("no tree")
			}
			return
		}
		var es Errors
		if !errors.As(err, &es) || len(es) == 0 {
			t.Fatalf("not Errors: %v", err)
		}
		for _, e := range es {
			if e.Line < 1 || e.Column < 1 || e.Message == "" || e.Offset > len(text) {
				t.Fatalf("a mistake without a position or a message: %+v", e)
			}
		}
	})
}

// FuzzPrint checks that printing a query, annotating it, and converting it to the posting form preserve its meaning,
// and that repeating any of them changes nothing.
func FuzzPrint(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(text)
		if err != nil || q.Form == Update {
			return
		}
		checkLaws(t, "fuzz", q)
	})
}

// FuzzURL checks that a link decodes to the same text, and contains only letters, digits and % after the base URL.
func FuzzURL(f *testing.F) {
	seed(f)
	f.Add("\x00\xff~'()*!")
	f.Fuzz(func(t *testing.T, text string) {
		link := URL(text)
		if got, err := url.PathUnescape(strings.TrimPrefix(link, QueryPage)); err != nil || got != text {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		if strings.ContainsAny(link[len(QueryPage):], "~'()*!|[]{}<> \n\"") {
			t.Fatalf("unsafe: %s", link)
		}
		ReplaceAutoLanguage(text, "de")
	})
}

// TestCommentsAnywhere inserts comments between the tokens of queries. Comments may move, but none may be lost, and
// printing a printed query must still change nothing.
func TestCommentsAnywhere(t *testing.T) {
	queries := seeds(t)
	for _, line := range strings.Split(blazegraphTable, "\n") {
		if strings.HasPrefix(line, "+ ") {
			queries = append(queries, line[2:])
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, query := range queries {
		if q, err := Parse(query); err != nil || q.Form == Update || strings.Contains(query, `\u`) {
			continue
		}
		for _, density := range []int{1, 3, 8} {
			text, n := sprinkle(query, rng, density)
			q, err := Parse(text)
			if err != nil {
				t.Errorf("comments make a difference: %v\n%s", err, text)
				continue
			}
			checkLaws(t, "comments", q)
			printed := q.String()
			for i := range n {
				if !strings.Contains(printed, "#c"+strconv.Itoa(i)+"c") {
					t.Errorf("comment %d is lost:\n%s\n---\n%s", i, text, printed)
					break
				}
			}
		}
	}
}

// sprinkle inserts a comment after about one in density tokens, sometimes on a separate line.
func sprinkle(query string, rng *rand.Rand, density int) (string, int) {
	var b strings.Builder
	l := lexer{text: query}
	last, n := 0, 0
	for t := l.next(); t.kind != tEOF; t = l.next() {
		b.WriteString(query[last:t.start])
		last = int(t.end)
		b.WriteString(query[t.start:t.end])
		if rng.IntN(density) > 0 || t.kind == tName && query[t.colon+1:t.end] == "" || strings.ContainsRune("+-",
			rune(t.kind)) ||
			// :=, numbers with a sign or a dot, and escapes must not be split
			t.kind == tBad || t.kind == tInteger && l.at(l.pos) == '.' {
			continue
		}
		b.WriteString([]string{" #", "\n#"}[rng.IntN(2)] + "c" + strconv.Itoa(n) + "c\n")
		n++
	}
	b.WriteString(query[last:])
	return b.String(), n
}
