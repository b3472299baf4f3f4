package dataset

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shared returns the content of a file of the maintainers' reference data, or skips the test.
func shared(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("SPINACHBOT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Skipf("reference data not here (set SPINACHBOT_SHARED): %v", err)
	}
	return b
}

func read(t *testing.T, text string) ([]Item, Format) {
	t.Helper()
	items, format, err := ReadItems(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return items, format
}

func raw(pairs ...string) map[string]json.RawMessage {
	m := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return m
}

func TestReadItems(t *testing.T) {
	three := 3
	for _, c := range []struct {
		name, text string
		format     Format
		want       []Item
	}{
		{"spinach", "\ufeff" + `[{"id":"dev_1","title":"T","url":"https://w/2021/07","question":"Which lakes?","sparql":"SELECT ?l {}"}]`, SPINACH,
			[]Item{{ID: "dev_1", Title: "T", URL: "https://w/2021/07", Question: "Which lakes?",
				SPARQL: "SELECT ?l {}"}}},
		{"number id, no id, other members", `[{"id":7,"question":"q","sparql":"s","level":2},{"question":"r","sparql":"t"}]`,
			SPINACH,
			[]Item{{ID: "7", NumericID: true, Question: "q", SPARQL: "s", Info: raw("level", "2")},
				{ID: "1", Question: "r", SPARQL: "t"}}},
		{"wwq", `[{"id":"WebQTest-1","utterance":"who?","sparql":"s","results":[{"x":{"type":"uri","value":"http://e/Q1"}}]}]`, WWQ,
			[]Item{{ID: "WebQTest-1", Question: "who?", SPARQL: "s",
				Answers: json.RawMessage(`[{"x":{"type":"uri","value":"http://e/Q1"}}]`)}}},
		{"outputs", `[{"question":"q","predicted_sparql":null,"gold_sparql":"g","f1":0.0,"predicted_answer_tuple":[],"gold_answer_tuple":true}]`, SPINACHOutputs,
			[]Item{{ID: "0", Question: "q", SPARQL: "g", Answers: json.RawMessage(`true`)}}},
		{"a run of ours", `{"id":"a","question":"q","sparql":"predicted","result":[],"gold_sparql":"g","gold":null,"steps":3}`, SPINACHOutputs,
			[]Item{{ID: "a", Question: "q", SPARQL: "g", Info: raw("steps", "3")}}},
		{"grasp", "\n" + `{"id":"a","question":"q","sparql":"s","paraphrases":["r"],"info":{"title":"T","n":1,"responses":3,"language":"de"}}` + "\r\n\n" + `{"id":"b","question":"q2","sparql":"s2","paraphrases":[],"info":{}}`, GRASP,
			[]Item{{ID: "a", Title: "T", Question: "q", Language: "de", SPARQL: "s", Paraphrases: []string{"r"},
				Responses: &three, Info: raw("n", "1")},
				{ID: "b", Question: "q2", SPARQL: "s2", Paraphrases: []string{}}}},
		{"info of any form", `{"id":"a","question":"q","sparql":"s","paraphrases":[],"info":{"title":5,"answers":["Paris"],"vars":1,"responses":"two"},"results":{"rows":1}}`, GRASP,
			[]Item{{ID: "a", Question: "q", SPARQL: "s", Paraphrases: []string{},
				Info: raw("title", "5", "answers", `["Paris"]`, "vars", "1", "responses", `"two"`, "results",
					`{"rows":1}`)}}},
		{"a whole result", `{"id":"a","question":"q","gold_sparql":"s","gold":{"head":{"vars":["x"]},"results":{"bindings":[]}}}`, SPINACHOutputs,
			[]Item{{ID: "a", Question: "q", SPARQL: "s", Head: []string{"x"}, Answers: json.RawMessage(`[]`)}}},
		{"slice", `{"id":"a","source":"wwq","question":"q","sparql":"s","slice_result":[],"vars":["x","y"]}`, GRASP,
			[]Item{{ID: "a", Question: "q", SPARQL: "s", Head: []string{"x", "y"}, Answers: json.RawMessage(`[]`),
				Info: raw("source", `"wwq"`)}}},
		{"qald", `{"dataset":{"id":"d"},"questions":[{"id":"1","answertype":"resource","question":[{"language":"de","string":"Wer?"},{"language":"en","string":"Who?","keywords":"k"},{"language":"en","string":"Which one?"}],
			"query":{"sparql":"s"},"answers":[{"head":{"vars":["b","a"]},"results":{"bindings":[{"a":{"type":"literal","value":"v"}}]}}]},
			{"id":2,"question":[{"language":"fr","string":"Qui ?"}],"answers":[{"head":{},"boolean":false}]}]}`, QALD,
			[]Item{{ID: "1", Question: "Who?", Language: "en", Paraphrases: []string{"Which one?"}, SPARQL: "s",
				Head:    []string{"b", "a"},
				Answers: json.RawMessage(`[{"a":{"type":"literal","value":"v"}}]`),
				Info: raw("answertype", `"resource"`, "keywords", `"k"`, "translations",
					`[{"language":"de","string":"Wer?"}]`)},
				{ID: "2", NumericID: true, Question: "Qui ?", Language: "fr", Answers: json.RawMessage(`false`)}}},
		{"candidates", `{"schema":1,"id":"c-1","provenance":{"heading":"H","url":"https://w/2020/01"},"conversation":{"responses":3,"comments":[{"level":1,"text":"Which [query]?"}]},"original":"o","cleaned":"c"}`, Candidates,
			[]Item{{ID: "c-1", Title: "H", URL: "https://w/2020/01", Question: "Which [query]?", SPARQL: "c",
				Responses: &three}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, format := read(t, c.text)
			if format != c.format {
				t.Errorf("format %s, want %s", format, c.format)
			}
			if d := cmp.Diff(c.want, items); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

func TestReadItemsErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", " \n", "the file is empty"},
		{"text", "SELECT", `line 1, column 1: the file starts with 'S'`},
		{"no items", "[]", "has no items"},
		{"cut array", "[\n {\"id\":\"a\"", "line 2, column 10: the JSON is invalid here"},
		{"broken line", "{\"id\":\"a\",\"question\":\"q\",\"sparql\":\"s\"}\n{\"id\":\"é\",,}\n",
			"line 2, column 11: the JSON is invalid here"},
		{"no question", "[{\"id\":\"a\",\"question\":\"q\",\"sparql\":\"s\"},\n  {\"id\":\"b\",\"sparql\":\"s\"}]",
			`line 2, column 3: item 2 (id b): it has no "question"`},
		{"no query", `{"id":4,"question":"q","sparql":" "}`, `item 1 (id 4): it has no "sparql"`},
		{"no object", `[17]`, "item 1: it is not a JSON object but 17"},
		{"wrong kind", `[{"id":"a","question":["q"],"sparql":"s"}]`, `"question" is not a string but ["q"]`},
		{"wrong id", `[{"id":[],"question":"q","sparql":"s"}]`, `"id" is neither a string nor a number but []`},
		{"wrong result", `[{"question":"q","gold_sparql":"s","gold_answer_tuple":[3]}]`,
			`"gold_answer_tuple" is neither a list of bindings`},
		{"grasp's output", `{"typ":"output","id":"test_4","sparql":"s"}`,
			"item 1 (id test_4): this is the output of a GRASP run"},
		{"qald without text", "{\"questions\":[\n{\"id\":\"1\",\"question\":[]}]}",
			"line 2, column 1: item 1 (id 1): its \"question\" has no text"},
		{"newer schema", `{"schema":99,"id":"c-1","provenance":{}}`, "schema 99; this program reads up to 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			items, _, err := ReadItems(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one that contains %q", err, c.want)
			}
			if items != nil {
				t.Errorf("%d items came with the error", len(items))
			}
		})
	}
}

// rich is an item with all fields that WriteGRASP and WriteQALD can write.
const rich = `{"id":"x","question":"Which <b> & \"c\"?","sparql":"SELECT * {\n}","paraphrases":["p"],"info":{"title":"T","url":"u","language":"en","responses":2,
"vars":["n"],"answers":[{"n":{"type":"literal","value":"4","datatype":"http://www.w3.org/2001/XMLSchema#integer"}}],"more":{"k":[1]}}}`

func TestWriteGRASPRoundTrip(t *testing.T) {
	items, _ := read(t, strings.ReplaceAll(rich, "\n", ""))
	var b bytes.Buffer
	if err := WriteGRASP(&b, items); err != nil {
		t.Fatal(err)
	}
	again, format := read(t, b.String())
	if d := cmp.Diff(items, again); d != "" || format != GRASP {
		t.Errorf("%s -want +got:\n%s", format, d)
	}
	if !strings.HasPrefix(b.String(), `{"id":"x","question":"Which <b> & \"c\"?","sparql":"SELECT * {\n}","paraphrases":["p"],"info":{`) {
		t.Errorf("key order or escapes differ: %s", b.String())
	}
}

func TestWriteSPINACH(t *testing.T) {
	items := []Item{{ID: "dev_1", Title: "A & B", URL: "https://w", Question: "ö 😀?", SPARQL: "a\nb"},
		{ID: "7", NumericID: true, Question: "q", SPARQL: "<s>"}}
	const want = `[
    {
        "id": "dev_1",
        "title": "A & B",
        "url": "https://w",
        "question": "\u00f6 \ud83d\ude00?",
        "sparql": "a\nb"
    },
    {
        "id": 7,
        "question": "q",
        "sparql": "<s>"
    }
]`
	var b bytes.Buffer
	if err := WriteSPINACH(&b, items); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got %s", b.String())
	}
	if again, _ := read(t, b.String()); cmp.Diff(items, again) != "" {
		t.Error(cmp.Diff(items, again))
	}
}

func TestWriteQALD(t *testing.T) {
	text := `{"dataset":{"id":"d"},"questions":[
		{"id":"1","answertype":"list","aggregation":true,"question":[{"language":"en","string":"Who?","keywords":"who"},{"language":"en","string":"Which?"},{"language":"de","string":"Wer?","keywords":"wer"}],
		 "query":{"sparql":"s"},"answers":[{"head":{"vars":["b","a"]},"results":{"bindings":[{"a":{"type":"literal","value":"v","xml:lang":"en"}}]}}]},
		{"id":2,"question":[{"language":"fr","string":"Qui ?"}],"query":{"sparql":""},"answers":[]}]}`
	items, _ := read(t, text)
	var b bytes.Buffer
	if err := WriteQALD(&b, "d", items); err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}

	const xsd = "http://www.w3.org/2001/XMLSchema#"
	for answers, kind := range map[string]string{
		`true`:                               "boolean",
		`[{"x":{"type":"uri","value":"u"}}]`: "resource",
		`[{},{"x":{"type":"literal","value":"u"}}]`:                               "string",
		`[{"x":{"type":"literal","value":"3","datatype":"` + xsd + `decimal"}}]`:  "number",
		`[{"x":{"type":"literal","value":"3","datatype":"` + xsd + `dateTime"}}]`: "date",
		`[]`: "",
	} {
		if got := (&Item{Answers: json.RawMessage(answers)}).answerType(); got != kind {
			t.Errorf("%s: answer type %q, want %q", answers, got, kind)
		}
	}
}

// SPINACH's own file is written back unchanged. The sizes are those that the authors published.
func TestSharedItems(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		n      int
		first  string
	}{
		{"data/spinach/dev.json", SPINACH, 155, "dev_3"},
		{"data/spinach/qald9plus-train.json", SPINACH, 371, "1"},
		{"data/spinach/wwq-dev.json", SPINACH, 454, "WebQTrn-3129"},
		{"data/spinach/qald10-outputs.json", SPINACHOutputs, 387, "0"},
		{"data/slice/questions-dev.jsonl", GRASP, 458, "spinach/dev_34"},
	} {
		text := shared(t, c.name)
		items, format, err := ReadItems(bytes.NewReader(text))
		if err != nil || format != c.format || len(items) != c.n || items[0].ID != c.first {
			t.Errorf("%s: %d items of form %s, first %q, error %v", c.name, len(items), format, items[0].ID, err)
		}
		var b bytes.Buffer
		if err := WriteSPINACH(&b, items); err != nil {
			t.Fatal(err)
		}
		if c.name == "data/spinach/dev.json" && !bytes.Equal(b.Bytes(), text) {
			t.Errorf("%s is not written back byte for byte", c.name)
		}
		b.Reset()
		if err := WriteGRASP(&b, items); err != nil {
			t.Fatal(err)
		}
		again, _ := read(t, b.String())
		for i := range again {
			if len(again[i].Paraphrases) == 0 {
				again[i].Paraphrases = nil
			}
		}
		if !reflect.DeepEqual(items, again) {
			t.Errorf("%s: different items are read back from GRASP's lines", c.name)
		}
	}
}

// Any input is either read or rejected with an error, and items that were read can be written and read again.
func FuzzReadItems(f *testing.F) {
	f.Add(`[{"id":"a","question":"q","sparql":"s","title":"t"}]`)
	f.Add(`{"id":1,"question":"q","sparql":"s","paraphrases":["p"],"info":{"responses":2,"answers":[{"n":{"type":"uri","value":"u"}}]}}` + "\n")
	f.Add(`{"questions":[{"id":"1","question":[{"language":"en","string":"Who?"}],"query":{"sparql":"s"},"answers":[{"boolean":true}]}]}`)
	f.Add(`[{"question":"q","gold_sparql":"g","gold_answer_tuple":[]}]`)
	f.Add(`{"schema":1,"id":"c-1","provenance":{},"conversation":{},"original":"o"}`)
	f.Fuzz(func(t *testing.T, text string) {
		items, _, err := ReadItems(strings.NewReader(text))
		if err != nil {
			if len(items) > 0 {
				t.Fatalf("%d items came with %v", len(items), err)
			}
			return
		}
		var b bytes.Buffer
		if err := WriteSPINACH(&b, items); err != nil {
			t.Fatal(err)
		}
		if err := WriteQALD(io.Discard, "d", items); err != nil && !strings.Contains(err.Error(), "translations") {
			t.Fatal(err)
		}
		b.Reset()
		if err := WriteGRASP(&b, items); err != nil {
			t.Fatal(err)
		}
		for i := range items {
			if strings.TrimSpace(items[i].Question) == "" || strings.TrimSpace(items[i].SPARQL) == "" {
				return // unlike GRASP, candidates and QALD test sets may lack a question or a query
			}
		}
		again, _, err := ReadItems(&b)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		for i := range items {
			if again[i].ID != items[i].ID || again[i].Question != items[i].Question ||
				again[i].SPARQL != items[i].SPARQL {
				t.Errorf("item %d: %+v was read back as %+v", i, items[i], again[i])
			}
		}
	})
}
