package ask

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Limits on the results of editor queries that are kept in memory.
const (
	ranTime  = time.Hour
	ranBytes = 64 << 20 // total size of the results; the most recent result is kept regardless of size
	termSize = 96       // approximate size of a value in bytes, without its text
)

// ran keeps the results of queries run in the editor. They stay in memory for a while, so that browsers can
// request their views, rows and files.
type ran struct {
	now func() time.Time

	mu   sync.Mutex
	list []ranQuery // least recently requested first
	size int
}

// ranQuery is a query with its result.
type ranQuery struct {
	id    string
	at    time.Time // time of the last request
	size  int
	ms    int
	event *agent.Event
}

// keep adds a result and returns its ID. It drops old results.
func (a *ran) keep(e *agent.Event, ms int) string {
	q := ranQuery{id: newID(), at: a.now(), size: sizeOf(e.Table), ms: ms, event: e}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list, a.size = append(a.list, q), a.size+q.size
	a.drop()
	return q.id
}

// drop removes results that have not been requested for a while. If the total size is still too large, it removes the
// least recently requested results.
func (a *ran) drop() {
	n := 0
	for ; n < len(a.list)-1; n++ {
		if a.size <= ranBytes && a.now().Sub(a.list[n].at) < ranTime {
			break
		}
		a.size -= a.list[n].size
	}
	a.list = slices.Delete(a.list, 0, n)
}

// get returns a result if it is still kept.
func (a *ran) get(id string) (q ranQuery, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(q ranQuery) bool { return q.id == id })
	if i < 0 {
		return ranQuery{}, false
	}
	q = a.list[i]
	q.at = a.now()
	a.list = append(slices.Delete(a.list, i, i+1), q)
	return q, true
}

func sizeOf(t *kg.Table) int {
	n := 0
	for _, row := range t.Rows {
		for _, term := range row {
			n += termSize + len(term.Value)
		}
	}
	return n
}

// stored is a result that pages show: the result of an answer, or of a query run in the editor.
type stored struct {
	*agent.Event        // an event with a table
	base         string // URL of the page with the result; the URLs of its parts start with it
	section      string // section of the pages
	ms           int    // run time of the query in milliseconds; 0 for an answer
}

// find returns the result that a request refers to.
type find func(*http.Request) (*stored, error)

// ofQuestion finds the result of the answer to the given question.
func (s *Server) ofQuestion(r *http.Request) (*stored, error) {
	id := r.PathValue("id")
	events, err := s.asked.events(id)
	if err != nil {
		return nil, err
	}
	f := final(events)
	if f == nil || f.Table == nil {
		return nil, refuse(http.StatusNotFound, "ask.noresult")
	}
	return &stored{Event: f, base: "/a/" + id, section: "ask"}, nil
}

// ofEditor finds the result of a query run in the editor.
func (s *Server) ofEditor(r *http.Request) (*stored, error) {
	q, ok := s.ran.get(r.PathValue("id"))
	if !ok {
		return nil, refuse(http.StatusNotFound, "editor.gone")
	}
	return q.stored(), nil
}

func (q ranQuery) stored() *stored {
	return &stored{Event: q.event, base: "/editor/ran/" + q.id, section: "editor", ms: q.ms}
}

// ranPage shows the editor again, with a query that was run in it and some rows of the result.
func (s *Server) ranPage(w http.ResponseWriter, r *http.Request) error {
	st, err := s.ofEditor(r)
	if err != nil {
		return err
	}
	s.showEditor(w, r, http.StatusOK, &editorData{Query: st.SPARQL, Graph: st.KG, Result: s.view(r, st)})
	return nil
}
