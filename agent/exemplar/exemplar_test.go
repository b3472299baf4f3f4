package exemplar

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const two = `# token length: 900
# ID: a-1
# Type: Count
# SPARQL: SELECT …
Q: How many rivers flow into
Lake Como?
Thought: I count.
Action: ExecuteSPARQL('SELECT (COUNT(?r) AS ?n) WHERE {
  ?r <mouth> ?l .
}')
Observation: ['3']
(3 rows in all.)
Thought: This is the answer.
Action: Done.

# ID: a-2
# Type: Verify
Q: Is it deep?
Thought: I ask.
Action: Done
`

func TestParse(t *testing.T) {
	got, err := Parse("x.txt", two)
	if err != nil {
		t.Fatal(err)
	}
	want := []Dialogue{
		{ID: "a-1", Type: "Count", Query: "SELECT …", Question: "How many rivers flow into\nLake Como?", Rounds: []Round{
			{"I count.", "ExecuteSPARQL('SELECT (COUNT(?r) AS ?n) WHERE {\n  ?r <mouth> ?l .\n}')", "['3']\n(3 rows in all.)"},
			{"This is the answer.", "Done.", ""}}},
		{ID: "a-2", Type: "Verify", Question: "Is it deep?", Rounds: []Round{{"I ask.", "Done", ""}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	again, err := Parse("x.txt", got[0].Text()+"\n"+got[1].Text())
	if d := cmp.Diff(got, again); d != "" || err != nil {
		t.Errorf("the written dialogue is read back differently: %v %s", err, d)
	}
	if s := got[0].String(); strings.Contains(s, "#") || !strings.HasPrefix(s, "Q: ") {
		t.Errorf("the model is shown %q", s)
	}
	for text, want := range map[string]string{
		"Q: x\nAction: Done\n":                        "x.txt:2: Action: without a thought",
		"Q: x\n\nThought: y\n":                        `the dialogue "x" has no turn`,
		"Q: x\nThought: y\n":                          "turn 1 of",
		"Question: x\n":                               "x.txt:1: the line does not begin with any of",
		"Q: x\nThought: y\nAction: Done\nQ: second\n": "x.txt:4: a second question",
	} {
		if _, err := Parse("x.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(two)
	f.Fuzz(func(t *testing.T, text string) {
		ds, err := Parse("x", text)
		if err != nil {
			return
		}
		for _, d := range ds {
			if d.Question == "" && len(d.Rounds) == 0 {
				t.Errorf("an empty dialogue from %q", text)
			}
		}
	})
}

// TestClassify checks that a question's kind depends on its form, not its subject.
func TestClassify(t *testing.T) {
	s, err := Load(fstest.MapFS{"d/a.txt": {Data: []byte(two)}, "d/questions.tsv": {Data: []byte(
		"Count\tHow many people live in Rome?\nVerify\tIs Rome older than Athens?\nVerify\tDoes it rain?\nBetween\tWhich is older, Rome or Athens?\n")}}, "d")
	if err != nil {
		t.Fatal(err)
	}
	for q, want := range map[string]string{
		"How many bridges cross the Rhine?":  "Count",
		"Is Cologne larger than Bonn?":       "Verify",
		"Which is larger, Cologne or Bonn?":  "Between",
		"xyzzy":                              "Verify", // the most frequent kind
		"":                                   "Verify",
		"how many BRIDGES cross the rhine??": "Count",
	} {
		if got := s.Classify(q); got != want {
			t.Errorf("%q is %s, want %s", q, got, want)
		}
	}
	if d := cmp.Diff([]string{"Count", "Verify"}, s.Types()); d != "" {
		t.Error(d)
	}
	if ds := s.Of("Count", 2); len(ds) != 1 || ds[0].ID != "a-1" {
		t.Errorf("%+v", ds)
	}
	for _, bad := range []string{"Count How many?", "\tHow many?", "Count\t "} {
		if _, err := Load(fstest.MapFS{"d/questions.tsv": {Data: []byte(bad)}}, "d"); err == nil {
			t.Errorf("no error for %q", bad)
		}
	}
}

// TestLoadChats checks that a preset's folder may contain unmodified files from Interactive-KBQA's program.
func TestLoadChats(t *testing.T) {
	chat := `{"id": "v-1", "qtype": "Count", "question": "How many?", "sparql": "SELECT 1", "answers": ["1", 2], "done": true, "dialog": [
{"role": "system", "content": "s"}, {"role": "user", "content": "Q: How many?\nGolden Entity: [\"Lake\"]"},
{"role": "assistant", "content": "Thought: I count\nslowly.\n\nAction: ExecuteSPARQL('x')"}, {"role": "user", "content": "Observation: a\n\nQ: b"},
{"role": "assistant", "content": "Thought: So.\nAction: Done."}, {"role": "user", "content": "Stop condition detected."}]}`
	s, err := Load(fstest.MapFS{"d/a.json": {Data: []byte(chat)}, "d/b.txt": {Data: []byte(two)}, "d/c.csv": {Data: []byte("#")}}, "d")
	if err != nil {
		t.Fatal(err)
	}
	want := Dialogue{ID: "v-1", Type: "Count", Query: "SELECT 1", Answer: "1; 2",
		Question: "How many?\nGolden Entity: [\"Lake\"]", Rounds: []Round{
			{"I count\nslowly.", "ExecuteSPARQL('x')", "a\n Q: b"}, {"So.", "Done.", ""}}}
	if d := cmp.Diff(want, s.Dialogues[0]); d != "" || len(s.Dialogues) != 3 {
		t.Errorf("%d dialogues, %s", len(s.Dialogues), d)
	}
	for bad, want := range map[string]string{
		strings.Replace(chat, `"done": true`, `"done": false`, 1):                 "d/a.json: the annotation is not finished",
		strings.Replace(chat, "\\n\\nAction: Exec", " Exec", 1):                   "d/a.json: turn 1 of",
		strings.Replace(chat, `"role": "system"`, `"role": "user"`, 1):            "d/a.json: want a system message",
		strings.Replace(chat, `"role": "assistant"`, `"role": "user"`, 1):         `message 2 has the role "user"`,
		strings.Replace(chat, "Stop condition detected.", "Observation: stop", 1): "the last message does not show",
		"[]": "not an Interactive-KBQA dialogue file",
	} {
		if _, err := Load(fstest.MapFS{"d/a.json": {Data: []byte(bad)}}, "d"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzReadChat(f *testing.F) {
	f.Add(`{"id": 1, "question": "Q", "answer": [{"answer": "x"}], "dialog": [{"role": "system", "content": ""}, {"role": "user"}, {"role": "assistant", "content": "Thought: a\nAction: b"}, {"role": "user", "content": "stop"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadChat([]byte(text))
		if err != nil {
			return
		}
		d, err := c.Dialogue()
		if err != nil {
			return
		}
		if ds, err := Parse("x", d.Text()); err != nil || !cmp.Equal(ds, []Dialogue{d}) {
			t.Errorf("the text of %q is read back differently: %v %s", text, err, cmp.Diff([]Dialogue{d}, ds))
		}
	})
}
