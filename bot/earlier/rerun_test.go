package earlier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/earlier"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

// A query is rerun in the asker's language, and the entities in its result have labels.
func TestRerun(t *testing.T) {
	g, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
	if err != nil {
		t.Fatal(err)
	}
	r := earlier.Rerunner{Source: agent.Wikibase(g)[0], Now: func() time.Time { return time.Unix(7, 0) }}
	a, err := r.Rerun(context.Background(), `SELECT ?c ?cLabel { wd:Q1008 wdt:P36 ?c . SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en" . } }`, "de")
	if err != nil || len(a.Table.Rows) != 1 || a.RanAt.Unix() != 7 || !strings.Contains(a.Ran, `"de,en"`) ||
		a.Labels["Q3768"] == "" {
		t.Errorf("%+v, %v", a, err)
	}
	if a.Endpoint != a.Table.Source {
		t.Errorf("endpoint %q, the result is from %q", a.Endpoint, a.Table.Source)
	}
	if _, err := r.Rerun(context.Background(), "SELECT nonsense", "de"); err == nil {
		t.Error("no error for nonsense")
	}
}

type queries struct {
	agent.Graph
	asked []string
}

func (q *queries) Query(_ context.Context, text string) (*kg.Table, error) {
	q.asked = append(q.asked, text)
	return &kg.Table{Source: "https://query.wikidata.org/sparql"}, nil
}

// Each run sends a different query text, because services cache results by it.
func TestRerunPastCaches(t *testing.T) {
	q, now := &queries{}, time.Unix(7, 0)
	r := earlier.Rerunner{Source: agent.Source{Graph: q}, Now: func() time.Time { now = now.Add(time.Millisecond); return now }}
	for range 2 {
		a, err := r.Rerun(t.Context(), "ASK {}", "")
		if err != nil || a.Endpoint != "https://query.wikidata.org/sparql" || a.Ran != "ASK {}" {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if q.asked[0] == q.asked[1] || !strings.HasPrefix(q.asked[0], "ASK {}\n#") {
		t.Errorf("asked %q", q.asked)
	}
}
