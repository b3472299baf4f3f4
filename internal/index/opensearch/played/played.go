// Package played implements a fake OpenSearch server for tests.
package played

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Server is a minimal OpenSearch server. It stores documents and aliases. It evaluates only the part of the query
// language that internal/index/opensearch uses, as defined in OpenSearch's documentation, and rejects everything else.
type Server struct {
	mu      sync.Mutex
	Indices map[string][]map[string]any
	Alias   map[string]string
	// Broken, if not nil, may handle a request instead of the server, and reports whether it did.
	Broken func(w http.ResponseWriter, r *http.Request) bool
	Login  string // user:password that requests must contain; no login required if ""
}

// New returns a server with no documents.
func New() *Server {
	return &Server{Indices: map[string][]map[string]any{}, Alias: map[string]string{}}
}

func (p *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Broken != nil && p.Broken(w, r) {
		return
	}
	if user, password, _ := r.BasicAuth(); p.Login != "" && user+":"+password != p.Login {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, "Unauthorized")
		return
	}
	body, _ := io.ReadAll(r.Body)
	p.answer(w, r, body)
}

func (p *Server) answer(w http.ResponseWriter, r *http.Request, body []byte) {
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
		if json.Unmarshal(body, &m) != nil || m.Mappings.Properties["words"] == nil || p.Indices[path[0]] != nil {
			fail(400, "resource_already_exists_exception")
			return
		}
		p.Indices[path[0]] = []map[string]any{}
	case r.Method == http.MethodDelete:
		delete(p.Indices, path[0])
	case len(path) == 2 && path[1] == "_bulk":
		if !p.bulk(path[0], body) {
			fail(400, "malformed")
			return
		}
		fmt.Fprint(w, `{"errors":false}`)
		return
	case len(path) == 2 && path[1] == "_refresh":
	case path[0] == "_alias":
		if p.Alias[path[1]] == "" {
			fail(404, "alias [x] missing")
			return
		}
		fmt.Fprintf(w, `{%q:{"aliases":{%q:{}}}}`, p.Alias[path[1]], path[1])
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
				p.Alias[x["alias"]] = x["index"]
			}
			if x := act["remove_index"]; x != nil {
				delete(p.Indices, x["index"])
			}
		}
	case len(path) == 2 && path[1] == "_search":
		docs, ok := p.Indices[p.Alias[path[0]]]
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

// bulk adds the documents in a bulk request.
func (p *Server) bulk(index string, body []byte) bool {
	for s := bufio.NewScanner(bytes.NewReader(body)); s.Scan(); {
		if s.Text() == `{"index":{}}` && s.Scan() {
			var d map[string]any
			if json.Unmarshal(s.Bytes(), &d) != nil {
				return false
			}
			p.Indices[index] = append(p.Indices[index], d)
		}
	}
	return true
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

// eval reports whether a document matches, and returns its score. In a filter context, the score is not used.
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
