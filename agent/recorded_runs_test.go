package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// The recorded runs are SPINACH's released QALD-10 log: 387 questions with GPT-4o's thoughts and actions and Wikidata's observations.

type recordedRun struct {
	Question   string           `json:"question"`
	Actions    []recordedAction `json:"actions"`
	Generated  []recordedQuery  `json:"generated_sparqls"`
	FinalQuery *recordedQuery   `json:"final_sparql"`
}

type recordedAction struct {
	Thought     string  `json:"thought"`
	Name        string  `json:"action_name"`
	Argument    string  `json:"action_argument"`
	Observation *string `json:"observation"`
}

type recordedQuery struct {
	SPARQL string          `json:"sparql"`
	Result json.RawMessage `json:"execution_result"`
	Status string          `json:"execution_status"`
}

// outcome gives what the endpoint answered.
func (q recordedQuery) outcome() (*kg.Table, error) {
	switch q.Status {
	case "syntax_error":
		return nil, kg.Errorf(kg.SyntaxError, "recorded syntax error")
	case "timed_out":
		return nil, kg.Errorf(kg.Timeout, "recorded timeout")
	case "too_large":
		return nil, kg.Errorf(kg.TooLarge, "recorded too large")
	case "other_error":
		return nil, kg.Errorf(kg.QueryFailed, "recorded error")
	}
	if s := string(q.Result); s == "true" || s == "false" {
		return &kg.Table{Ask: true, Boolean: s == "true", Source: "record"}, nil
	}
	var rows []map[string]json.RawMessage
	if json.Unmarshal(q.Result, &rows) != nil || len(rows) == 0 {
		return &kg.Table{Vars: []string{"x"}, Source: "record"}, nil
	}
	t := &kg.Table{}
	body := `{"head":{"vars":` + mustJSON(columnsOf(q.SPARQL, q.Result)) + `},"results":{"bindings":` + string(q.Result) + `}}`
	if err := t.UnmarshalJSON([]byte(body)); err != nil {
		return nil, err
	}
	t.Source = "record"
	return t, nil
}

// columnsOf lists the variables of the bindings in the order in which they first stand in them, as pandas does.
func columnsOf(_ string, bindings json.RawMessage) []string {
	var out []string
	seen := map[string]bool{}
	var rows []json.RawMessage
	_ = json.Unmarshal(bindings, &rows)
	for _, row := range rows {
		dec := json.NewDecoder(bytes.NewReader(row))
		_, _ = dec.Token()
		for dec.More() {
			k, _ := dec.Token()
			var skip json.RawMessage
			_ = dec.Decode(&skip)
			if name := k.(string); !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

func mustJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// recordPlayer is model and graph of one recorded run: the model is answered by position, the graph from what was observed at that position.
type recordPlayer struct {
	run recordedRun
	pos int // actions given out
}

var errRecordEnd = errors.New("the record ends here")

func (p *recordPlayer) Complete(_ context.Context, req llm.Request) (*llm.Response, error) {
	text := ""
	switch taskOf(req) {
	case "act":
		if p.pos == len(p.run.Actions) {
			return nil, errRecordEnd
		}
		a := p.run.Actions[p.pos]
		p.pos++
		text = "Thought: " + strings.TrimSpace(a.Thought) + "\nAction: " + a.Name + "(" + a.Argument + ")"
	case "prune":
		text = p.observed()
	case "extract":
		text = "NONE"
	}
	return &llm.Response{Choices: []llm.Choice{{Content: text, FinishReason: "stop"}}, Usage: llm.Usage{Calls: 1}}, nil
}

// observed is what the record observed at the present position.
func (p *recordPlayer) observed() string {
	if o := p.run.Actions[p.pos-1].Observation; o != nil {
		return *o
	}
	return ""
}

func (p *recordPlayer) Search(_ context.Context, q kg.SearchQuery) (*kg.SearchResult, error) {
	res := &kg.SearchResult{}
	for _, h := range parseHits(p.observed()) {
		if h.Type == q.Type {
			res.Hits = append(res.Hits, h)
		}
	}
	return res, nil
}

func (p *recordPlayer) Entity(_ context.Context, id, _ string) (*kg.Entity, error) {
	return parseEntity(id, p.observed())
}

func (p *recordPlayer) Examples(_ context.Context, _, _ string) ([]kg.Example, error) {
	_, list := parseExamples(p.observed())
	return list, nil
}

// Query answers with the result of the query executed last at or before the present position.
func (p *recordPlayer) Query(context.Context, string) (*kg.Table, error) {
	for i := p.pos - 1; i >= 0; i-- {
		if a := p.run.Actions[i]; a.Name == actExecute {
			for _, g := range p.run.Generated {
				if fold(g.SPARQL) == fold(a.Argument) {
					return g.outcome()
				}
			}
			return &kg.Table{Vars: []string{"x"}, Source: "record"}, nil
		}
	}
	return nil, kg.Errorf(kg.QueryFailed, "no query in the record")
}

// parseHits reads the lines of a recorded search.
func parseHits(text string) []kg.Hit {
	var out []kg.Hit
	for line := range strings.SplitSeq(text, "\n") {
		line, dtype, isProp := strings.Cut(line, "\tData Type: ")
		var id string
		at := -1
		for i := range line { // the first " (Q42)" in the line
			if strings.HasPrefix(line[i:], " (") {
				if end := strings.IndexByte(line[i:], ')'); end > 2 && rdf.ValidID(line[i+2:i+end]) {
					id, at = line[i+2:i+end], i
					break
				}
			}
		}
		if at < 0 {
			continue
		}
		h := kg.Hit{ID: id, Type: kg.Item, Label: line[:at], Description: strings.TrimPrefix(strings.TrimPrefix(line[at+len(id)+3:], ":"), " ")}
		if isProp {
			h.Type = kg.Property
			h.Datatype, _, _ = strings.Cut(dtype, " (")
		}
		out = append(out, h)
	}
	return out
}

// parseExamples reads the lines of recorded property examples.
func parseExamples(text string) (property string, out []kg.Example) {
	for line := range strings.SplitSeq(text, "\n") {
		left, value, ok := strings.Cut(line, " --> ")
		subject, prop, ok2 := strings.Cut(left, " -- ")
		if ok && ok2 {
			property = prop
			out = append(out, kg.Example{Subject: kg.PropertyRef{ID: subject}, Value: kg.Value{Term: rdf.String(value)}})
		}
	}
	return property, out
}

// parseEntity builds an entity whose page is a recorded one: every value a text.
func parseEntity(id, text string) (*kg.Entity, error) {
	e := &kg.Entity{ID: id, Type: kg.Item}
	if text == "" {
		return e, nil
	}
	ms, err := orderedObject([]byte(text))
	if err != nil {
		return nil, kg.Errorf(kg.Down, "%v", err)
	}
	for _, m := range ms {
		p := kg.PropertyStatements{Property: splitKey(m.key)}
		raw := m.value.(json.RawMessage)
		var one string
		var list []json.RawMessage
		switch {
		case json.Unmarshal(raw, &one) == nil:
			p.Statements = append(p.Statements, textStatement(one))
		case json.Unmarshal(raw, &list) == nil:
			for _, x := range list {
				if json.Unmarshal(x, &one) == nil {
					p.Statements = append(p.Statements, textStatement(one))
				}
			}
		default:
			values, err := orderedObject(raw)
			if err != nil {
				return nil, kg.Errorf(kg.Down, "%v", err)
			}
			for _, v := range values {
				p.Statements = append(p.Statements, qualifiedStatements(v.key, v.value.(json.RawMessage))...)
			}
		}
		e.Claims = append(e.Claims, p)
	}
	return e, nil
}

func textStatement(s string) kg.Statement { return kg.Statement{Value: kg.Value{Term: rdf.String(s)}} }

func qualifiedStatements(value string, raw json.RawMessage) []kg.Statement {
	var groups struct{ Qualifiers []json.RawMessage }
	if json.Unmarshal(raw, &groups) != nil || len(groups.Qualifiers) == 0 {
		return []kg.Statement{textStatement(value)}
	}
	var out []kg.Statement
	for _, g := range groups.Qualifiers {
		s := textStatement(value)
		ms, _ := orderedObject(g)
		for _, m := range ms {
			q := kg.Qualifier{Property: splitKey(m.key)}
			var one string
			var list []string
			if json.Unmarshal(m.value.(json.RawMessage), &one) == nil {
				list = []string{one}
			} else {
				_ = json.Unmarshal(m.value.(json.RawMessage), &list)
			}
			for _, v := range list {
				q.Values = append(q.Values, kg.Value{Term: rdf.String(v)})
			}
			s.Qualifiers = append(s.Qualifiers, q)
		}
		out = append(out, s)
	}
	return out
}

func splitKey(key string) kg.PropertyRef {
	if i := strings.LastIndex(key, " ("); i >= 0 {
		return kg.PropertyRef{ID: strings.TrimSuffix(key[i+2:], ")"), Label: key[:i]}
	}
	return kg.PropertyRef{ID: key}
}

// orderedObject reads a JSON object in order; the values are json.RawMessage.
func orderedObject(b []byte) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("no JSON object")
	}
	var out object
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, member{k.(string), v})
	}
	return out, nil
}

// recordedRuns reads the log, or skips the test.
func recordedRuns(t *testing.T) []recordedRun {
	t.Helper()
	dir := os.Getenv("SPINACHBOT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(dir, "data", "spinach", "qald10-log.json"))
	if err != nil {
		t.Skipf("no recorded runs (set SPINACHBOT_SHARED to the shared material): %v", err)
	}
	var runs []recordedRun
	if err := json.Unmarshal(b, &runs); err != nil {
		t.Fatal(err)
	}
	return runs
}

// expectation is what the rule of the issue makes of a sequence of actions, worked out without the engine's code.
type expectation struct {
	steps []string // every step carried out, in order: name and argument
	rolls []int    // To of every rollback
	end   string   // "answer", "limit" or "record" (its actions ran out)
	clean bool     // nothing was refused and the record's actions all fit
}

// expect is the rule in its plainest form: a list of kept steps, two counters, and nothing else.
func expect(run recordedRun) expectation {
	type step struct {
		n      int
		key    string
		exec   bool
		result bool
	}
	var kept []step
	x := expectation{clean: true}
	n, total, inRow := 0, 0, 0
	for i, a := range run.Actions {
		if len(kept) == 15 || total == 30 {
			x.end = "limit"
			return x
		}
		total++
		key := a.Name + "|" + strings.ToLower(fold(a.Argument))
		if a.Name == actExecute {
			key = a.Name + "|" + fold(a.Argument)
		}
		back := -1
		if a.Name == actStop {
			last := -1
			for j, k := range kept {
				if k.exec {
					last = j
				}
			}
			if last >= 0 && kept[last].result {
				x.steps = append(x.steps, "stop|")
				x.end = "answer"
				return x
			}
			back = last
			if last < 0 {
				back = len(kept)
			}
		} else {
			for j, k := range kept {
				if k.key == key {
					back = j
					break
				}
			}
		}
		if back >= 0 {
			x.clean = false
			if inRow++; inRow == 2 {
				kept, inRow = kept[:back], 0
			}
			to := 0
			if len(kept) > 0 {
				to = kept[len(kept)-1].n
			}
			x.rolls = append(x.rolls, to)
			continue
		}
		inRow = 0
		n++
		p := &recordPlayer{run: run, pos: i + 1}
		s := step{n: n, key: key, exec: a.Name == actExecute}
		if s.exec {
			table, err := p.Query(context.Background(), a.Argument)
			s.result = err == nil && !table.Empty()
		}
		kept = append(kept, s)
		x.steps = append(x.steps, a.Name+"|"+a.Argument)
	}
	x.end = "record"
	if len(kept) == 15 {
		x.end = "limit"
	}
	return x
}

// TestRecordedRuns plays the 387 runs through the loop. Where the record holds no repetition and no early stop, the steps are the record's, in its order;
// elsewhere they are those that the rule makes of the record's actions.
func TestRecordedRuns(t *testing.T) {
	runs := recordedRuns(t)
	count := map[string]int{}
	for i, run := range runs {
		p := &recordPlayer{run: run}
		rec := &memory{}
		e := New(slog.New(slog.DiscardHandler), p, p, nil, ticking(), Options{PruneOver: -1})
		out, err := e.Ask(t.Context(), Question{Text: run.Question, Language: "en"}, rec, Limits{})
		if err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		want := expect(run)
		var steps []string
		for _, ev := range rec.of("step") {
			steps = append(steps, ev.Step.Action+"|"+ev.Step.Argument)
		}
		var rolls []int
		for _, ev := range rec.of("rollback") {
			rolls = append(rolls, *ev.To)
		}
		end := "record"
		switch {
		case out.Answer != nil:
			end = "answer"
		case out.Reason == OutOfActions:
			end = "limit"
		}
		if mustJSON(steps) != mustJSON(want.steps) || mustJSON(rolls) != mustJSON(want.rolls) || end != want.end {
			count["different from the rule"]++
			t.Errorf("run %d, %q:\n got %v %v %s (%s)\nwant %v %v %s", i, run.Question, steps, rolls, end, out.Detail, want.steps, want.rolls, want.end)
			continue
		}
		switch {
		case !want.clean:
			count["by the rule: repetition or early stop in the record"]++
		case len(steps) != len(run.Actions):
			t.Errorf("run %d: clean, but %d of %d actions", i, len(steps), len(run.Actions))
		case end == "limit":
			count["same actions in the same order, up to the limit"]++
		default:
			count["same actions in the same order, to the stop"]++
		}
	}
	t.Logf("%d runs", len(runs))
	logCounts(t, count)
	if n := count["same actions in the same order, to the stop"] + count["same actions in the same order, up to the limit"]; n < 330 {
		t.Errorf("%d runs with the same actions in the same order, want about 340", n)
	}
}

func logCounts(t *testing.T, count map[string]int) {
	t.Helper()
	keys := make([]string, 0, len(count))
	for k := range count {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		t.Logf("%6d  %s", count[k], k)
	}
}
