package agent

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/llm"
)

const recordedLog = `[{"question":"Who?","engine":"x","action_counter":2,"actions":[
	{"thought":" I look. ","action_name":"get_wikidata_entry","action_argument":"Q42","observation":"{\"instance of (P31)\": \"human (Q5)\"}"},
	{"thought":"I am done.","action_name":"stop","action_argument":"","observation":null}],
	"generated_sparqls":[{"sparql":"SELECT 1","execution_result":[],"execution_status":"ok"},{"sparql":"SELECT 2","execution_result":[],"execution_status":"ok"}],
	"final_sparql":null}]`

// Each kind of call is answered from the record. Once the record is used up, the model stops.
func TestRecordedModel(t *testing.T) {
	runs, err := ReadRecordedRuns(strings.NewReader(recordedLog))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	m := NewRecordedModel(runs[0])
	for _, c := range []struct{ purpose, want string }{
		{"language", "English"},
		{"act", "Thought: I look.\nAction: get_wikidata_entry(Q42)"},
		{"prune", `{"instance of (P31)": "human (Q5)"}`},
		{"act", "Thought: I am done.\nAction: stop()"},
		{"prune", ""},
		{"act", "Thought: The recorded run ends here.\nAction: stop(no answer: the recorded run ends here)"},
		{"extract", "SELECT 2"},
		{"report", ""},
	} {
		resp, err := m.Complete(t.Context(), llm.Request{Purpose: c.purpose})
		if err != nil || resp.Text() != c.want {
			t.Errorf("%s: %q, %v; want %q", c.purpose, resp.Text(), err, c.want)
		}
	}
	if _, err := m.Complete(t.Context(), llm.Request{Purpose: "triage"}); err == nil {
		t.Error("a record answered a kind of call that no run makes")
	}
	for _, bad := range []string{"", "{}", `[{"actions":[]}]`} {
		if _, err := ReadRecordedRuns(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was read as a log", bad)
		}
	}
}
