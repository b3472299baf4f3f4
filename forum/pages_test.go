package forum

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the trees of testdata/pages anew")

// tree prints a page in the format described in testdata/pages/README.md.
func tree(p *Page) string {
	var b strings.Builder
	for _, t := range p.Threads {
		fmt.Fprintf(&b, "== %s == level=%d section=%d anchor=%s", t.Heading, t.Level, t.Section, t.Anchor)
		if t.Resolved {
			b.WriteString(" resolved")
		}
		if t.NoBots {
			b.WriteString(" nobots")
		}
		b.WriteString("\n")
		under := ""
		for _, c := range t.Comments {
			if c.Under != under {
				fmt.Fprintf(&b, "=== %s ===\n", c.Under)
				under = c.Under
			}
			author, at := "-", "-"
			if c.Author != nil {
				author = *c.Author
			}
			if c.Time != nil {
				at = c.Time.Format("2006-01-02T15:04Z")
			}
			fmt.Fprintf(&b, "%d %s %s %s", c.Level, author, at, c.ID)
			if c.Parent != "" {
				b.WriteString(" <- " + c.Parent)
			}
			if c.Answers != c.Parent {
				b.WriteString(" (answers " + c.Answers + ")")
			}
			if len(c.Mentions) > 0 {
				b.WriteString(" mentions " + strings.Join(c.Mentions, ", "))
			}
			b.WriteString(" | " + strings.ReplaceAll(c.Text, "\n", "⏎") + "\n")
			for _, q := range c.Queries {
				b.WriteString("    " + q.Kind + " " + q.Name)
				if q.Salvaged {
					b.WriteString(" salvaged")
				}
				b.WriteString(": " + strings.ReplaceAll(q.SPARQL, "\n", "⏎") + "\n")
			}
		}
	}
	return b.String()
}

func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			page, want := string(a.Files[0].Data), string(a.Files[1].Data)
			got := tree(Parse("Project:Page", page, Options{}))
			if *update {
				a.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("tree of %s (-want +got):\n%s", file, d)
			}
		})
	}
}
