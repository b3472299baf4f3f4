package opensearch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// played is a small OpenSearch: it keeps documents, aliases, and evaluates the part of the query language that is used
// here as its documentation defines it; everything else it refuses.
type played struct {
	mu      sync.Mutex
	indices map[string][]map[string]any
	alias   map[string]string
	broken  func(w http.ResponseWriter, r *http.Request) bool
}

func play(t *testing.T) (*played, *httptest.Server) {
	p := &played{indices: map[string][]map[string]any{}, alias: map[string]string{}}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return p, s
}

func (p *played) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil && p.broken(w, r) {
		return
	}
	body, _ := io.ReadAll(r.Body)
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	fail := func(status int, why string) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"type":"x","reason":%q},"status":%d}`, why, status)
	}
	switch {
	case r.Method == http.MethodPut && len(path) == 1:
		var m struct {
			Mappings struct{ Properties map[string]any }
		}
		if json.Unmarshal(body, &m) != nil || m.Mappings.Properties["words"] == nil || p.indices[path[0]] != nil {
			fail(400, "resource_already_exists_exception")
			return
		}
		p.indices[path[0]] = []map[string]any{}
	case r.Method == http.MethodDelete:
		delete(p.indices, path[0])
	case len(path) == 2 && path[1] == "_bulk":
		for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
			if s.Text() == `{"index":{}}` && s.Scan() {
				var d map[string]any
				if json.Unmarshal(s.Bytes(), &d) != nil {
					fail(400, "malformed")
					return
				}
				p.indices[path[0]] = append(p.indices[path[0]], d)
			}
		}
		fmt.Fprint(w, `{"errors":false}`)
		return
	case len(path) == 2 && path[1] == "_refresh":
	case path[0] == "_alias":
		if p.alias[path[1]] == "" {
			fail(404, "alias [x] missing")
			return
		}
		fmt.Fprintf(w, `{%q:{"aliases":{%q:{}}}}`, p.alias[path[1]], path[1])
		return
	case path[0] == "_aliases":
		var a struct {
			Actions []map[string]map[string]string
		}
		if json.Unmarshal(body, &a) != nil {
			fail(400, "malformed")
			return
		}
		for _, act := range a.Actions {
			if x := act["add"]; x != nil {
				p.alias[x["alias"]] = x["index"]
			}
			if x := act["remove_index"]; x != nil {
				delete(p.indices, x["index"])
			}
		}
	case len(path) == 2 && path[1] == "_search":
		docs, ok := p.indices[p.alias[path[0]]]
		if !ok {
			fail(404, "no such index ["+path[0]+"]")
			return
		}
		out, err := search(docs, body)
		if err != nil {
			fail(400, err.Error())
			return
		}
		w.Write(out)
		return
	default:
		fail(405, "not played: "+r.Method+" "+r.URL.Path)
		return
	}
	fmt.Fprint(w, `{"acknowledged":true}`)
}

func search(docs []map[string]any, body []byte) ([]byte, error) {
	var q struct {
		From, Size int
		Query      map[string]any
		Collapse   struct{ Field string }
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	type hit struct {
		Score  float64        `json:"_score"`
		Source map[string]any `json:"_source"`
	}
	var hits []hit
	for _, d := range docs {
		ok, score, err := eval(d, q.Query)
		if err != nil {
			return nil, err
		}
		if ok {
			hits = append(hits, hit{score, d})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Source["score"].(float64), a.Source["score"].(float64)),
			strings.Compare(a.Source["iri"].(string), b.Source["iri"].(string)))
	})
	if q.Collapse.Field != "" {
		seen := map[any]bool{}
		hits = slices.DeleteFunc(hits, func(h hit) bool {
			v := h.Source[q.Collapse.Field]
			old := seen[v]
			seen[v] = true
			return old
		})
	}
	hits = hits[min(q.From, len(hits)):min(q.From+q.Size, len(hits))]
	return json.Marshal(map[string]any{"timed_out": false, "hits": map[string]any{"hits": hits}})
}

// eval says whether a document matches, and its score. In filter context the score is not used.
func eval(d map[string]any, q map[string]any) (ok bool, score float64, err error) {
	for kind, raw := range q {
		arg, _ := raw.(map[string]any)
		switch kind {
		case "constant_score":
			ok, _, err := eval(d, arg["filter"].(map[string]any))
			return ok, arg["boost"].(float64), err
		case "bool":
			return evalBool(d, arg)
		}
		for field, v := range arg {
			var values []any
			if l, isList := d[field].([]any); isList {
				values = l
			} else {
				values = []any{d[field]}
			}
			match := func(f func(have string) bool) (bool, float64, error) {
				return slices.ContainsFunc(values, func(x any) bool { s, isText := x.(string); return isText && f(s) }), 1, nil
			}
			switch kind {
			case "term":
				return slices.Contains(values, v), 1, nil
			case "terms":
				return slices.ContainsFunc(v.([]any), func(x any) bool { return slices.Contains(values, x) }), 1, nil
			case "prefix":
				return match(func(have string) bool { return strings.HasPrefix(have, v.(string)) })
			case "fuzzy":
				o := v.(map[string]any)
				if o["fuzziness"].(float64) != 1 || o["transpositions"] != true {
					return false, 0, errors.New("not played: this fuzziness")
				}
				return match(func(have string) bool { return oneEdit([]rune(o["value"].(string)), []rune(have)) })
			}
		}
		return false, 0, fmt.Errorf("unknown query [%s]", kind)
	}
	return false, 0, errors.New("no query")
}

func evalBool(d map[string]any, arg map[string]any) (bool, float64, error) {
	sum, matched := 0.0, 0
	clauses := func(name string, f func(ok bool, score float64) bool) (bool, error) {
		list, _ := arg[name].([]any)
		for _, c := range list {
			ok, s, err := eval(d, c.(map[string]any))
			if err != nil || !f(ok, s) {
				return false, err
			}
		}
		return true, nil
	}
	if ok, err := clauses("filter", func(ok bool, _ float64) bool { return ok }); !ok {
		return false, 0, err
	}
	if _, err := clauses("should", func(ok bool, s float64) bool {
		if ok {
			sum += s
			matched++
		}
		return true
	}); err != nil {
		return false, 0, err
	}
	least, _ := arg["minimum_should_match"].(float64)
	return matched >= int(least), sum, nil
}

// oneEdit reports whether the optimal string alignment distance is at most one.
func oneEdit(a, b []rune) bool {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			default:
				c := 1
				if a[i-1] == b[j-1] {
					c = 0
				}
				d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+c)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					d[i][j] = min(d[i][j], d[i-2][j-2]+1)
				}
			}
		}
	}
	return d[len(a)][len(b)] <= 1
}

var entries = []lookup.Entry{
	{IRI: "q:einstein", Label: "Albert Einstein", Language: "en", Aliases: []string{"Einstein", "A. Einstein"},
		Infos: []string{"physicist"}, Score: 300, Uses: 300},
	{IRI: "q:einstein", Label: "Альберт Эйнштейн", Language: "ru", Score: 300, Uses: 300},
	{IRI: "q:albert", Label: "Albert", Score: 20, Uses: -1},
	{IRI: "q:prince", Label: "Prince Albert", Score: 900, Uses: 900},
	{IRI: "q:albertville", Label: "Albertville", Score: 80},
	{IRI: "q:eastman", Label: "Eastman", Score: 1000},
	{IRI: "q:college", Label: "Albert Einstein College of Medicine", Score: 40},
	{IRI: "q:duck", Label: "Duck Soup", Score: 3}, {IRI: "q:duckpainting", Label: "Duck", Score: 500, Noise: true},
	{IRI: "q:sao", Label: "São Tomé", Score: 10},
	{IRI: "p:imdb", Type: lookup.Property, Label: "IMDb ID", Score: 70, External: true},
	{IRI: "p:director", Type: lookup.Property, Label: "director", Aliases: []string{"directed by"}, Score: 400},
}

func rows(add func(lookup.Entry) error) error {
	for _, e := range entries {
		if err := add(e); err != nil {
			return err
		}
	}
	return nil
}

func client(t *testing.T, s *httptest.Server) *Client {
	t.Helper()
	c, err := New(s.URL, "labels", s.Client().Transport)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAgreesWithMemory: the server finds what the index in memory finds, in the same order and with the same matches.
func TestAgreesWithMemory(t *testing.T) {
	_, s := play(t)
	c, ctx := client(t, s), context.Background()
	if err := c.Create(ctx, "labels-1", rows); err != nil {
		t.Fatal(err)
	}
	m := lookup.NewMemory(entries)
	for _, q := range []lookup.Query{
		{Text: "Albert E"}, {Text: "albert"}, {Text: "EINSTEIN"}, {Text: "einstein albert"}, {Text: "sao tome"},
		{Text: "Albrt Einstein"}, {Text: "Eaastman"},
		{Text: "Эйнштейн", Language: "en"}, {Text: "duc"}, {Text: "duck"}, {Text: "duc",
			External: true}, {Text: "imdb"}, {Text: "imdb id"},
		{Text: "d", Type: lookup.Property}, {Text: "albert", Among: []string{"q:college", "q:albert"}}, {Text: "albert",
			Among: []string{}},
		{Text: "albert", Offset: 2, Limit: 2}, {Text: "albert",
			Limit: 1}, {Text: " "}, {Text: "xyzzy"}, {Text: "quick brown \" fox } of"},
	} {
		want, err := m.Search(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Search(ctx, q)
		if err != nil {
			t.Fatal(q, err)
		}
		if show(got) != show(want) {
			t.Errorf("%+v:\n got %s\nwant %s", q, show(got), show(want))
		}
	}
	if e, ok, err := c.Get(ctx, "q:einstein", "ru"); err != nil || !ok || e.Label != "Альберт Эйнштейн" {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	if e, ok, err := c.Get(ctx, "q:einstein", "fi"); err != nil || !ok || e.Label == "" {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	if _, ok, err := c.Get(ctx, "q:nobody", ""); ok || err != nil {
		t.Error(ok, err)
	}
}

func show(p lookup.Page) string {
	var out []string
	for _, h := range p.Hits {
		out = append(out, fmt.Sprintf("%s %q %q %s %v", h.IRI, h.Label, h.Name, h.Match, h.Uses))
	}
	return fmt.Sprint(strings.Join(out, "; "), " more ", p.More)
}

func TestRebuilt(t *testing.T) {
	p, s := play(t)
	c, ctx := client(t, s), context.Background()
	for i := range 2 {
		if err := c.Create(ctx, fmt.Sprintf("labels-%d", i), rows); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.indices) != 1 || p.alias["labels"] != "labels-1" {
		t.Errorf("indexes %d, alias %v", len(p.indices), p.alias)
	}
	wrong := errors.New("wrong line")
	if err := c.Create(ctx, "labels-2", func(func(lookup.Entry) error) error { return wrong }); !errors.Is(err, wrong) ||
		len(p.indices) != 1 || p.alias["labels"] != "labels-1" {
		t.Errorf("%v, %d indexes, alias %v", err, len(p.indices), p.alias)
	}
}

func TestFailures(t *testing.T) {
	p, s := play(t)
	c, ctx := client(t, s), context.Background()
	if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(),
		"status 404: no such index [labels]") {
		t.Errorf("no index: %v", err)
	}
	for _, q := range []lookup.Query{{Text: "a", Limit: -1}, {Text: "a", Limit: 2000}, {Text: "a", Among: make([]string,
		MaxAmong+1)}} {
		if _, err := c.Search(ctx, q); !errors.Is(err, lookup.ErrQuery) {
			t.Errorf("got %v", err)
		}
	}
	for name, b := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"HTML": {func(w http.ResponseWriter) { fmt.Fprint(w, "<html>proxy</html>") },
			"is this the address of OpenSearch?"},
		"busy": {func(w http.ResponseWriter) { w.WriteHeader(429); fmt.Fprint(w, `{"error":"too many"}`) },
			"status 429: \"too many\""},
		"elsewhere": {func(w http.ResponseWriter) { w.Header().Set("Location", "http://example.org/"); w.WriteHeader(302) },
			"status 302"},
		"cut": {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99"); fmt.Fprint(w, "{") },
			"broke off"},
		"slow": {func(w http.ResponseWriter) { fmt.Fprint(w, `{"timed_out":true}`) }, "took too long"},
	} {
		p.broken = func(w http.ResponseWriter, _ *http.Request) bool { b.answer(w); return true }
		if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(), b.want) {
			t.Errorf("%s: got %v, want %q", name, err, b.want)
		}
	}
	s.Close()
	if _, err := c.Search(ctx, lookup.Query{Text: "a"}); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("closed: %v", err)
	}
	for _, a := range [][2]string{{"ftp://x", "a"}, {"http://u:p@x", "a"}, {"http://x", "A"}, {"http://x", ""},
		{"http://x?k=1", "a"}} {
		if _, err := New(a[0], a[1], nil); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("New(%q, %q): %v", a[0], a[1], err)
		}
	}
}
