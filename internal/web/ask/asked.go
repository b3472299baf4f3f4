package ask

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// asked keeps the questions in progress and finds the files of all questions.
type asked struct {
	dir  string
	most int                // maximum number of finished runs in memory
	read singleflight.Group // files being read, by question

	mu    sync.Mutex // never held while a file is read, since every event for every browser needs it
	runs  map[string]worked
	cache []entry // finished runs in the order they were last viewed
}

// worked is a run in progress.
type worked struct {
	*ask.Run
	person *person // the reader who decides on its turns, or nil
}

// entry is a finished run in memory.
type entry struct {
	id     string
	events []agent.Event
}

// cached is the minimum number of finished runs kept in memory. If more runs may be in progress at once, that many are
// kept, so browsers can follow runs to the end without causing file reads.
const cached = 20

// name returns the name under which the given question's trajectory is stored.
func name(id string) string { return "web-" + id }

var validID = regexp.MustCompile(`^[a-z2-7]{16}$`)

func (a *asked) started(id string, run *ask.Run, p *person) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.runs[id] = worked{run, p}
}

// ended removes a finished run from the runs in progress. Its events stay in memory for browsers that are about to
// request them. They are also in the file, unless it could not be written.
func (a *asked) ended(id string, run *ask.Run) {
	events := run.Told()
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.runs, id)
	a.keep(entry{id, events})
}

// keep adds a finished run to the end of the cache, or moves it there.
func (a *asked) keep(e entry) {
	a.cache = slices.DeleteFunc(a.cache, func(old entry) bool { return old.id == e.id })
	if a.cache = append(a.cache, e); len(a.cache) > a.most {
		a.cache = slices.Delete(a.cache, 0, 1)
	}
}

// run returns the run in progress for the given question, or nil if there is none.
func (a *asked) run(id string) *ask.Run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[id].Run
}

// person returns the reader who decides on the turns of the given question, or nil if no reader does.
func (a *asked) person(id string) *person {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs[id].person
}

// reviews returns the number of runs under review, and how many of them belong to a client.
func (a *asked) reviews(client string) (all, own int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.runs {
		if w.person == nil {
			continue
		}
		if all++; w.person.client == client {
			own++
		}
	}
	return all, own
}

var errUnknown = refuse(http.StatusNotFound, "ask.unknown")

func (a *asked) path(id string) (string, error) {
	if !validID.MatchString(id) {
		return "", errUnknown
	}
	found, err := filepath.Glob(filepath.Join(a.dir, name(id)+"-*.jsonl"))
	if err != nil || len(found) == 0 {
		return "", errUnknown
	}
	return found[0], nil
}

// events returns the given question's events so far. The caller must not modify them.
func (a *asked) events(id string) ([]agent.Event, error) {
	if events, ok := a.inMemory(id); ok {
		return events, nil
	}
	events, err, _ := a.read.Do(id, func() (any, error) { return a.fromFile(id) })
	if err != nil {
		return nil, err
	}
	return events.([]agent.Event), nil
}

// inMemory returns the events of a run that is in progress or was viewed recently.
func (a *asked) inMemory(id string) ([]agent.Event, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if run, ok := a.runs[id]; ok {
		return run.Told(), true
	}
	i := slices.IndexFunc(a.cache, func(e entry) bool { return e.id == id })
	if i < 0 {
		return nil, false
	}
	e := a.cache[i]
	a.keep(e)
	return e.events, true
}

func (a *asked) fromFile(id string) ([]agent.Event, error) {
	path, err := a.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errUnknown
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	events, err := event.Read(f)
	if err != nil && !errors.Is(err, event.ErrTorn) || len(events) == 0 {
		return nil, errors.Join(err, errors.New("reading the trajectory of a question failed"))
	}
	if events[len(events)-1].Event == "end" { // otherwise, the run may be continued
		a.mu.Lock()
		defer a.mu.Unlock()
		a.keep(entry{id, events})
	}
	return events, nil
}

// forget drops the cached events of a question that continues.
func (a *asked) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cache = slices.DeleteFunc(a.cache, func(e entry) bool { return e.id == id })
}

// choiceOf returns the choice made for the given run.
func choiceOf(events []agent.Event) Choice {
	var c Choice
	if len(events) == 0 {
		return c
	}
	c = Choice{Preset: events[0].Preset, Policy: events[0].Policy}
	if c.Policy == reviewed {
		c.Policy = ""
	}
	var names []string
	for _, g := range events[0].Graphs {
		names = append(names, g.Explain.Name)
	}
	c.Graph = strings.Join(names, ",")
	return c
}

// howOf returns the preset, policy and graph with which a question is answered.
func howOf(start agent.Event) []string {
	c := choiceOf([]agent.Event{start})
	return slices.DeleteFunc([]string{c.Preset, c.Policy, c.Graph}, func(s string) bool { return s == "" })
}

// begun waits briefly for a run's first event, which contains the question.
func begun(ctx context.Context, run *ask.Run) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for range run.Batches(ctx, 0) {
		return
	}
}

// reviewed is the policy name of a run in which a user decides on turns or changed a step.
const reviewed = "review"
