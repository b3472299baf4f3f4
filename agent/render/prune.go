package render

import (
	"encoding/json"
	"maps"
	"slices"
	"sort"
	"strings"
	"unicode"
)

// Our own limits for deterministic pruning.
const (
	prunedProps       = 25 // number of properties kept
	prunedValues      = 8  // number of values kept for a property that shares no words with the question
	prunedValuesMatch = 25 // number of values kept for a property that shares words with the question
	prunedGroups      = 4  // number of statements kept for each value
)

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// basicProps are the properties that deterministic pruning prefers for every question, since they show what kind of
// thing an item is: instance of, subclass of, part of, has part, facet of, Wikidata property, inverse property.
var basicProps = []string{"P31", "P279", "P361", "P527", "P1269", "P1687", "P1696"}

// PruneByWords prunes a page without a model. It is used if the model's pruning fails. It keeps the properties whose
// label, values or qualifiers share the most words with the question, the basic properties, and then as many others as
// fit, in page order. It is deterministic.
func PruneByWords(whole Page, question string) Page {
	q := words(question)
	type scored struct{ i, score int }
	var order []scored
	for i, p := range whole.props {
		s := 4 * overlap(p.key, q)
		best := 0
		for _, v := range p.values {
			best = max(best, 2*overlap(v.text, q))
			for _, g := range v.groups {
				for _, ql := range g {
					best = max(best, overlap(ql.key, q), overlap(strings.Join(ql.values, " "), q))
				}
			}
		}
		s += best
		if slices.Contains(basicProps, p.id) {
			s++
		}
		order = append(order, scored{i, s})
	}
	sort.SliceStable(order, func(a, b int) bool { return order[a].score > order[b].score })
	order = order[:min(len(order), prunedProps)]
	sort.Slice(order, func(a, b int) bool { return order[a].i < order[b].i })
	var out Page
	for _, o := range order {
		p := whole.props[o.i]
		limit := prunedValues
		if o.score > 1 {
			limit = prunedValuesMatch
		}
		if len(p.values) > limit {
			p.more += len(p.values) - limit
			p.values = mostCommon(p.values, q, limit)
		}
		p.values = slices.Clone(p.values)
		for i, v := range p.values {
			if len(v.groups) > prunedGroups {
				p.values[i].groups = v.groups[:prunedGroups]
			}
		}
		out.props = append(out.props, p)
	}
	return out
}

// mostCommon keeps n values, in page order, preferring those that share words with the question.
func mostCommon(values []pageValue, q []string, n int) []pageValue {
	idx := make([]int, len(values))
	for i := range idx {
		idx[i] = i
	}
	sort.SliceStable(idx, func(a, b int) bool {
		return overlap(values[idx[a]].text, q) > overlap(values[idx[b]].text,
			q)
	})
	idx = idx[:n]
	sort.Ints(idx)
	out := make([]pageValue, n)
	for i, j := range idx {
		out[i] = values[j]
	}
	return out
}

// overlap counts the words in s that occur in the question. Words of more than four letters also match if one is a
// prefix of the other ("governor", "governors").
func overlap(s string, question []string) int {
	n := 0
	for _, w := range words(s) {
		for _, x := range question {
			if w == x && len(w) > 2 || len(w) > 4 && len(x) > 4 && (strings.HasPrefix(w, x) || strings.HasPrefix(x,
				w)) {
				n++
				break
			}
		}
	}
	return n
}

// PruneByAnswer applies the model's answer to the page: it keeps what the answer names. All text comes from the page,
// so the model cannot add anything. ok is false if the answer is not a JSON object or names nothing on the page.
// unknown counts the properties and values in the answer that are not on the page.
func PruneByAnswer(whole Page, answer string) (pruned Page, unknown int, ok bool) {
	m, ok := JSONObject(answer)
	if !ok {
		return Page{}, 0, false
	}
	wanted := byProperty(m)
	found := map[string]bool{}
	for _, p := range whole.props {
		v, key, ok := wanted.find(p.key)
		if !ok {
			continue
		}
		found[key] = true
		kept, strange := p.keep(v)
		unknown += strange
		if len(kept.values) > 0 {
			pruned.props = append(pruned.props, kept)
		}
	}
	unknown += len(m) - len(found)
	return pruned, unknown, len(pruned.props) > 0
}

// properties contains an answer's keys, as written and by ID. If several keys have the same ID, byID contains the last
// one in key order.
type properties struct{ exact, byID map[string]any }

func byProperty(m map[string]any) properties {
	p := properties{exact: m, byID: map[string]any{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		p.byID[propKey(key)] = m[key]
	}
	return p
}

// find looks up a property as written or, failing that, by its ID. name identifies the key that was found.
func (p properties) find(key string) (v any, name string, ok bool) {
	if v, ok = p.exact[key]; ok {
		return v, key, true
	}
	v, ok = p.byID[propKey(key)]
	return v, propKey(key), ok
}

// propKey returns a property's ID if the key contains one, otherwise the key in lower case.
func propKey(key string) string {
	if i := strings.LastIndexByte(key, '('); i >= 0 {
		if id := strings.TrimSuffix(key[i+1:], ")"); ID(id) != "" {
			return ID(id)
		}
	}
	if id := ID(key); id != "" && id == strings.ToUpper(strings.TrimSpace(key)) {
		return id
	}
	return strings.ToLower(Fold(key))
}

// keep applies the model's value for a property. true, null, an empty string and an empty object keep everything; other
// strings, lists and objects keep what they name.
func (p pageProp) keep(v any) (kept pageProp, unknown int) {
	wanted, all := wantedValues(v)
	if all {
		return p, 0
	}
	kept = pageProp{id: p.id, key: p.key}
	used := 0
	for _, val := range p.values {
		w, ok := wanted[valueKey(val.text)]
		if !ok {
			continue
		}
		used++
		kept.values = append(kept.values, val.keep(w))
	}
	kept.more = p.more
	return kept, len(wanted) - used
}

// wantedValues parses the model's value for a property. It returns a map from a value's text to the qualifiers wanted
// for it.
func wantedValues(v any) (wanted map[string]any, all bool) {
	wanted = map[string]any{}
	switch v := v.(type) {
	case nil, bool:
		return nil, true
	case string:
		if v == "" {
			return nil, true
		}
		wanted[valueKey(v)] = nil
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				wanted[valueKey(s)] = nil
			}
		}
	case map[string]any:
		if len(v) == 0 {
			return nil, true
		}
		for k, x := range v {
			wanted[valueKey(k)] = x
		}
	default:
		b, _ := json.Marshal(v) // a number
		wanted[valueKey(string(b))] = nil
	}
	return wanted, false
}

// valueKey returns the ID of an entity value, or the text of any other value.
func valueKey(s string) string {
	s = strings.TrimSuffix(Fold(s), noLabel)
	if i := strings.LastIndexByte(s, '('); i >= 0 && strings.HasSuffix(s, ")") {
		if id := s[i+1 : len(s)-1]; ID(id) == id && id != "" {
			return id
		}
	}
	return s
}

// keep applies the model's selection for one value. It returns the value with the statements and qualifiers that the
// selection names, if any.
func (v pageValue) keep(w any) pageValue {
	out := pageValue{text: v.text}
	m, ok := w.(map[string]any)
	if !ok {
		return out
	}
	list, ok := m["Qualifiers"].([]any)
	if !ok {
		if one, isMap := m["Qualifiers"].(map[string]any); isMap {
			list = []any{one}
		}
	}
	for _, g := range v.groups {
		var best []pageQualifier
		for _, x := range list {
			want, _ := x.(map[string]any)
			if sub := groupSubset(g, want); len(sub) > len(best) {
				best = sub
			}
		}
		if len(best) > 0 {
			out.groups = append(out.groups, best)
		}
	}
	return out
}

// groupSubset returns the qualifiers in g that are named in want. It returns nil if want names a qualifier that g does
// not have with that value, since want then refers to a different statement.
func groupSubset(g []pageQualifier, want map[string]any) []pageQualifier {
	wanted := byProperty(want)
	found := map[string]bool{}
	var out []pageQualifier
	for _, q := range g {
		w, name, ok := wanted.find(q.key)
		if !ok {
			continue
		}
		found[name] = true
		texts, all := wantedValues(w)
		sub := pageQualifier{id: q.id, key: q.key}
		for _, v := range q.values {
			if _, ok := texts[valueKey(v)]; ok || all {
				sub.values = append(sub.values, v)
			}
		}
		if len(sub.values) == 0 {
			return nil
		}
		out = append(out, sub)
	}
	if len(found) < len(want) {
		return nil
	}
	return out
}

// JSONObject returns the first JSON object in a text, ignoring code fences and words around it.
func JSONObject(text string) (map[string]any, bool) {
	for i := strings.IndexByte(text, '{'); i >= 0; {
		var m map[string]any
		if json.NewDecoder(strings.NewReader(text[i:])).Decode(&m) == nil {
			return m, true
		}
		n := strings.IndexByte(text[i+1:], '{')
		if n < 0 || i > 4096 {
			break
		}
		i += n + 1
	}
	return nil, false
}
