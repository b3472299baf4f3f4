package sparql

import (
	"bufio"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

// shared returns the path of a file in the maintainers' reference data, or skips the test.
func shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no reference data (set SPINACHBOT_SHARED): %v", err)
	}
	return path
}

type item struct{ id, query string }

func goldQueries(t testing.TB) []item {
	b, err := os.ReadFile(shared(t, "data/spinach/dev.json"))
	if err != nil {
		t.Fatal(err)
	}
	var xs []struct{ ID, SPARQL string }
	if err := json.Unmarshal(b, &xs); err != nil {
		t.Fatal(err)
	}
	var out []item
	for _, x := range xs {
		out = append(out, item{x.ID, x.SPARQL})
	}
	return out
}

func forumQueries(t testing.TB) []item {
	f, err := os.Open(shared(t, "data/forum/raq_queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 4<<20)
	var out []item
	for s.Scan() {
		var x struct{ ID, Query string }
		if err := json.Unmarshal(s.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, item{x.ID, x.Query})
	}
	return out
}

func TestGoldQueriesParse(t *testing.T) {
	for _, x := range goldQueries(t) {
		if _, err := Parse(x.query); err != nil {
			t.Errorf("%s: %v\n%s", x.id, err, x.query)
		}
	}
}

func TestForumQueries(t *testing.T) {
	ok, all := 0, forumQueries(t)
	for _, x := range all {
		if _, err := Parse(x.query); err != nil {
			t.Logf("%s: %v", x.id, err)
			continue
		}
		ok++
	}
	if share := float64(ok) / float64(len(all)); share < 0.96 {
		t.Errorf("%d of %d parse", ok, len(all))
	}
	t.Logf("%d of %d parse", ok, len(all))
}

func label(id string) string { return "label of " + id }

// TestCorpusLaws checks the laws on real queries; a sample has every third.
func TestCorpusLaws(t *testing.T) {
	for i, x := range append(goldQueries(t), forumQueries(t)...) {
		if i%corpus.Pick(3, 1) != 0 {
			continue
		}
		q, err := Parse(x.query)
		if err != nil {
			continue
		}
		checkLaws(t, x.id, q)
	}
}

// checkLaws checks that printing a query, annotating it, and converting it to the posting form preserve its meaning,
// and that repeating any of them changes nothing.
func checkLaws(t *testing.T, id string, q *Query) {
	t.Helper()
	printed := q.String()
	again, err := Parse(printed)
	if err != nil {
		t.Errorf("%s: printed form does not parse: %v\n%s", id, err, printed)
		return
	}
	if s := again.String(); s != printed {
		t.Errorf("%s: printing is not a fixed point:\n%s\n--- again:\n%s", id, printed, s)
	}
	if !sameMeaning(q, again) {
		t.Errorf("%s: printing changed the meaning:\n%s\n---\n%s", id, q.Text, printed)
	}
	one := Print(q, PrintOptions{OneLine: true})
	if q1, err := Parse(one); err != nil {
		t.Errorf("%s: one-line form does not parse: %v\n%s", id, err, one)
	} else if !sameMeaning(q, q1) {
		t.Errorf("%s: one-line form changed the meaning", id)
	} else if again := Print(q1, PrintOptions{OneLine: true}); again != one {
		t.Errorf("%s: one-line form is not a fixed point:\n%s\n%s", id, one, again)
	}
	if link, err := url.PathUnescape(strings.TrimPrefix(URL(printed), QueryPage)); err != nil || link != printed {
		t.Errorf("%s: the link decodes to another text: %v\n%s", id, err, link)
	}
	a, err := annotate(q.Text, label)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := annotate(a, label); err != nil || a != b {
		t.Errorf("%s: annotating is not a fixed point: %v\n%s\n---\n%s", id, err, a, b)
	}
	f, err := PostingForm(q.Text, label)
	if err != nil {
		t.Errorf("%s: %v\n%s", id, err, q.Text)
		return
	}
	if g, err := PostingForm(f, label); err != nil || g != f {
		t.Errorf("%s: posting form is not a fixed point: %v\n%s\n---\n%s", id, err, f, g)
	}
}
