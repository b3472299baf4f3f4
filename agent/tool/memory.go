package tool

import (
	"context"
	"encoding/json"
	"reflect"
	"regexp"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/cache"
)

// Limits on a [Memory], which takes at most about 128 MB.
const (
	MemoryAge    = 10 * time.Minute // a reply states when its query was run, so a response may be this old
	memoryAnswer = 2_000            // maximum number of responses
	memorySize   = 64 << 10         // approximate maximum size in bytes of a call and its response
	termSize     = 56               // size in bytes of a term without its strings
)

// Memory caches responses from graphs across all steps, tries and questions of a program: searches, pages, labels,
// shapes, and query results with the time at which the query was run. It does not cache failures, or results that
// depend on the current time. It does not cache solved questions either, because the ones that may be shown depend on
// the question being asked. It is safe for concurrent use.
type Memory struct {
	now  func() time.Time
	kept *cache.Cache[memoryKey, memorized]
}

type memoryKey struct {
	graph any // the graph rather than its name, because two graphs may have the same name
	call  string
}

type memorized struct {
	value any
	at    time.Time
}

// NewMemory returns an empty memory that uses the clock now.
func NewMemory(now func() time.Time) *Memory {
	return &Memory{now: now, kept: cache.New[memoryKey, memorized](memoryAnswer, MemoryAge, now)}
}

// Around returns the sources, each cached by the memory. If the memory is nil, it returns them unchanged.
func (m *Memory) Around(ss Sources) Sources {
	if m == nil {
		return ss
	}
	out := ss.keeping(func(s *Source, _ string) keeper {
		if !reflect.ValueOf(s.Graph).Comparable() {
			return remembered{m, s} // the key is s, so other sources do not share the responses
		}
		return remembered{m, s.Graph}
	})
	for i := range out {
		out[i].Examples = ss[i].Examples
	}
	return out
}

// remembered serves calls to a graph from a memory.
type remembered struct {
	memory *Memory
	graph  any
}

// momentary matches the functions that return a different result each time.
var momentary = regexp.MustCompile(`(?i)\b(?:NOW|RAND|UUID|STRUUID)\s*\(`)

func (r remembered) answer(_ context.Context, op string, args json.RawMessage, live func() (any, error),
	_ func(*event.Call) (any, error)) (any, error) {
	key := memoryKey{r.graph, op + " " + string(args)}
	if x, ok := r.memory.kept.Get(key); ok {
		return aged(x.value, r.memory.now().Sub(x.at)), nil
	}
	at := r.memory.now()
	v, err := live()
	if err == nil && len(key.call)+sizeOf(v) <= memorySize && (op != "query" || !ofMoment(args)) {
		r.memory.kept.Put(key, memorized{v, at})
	}
	return v, err
}

// ofMoment reports whether the result of a query, given as a JSON string, depends on when the query is run.
func ofMoment(args json.RawMessage) bool {
	var query string
	return json.Unmarshal(args, &query) != nil || momentary.MatchString(query)
}

// dated stamps a table with the time at which it was requested.
func (r remembered) dated(ask func() (*kg.Table, error)) (*kg.Table, error) {
	return datedBy(r.memory.now, ask)
}

// aged returns a copy of a cached table with its age, or any other value unchanged.
func aged(v any, age time.Duration) any {
	t, ok := v.(*kg.Table)
	if !ok || t == nil {
		return v
	}
	old := *t
	old.Age = age
	return &old
}

// sizeOf returns the approximate size of a value in memory.
func sizeOf(v any) int {
	t, ok := v.(*kg.Table)
	if !ok {
		b, err := json.Marshal(v)
		if err != nil {
			return memorySize + 1
		}
		return len(b)
	}
	n := 0
	if t != nil {
		for _, row := range t.Rows {
			for _, c := range row {
				n += len(c.Value) + len(c.Lang) + len(c.Datatype) + termSize
			}
		}
	}
	return n
}

// age returns a result's age in words for the model. It returns "" for a fresh result.
func age(t *kg.Table) string {
	if t.Age < time.Minute {
		return ""
	}
	return "\n" + say("aged", int(t.Age/time.Minute))
}
