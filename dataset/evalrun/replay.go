package evalrun

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Recording is a finished run that serves as the model and the graph of another run: every item is answered from its
// trajectory, and gold queries from their earlier results. The same code produces the same results without using any
// service. If the code makes different requests, the affected items fail, and meta.jsonl records what differs.
type Recording struct {
	dir  folder
	Info RunInfo
	gold map[string]*goldFile // by query
}

// OpenRecording opens the recording in a run's folder.
func OpenRecording(dir string) (*Recording, error) {
	r := &Recording{dir: folder(dir), gold: map[string]*goldFile{}}
	if found, err := r.dir.readJSON(&r.Info, RunFile); err != nil {
		return nil, err
	} else if !found {
		return nil, fmt.Errorf("%s has no run (there is no %s in it)", dir, RunFile)
	}
	names, err := filepath.Glob(r.dir.path(goldDir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		var g goldFile
		if _, err := r.dir.readJSON(&g, goldDir, filepath.Base(name)); err != nil {
			return nil, err
		}
		r.gold[g.SPARQL] = &g
	}
	return r, nil
}

// Item returns a replay of the given item's last attempt, or nil if the run does not contain the item. The attempt must
// have used a labeler.
func (r *Recording) Item(id string) (*event.Replay, error) {
	events, ok, err := r.dir.events(id)
	if err != nil || !ok {
		return nil, err
	}
	return event.NewReplay(events)
}

// Graph returns a graph with only the recorded results of the gold queries.
func (r *Recording) Graph() agent.Graph { return goldGraph{r: r} }

type goldGraph struct {
	agent.Graph // nil, because a recorded item serves as its own graph, and other items have no model
	r           *Recording
}

// Query answers a gold query from the recording.
func (g goldGraph) Query(ctx context.Context, query string) (*kg.Table, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gold, ok := g.r.gold[query]
	switch {
	case !ok:
		return nil, kg.Errorf(kg.Down, "the recording has no result of this gold query")
	case gold.Error != nil:
		return nil, kg.Errorf(kg.Kind(gold.Error.Kind), "%s",
			strings.TrimPrefix(gold.Error.Message, gold.Error.Kind+": "))
	}
	t := &kg.Table{}
	body := `{"boolean":` + string(gold.Result) + `}`
	if isTable(gold.Result) {
		head, err := json.Marshal(columns(gold.Result))
		if err != nil {
			return nil, err
		}
		body = `{"head":{"vars":` + string(head) + `},"results":{"bindings":` + string(gold.Result) + `}}`
	}
	err := t.UnmarshalJSON([]byte(body))
	t.Source = gold.Endpoint
	return t, err
}

// columns lists the variables bound in any row.
func columns(raw json.RawMessage) []string {
	var rows []map[string]json.RawMessage
	_ = json.Unmarshal(raw, &rows) // written by this package
	names := map[string]bool{}
	for _, row := range rows {
		for name := range row {
			names[name] = true
		}
	}
	return sortedKeys(names)
}
