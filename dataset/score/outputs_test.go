package score

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, text string) (Format, []Output) {
	t.Helper()
	var out []Output
	format, err := ReadOutputs(strings.NewReader(text), func(o *Output) error {
		out = append(out, *o)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return format, out
}

func TestReadSpinachOutputs(t *testing.T) {
	format, items := readAll(t, "\ufeff"+` [ {"question":"a","predicted_sparql":"P","gold_sparql":"G","f1":1,"predicted_answer_tuple":[{}],"gold_answer_tuple":true},
		{"question":"b","predicted_sparql":null,"gold_sparql":"H","f1":0,"gold_answer_tuple":[]} ] `)
	if format != SpinachOutputs || len(items) != 2 {
		t.Fatalf("%s, %d items", format, len(items))
	}
	a, b := items[0], items[1]
	if a.SPARQL != "P" || a.Gold != "G" || string(a.Result) != "[{}]" || string(a.GoldResult) != "true" ||
		a.Steps != -1 {
		t.Errorf("%+v", a)
	}
	// An item without a stored answer has no answer; the published evaluator would reuse the answer to the previous
	// question.
	if b.SPARQL != "" || string(b.Result) != "null" || b.Index != 1 {
		t.Errorf("%+v", b)
	}
}

func TestReadGRASPOutputs(t *testing.T) {
	format, items := readAll(t, `{"typ":"output","sparql":"S","result":"Got 1 row","elapsed":2.5,"messages":[{"role":"assistant","tool_calls":[{},{}]},{"role":"tool","content":"fine"},
		{"role":"assistant","tool_calls":[{}]}],"id":"t_1"}
{"id":"t_2","sparql":"S2","elapsed":1}
{"typ":"output","sparql":null,"id":"t_3","error":{"content":"x","reason":"api"}}
{"typ":"output","sparql":"S4","id":"t_4","messages":[{"role":"tool","content":"call failed: 503 Server Error: busy"}]}
{"typ":"output","sparql":"S5","id":5,"messages":[{"role":"assistant","content":"502 Server Error is what I fear"}],"error":null}`)
	if format != GRASPOutputs || len(items) != 5 {
		t.Fatalf("%s, %d items", format, len(items))
	}
	for i, want := range []struct {
		id, sparql, failure string
		steps               int
	}{{"t_1", "S", "", 3}, {"t_2", "S2", "", -1}, {"t_3", "", "api", -1}, {"t_4", "S4", "503 Server Error", 0},
		{"5", "S5", "", 0}} {
		if o := items[i]; o.ID != want.id || o.SPARQL != want.sparql || o.Failure != want.failure ||
			o.Steps != want.steps || o.Result != nil || o.GoldResult != nil {
			t.Errorf("item %d: %+v", i, o)
		}
	}
}

func TestReadGRASPEvaluation(t *testing.T) {
	format, items := readAll(t, `{"a":{"target":{"err":null,"size":3},"prediction":{"sparql":"S","err":null,"size":2,"score":0.8}},
		"b":{"target":{"err":null,"size":3}}, "c":{"target":{"err":null,"size":0},"prediction":{"score":1}}, "d":{"target":{"err":"x","size":1}},
		"e":{"target":{"err":null,"size":1},"prediction":{"err":"Read timed out. (read timeout=6)","score":0.0}}, "f":{"target":{"err":null,"size":1},"prediction":{"err":"syntax","score":null}}}`)
	if format != GRASPEvaluation || len(items) != 6 {
		t.Fatalf("%s, %d items", format, len(items))
	}
	for i, want := range []struct {
		id       string
		score    float64
		out, bad bool
	}{{"a", .8, false, false}, {"b", 0, false, false}, {"c", 0, true, false}, {"d", 0, true, false},
		{"e", 0, false, true}, {"f", 0, false, false}} {
		if o := items[i]; o.ID != want.id || o.Scored.Score != want.score || (o.Scored.Excluded != "") != want.out ||
			(o.Failure != "") != want.bad {
			t.Errorf("item %d: %+v, %+v", i, o, o.Scored)
		}
	}
}

func TestReadRunResults(t *testing.T) {
	format, items := readAll(t, `{"schema":1,"id":"a","question":"q","sparql":"S","result":[],"gold_sparql":"G","gold":[{}],"answered":true,"steps":7,"confidence":1}
{"schema":1,"id":"b","question":"q","sparql":"","result":null,"gold_sparql":"G","gold":true,"answered":false,"error":{"kind":"model","message":"m"},"steps":0}
`)
	if format != RunResults || len(items) != 2 || items[0].Steps != 7 || string(items[0].GoldResult) != "[{}]" ||
		items[0].Failure != "" || items[1].Failure != "model" {
		t.Errorf("%s %+v", format, items)
	}
	if format, items = readAll(t, `{"sparql":"S","result":{"head":{},"boolean":true}}`); format != QueryResultLines ||
		string(items[0].Result) != `{"head":{},"boolean":true}` {
		t.Errorf("%s %+v", format, items)
	}
}

// Unreadable parts are reported, and everything else is read.
func TestReadOutputsUnreadable(t *testing.T) {
	const good = `{"id":"g","predicted_answer_tuple":[],"gold_answer_tuple":[]}`
	for text, want := range map[string][]string{
		"[" + good + `,{"x":1},` + good + "]":                 {"", "format is unknown", ""},
		"[null," + good + ",5]":                               {"format is unknown", "", "not an object but a number"},
		"[" + good + `,{"id":"b","question":5},` + good + "]": {"", "a number", ""},
		"[" + good:                          {"", "from here on"},
		"[" + good + ",{":                   {"", "from here on"},
		"[" + good + "] [" + good + "]":     {"", "continues after the end"},
		good + "\n{\"id\":2,":               {"", "from here on"},
		good + "\n" + good + "\n}\n" + good: {"", "", "from here on"},
		`{"a":{"target":{"err":null,"size":1}},"b":5,"c":{}}`:         {"", "a number", "no target"},
		"[" + strings.Replace(good, "{", `{"f1":"0.5",`, 1) + "]":     {""},
		"[" + strings.Replace(good, "{", `{"f1":-Infinity,`, 1) + "]": {""},
	} {
		_, items := readAll(t, text)
		if len(items) != len(want) {
			t.Errorf("%s: %d items, want %d: %+v", text, len(items), len(want), items)
			continue
		}
		for i, o := range items {
			if o.Index != i || (o.Unreadable == "") != (want[i] == "") || !strings.Contains(o.Unreadable, want[i]) {
				t.Errorf("%s: item %d: %+v, want %q", text, i, o, want[i])
			}
		}
	}
}

func TestReadOutputsOfPython(t *testing.T) {
	_, items := readAll(t, `[{"question":"NaN \"NaN\\","f1":NaN,"predicted_answer_tuple":[{"x":{"type":"literal","value":"-Infinity"}}],"gold_answer_tuple":[]},{"f1":Infinity,"gold_answer_tuple":[]},
		{"f1":-0.5,"predicted_answer_tuple":true}]`)
	if len(items) != 3 || items[0].Question != `NaN "NaN\` || items[0].Stored != nil ||
		!strings.Contains(string(items[0].Result), `"-Infinity"`) || items[1].Stored != nil ||
		items[2].Stored == nil || *items[2].Stored != -0.5 {
		t.Errorf("%+v", items)
	}
	for shift := range 12 { // words that cross read buffer boundaries
		text := "[" + strings.Repeat(" ", 1<<12-shift) + `NaN,-Infinity,"` + strings.Repeat("NaN", 1<<15) +
			`",-1,Infinity]`
		got, err := io.ReadAll(iotest.OneByteReader(&pythonJSON{r: bufio.NewReaderSize(iotest.HalfReader(strings.NewReader(
			text)), 1<<12)}))
		want := strings.Replace(strings.Replace(text, "NaN,-Infinity", "null,null", 1), ",Infinity]", ",null]", 1)
		if err != nil || string(got) != want {
			t.Fatalf("%v, %d bytes, want %d", err, len(got), len(want))
		}
	}
}

func TestReadOutputsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "empty",
		" 5":                            `starts with '5'`,
		"[]":                            "no items",
		"[{]":                           "item #1",
		`{"x":1}`:                       "item #1: its format is unknown",
		`{"dataset":{},"questions":[]}`: "--gold",
	} {
		if _, err := ReadOutputs(strings.NewReader(text), func(*Output) error { return nil }); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	stop := errors.New("stop")
	if _, err := ReadOutputs(strings.NewReader(`[{"dialog":[]}]`),
		func(*Output) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the caller's error is returned as %v", err)
	}
}
