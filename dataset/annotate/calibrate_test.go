package annotate

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

func sharedRoot() string {
	if root := os.Getenv("SPINACHBOT_SHARED"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "..", "shared")
}

// sharedNames reads the names of items and properties from the label tables stored with the shared slice.
func sharedNames(t *testing.T, root string) map[string]Name {
	t.Helper()
	out := map[string]Name{}
	for _, file := range []string{"labels-items.tsv", "labels-properties.tsv"} {
		b, err := os.ReadFile(filepath.Join(root, "data", "slice", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n")[1:] {
			f := strings.Split(line, "\t")
			if len(f) < 4 {
				continue
			}
			n := Name{Label: f[1]}
			for _, a := range strings.Split(f[3], ";") {
				if a = strings.TrimSpace(a); a != "" {
					n.Aliases = append(n.Aliases, a)
				}
			}
			out[f[0][strings.LastIndexByte(f[0], '/')+1:]] = n
		}
	}
	return out
}

// unnamed matches remarks about IDs without names.
var unnamed = regexp.MustCompile(`^[QP][0-9]+(:|$| is)`)

// The experts' questions in the SPINACH dataset mention almost every part of their queries; other items' questions
// leave most parts out.
func TestCompareOnExperts(t *testing.T) {
	root := sharedRoot()
	f, err := os.Open(filepath.Join(root, "data", "spinach", "dev.json"))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err != nil {
		t.Fatal(err)
	}
	names := sharedNames(t, root)
	open := func(query, question string) (n, all int, kinds []string) {
		q, err := sparql.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Compare(q, question, names) {
			if r.Kind == "wording" || unnamed.MatchString(r.Text) {
				continue // not about the query, or about something not named in the tables
			}
			all++
			if !r.Said {
				n++
				kinds = append(kinds, r.Kind)
			}
		}
		return n, all, kinds
	}
	own, other, total := 0, 0, 0
	by := map[string]int{}
	for i := range items {
		n, all, kinds := open(items[i].SPARQL, items[i].Question)
		stranger, _, _ := open(items[i].SPARQL, items[(i+len(items)/2)%len(items)].Question)
		own, other, total = own+n, other+stranger, total+all
		for _, k := range kinds {
			by[k]++
		}
	}
	var kinds []string
	for k := range by {
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b string) int { return by[b] - by[a] })
	for _, k := range kinds {
		t.Logf("%s: %d open", k, by[k])
	}
	t.Logf("%d remarks on %d items: %d open on the experts' questions, %d on others'", total, len(items), own, other)
	if 100*own > 15*total || 5*own > other {
		t.Errorf("of %d remarks, %d are open for the experts' own questions and %d for others': too small a difference",
			total, own, other)
	}
}

// Every query posted on the forum can be compared with a question.
func TestCompareOnForumQueries(t *testing.T) {
	f, err := os.Open(filepath.Join(sharedRoot(), "data", "forum", "raq_queries.jsonl"))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	compared := 0
	for sc.Scan() {
		var line map[string]any
		if err := json.Unmarshal(sc.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		for _, v := range line {
			text, _ := v.(string)
			q, err := sparql.Parse(text)
			if err != nil || q.Form == sparql.Update {
				continue
			}
			Compare(q, "Which people live in Berlin, if any?", testNames)
			compared++
		}
	}
	if compared < 2000 {
		t.Errorf("only %d queries compared", compared)
	}
}
