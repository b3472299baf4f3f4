package sparql

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// shared returns the path of a file of the maintainers' reference data, or skips the test.
func shared(t testing.TB, name string) string {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(root, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
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
