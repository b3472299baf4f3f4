package score

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func dialogue(query string, turns ...string) *Dialogue {
	d := &Dialogue{Question: "Which rivers flow into lake como?", Query: query,
		Messages: []Message{{"system", "rules"}, {"user", "Q: …"}}}
	for i, t := range turns {
		role := "assistant"
		if i%2 == 1 {
			role = "user"
		}
		d.Messages = append(d.Messages, Message{role, t})
	}
	return d
}

const act = "Thought: so.\nAction: ExecuteSPARQL('…')"

func TestPredicted(t *testing.T) {
	const kqa = `?l <pred:name> "Lake Como" .`
	for _, c := range []struct {
		name, query  string
		observations []string
		want         []string
		found        bool
	}{
		{"the last list", "", []string{"Observation: ['a']", "Observation: ['c', \"b\"]"}, []string{"b", "c"}, true},
		{"not what Done says", "", []string{"Observation: ['a']", "Stop condition detected."}, []string{"a"}, true},
		{"node lists are passed over", "", []string{"Observation: ['a']", "Observation: ['Adda | entity']"},
			[]string{"a"}, true},
		{"patterns are passed over", "", []string{"Observation: ['a']", "Observation: ['?e <x> ?y']"},
			[]string{"a"}, true},
		{"errors are passed over", "", []string{"Observation: ['a']", "Observation: Error: no"}, []string{"a"}, true},
		{"truth value", "", []string{"Observation: ['a']", "Observation: True"}, []string{"true"}, true},
		{"empty list", "", []string{"Observation: ['a']", "Observation: []"}, nil, true},
		{"datatypes go", "", []string{`Observation: ['1999-05-01^^xsd:date', '"5"^^xsd:decimal']`},
			[]string{"1999-05-01"}, true},
		{"numbers next to words go", "", []string{"Observation: ['5', 'a', 6.5]"}, []string{"a"}, true},
		{"numbers alone stay", "", []string{"Observation: [5, 6]"}, []string{"5", "6"}, true},
		{"cut off", "", []string{"Observation: ['one', 'two', 'thr"}, []string{"one", "two"}, true},
		{"escapes", "", []string{`Observation: ['it\'s', "x"]`}, []string{"it's", "x"}, true},
		{"tuples are no answer", "", []string{"Observation: ['a']", "Observation: [('b', 'c')]"}, []string{"a"}, true},
		{"but on KQA Pro a single one is", kqa, []string{"Observation: [('c', 'b')]"}, []string{"b", "c"}, true},
		{"and of several the first value without fact nodes", kqa,
			[]string{"Observation: [('fact_1', 'a'), ('z', 'd'), ('_:x', 'b')]"}, []string{"d"}, true},
		{"code is text", "", []string{"Observation: [__import__('os').system('x')]"},
			[]string{"__import__('os'"}, true},
		{"an error with an exclamation mark is not a list", "",
			[]string{"Observation: ['a']", "Observation: Error! no"}, []string{"a"}, true},
		{"none", "", []string{"Observation: Error: no"}, nil, false},
	} {
		var turns []string
		for _, o := range c.observations {
			turns = append(turns, act, o)
		}
		got, found := dialogue(c.query, turns...).Predicted()
		if found != c.found || len(got)+len(c.want) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, %v; want %q", c.name, got, found, c.want)
		}
	}
}

func TestDialogueFigures(t *testing.T) {
	first := "Thought: …\nAction: SearchGraphPatterns('SELECT ?e WHERE { ?e <pred:name> \"Lake Como\" . }')"
	second := "Thought: …\nAction: ExecuteSPARQL('… ?x <pred:name> \"Adda\" … <pred:name> \"Lake Como\" …')"
	kqa := dialogue(`?l <pred:name> "Lake Como" . ?r <pred:name> "Stream" .`, first, "Observation: []", second,
		"Observation: ['3']", "Thought: done.\nAction: Done.", "Stop condition detected.")
	if glued := dialogue("", "Thought: done.\nAction:Done"); !glued.Finished() {
		t.Error("an action without a space is not recognized")
	}
	if !kqa.Finished() || kqa.Turns() != 7 {
		t.Errorf("finished %v, %d turns", kqa.Finished(), kqa.Turns())
	}
	// The gold names are Lake Como and Stream; the question mentions the first. The names predicted in all turns are Lake
	// Como and Adda.
	if p, r, f, m := kqa.Linking(); p != .5 || r != .5 || f != .5 || m != .5 {
		t.Errorf("linking %v %v %v %v", p, r, f, m)
	}
	free := dialogue(`?l ns:type.object.name "Lake Como"@en .`,
		strings.ReplaceAll(first, "<pred:name>", "ns:type.object.name"), "Observation: []",
		strings.ReplaceAll(second, "<pred:name>", "ns:type.object.name"), "Observation: []")
	if p, r, f, m := free.Linking(); p != 1 || r != 1 || f != 1 || m != 1 || free.Finished() {
		t.Errorf("only the first turn with a name counts: %v %v %v %v, finished %v", p, r, f, m, free.Finished())
	}
	mean := DialoguesMean([]*Dialogue{kqa, free})
	if mean.N != 2 || mean.Finished != .5 || mean.Turns != 6 || *mean.TurnsFinished != 7 || mean.Precision != .75 ||
		mean.Mentioned != .75 {
		t.Errorf("%+v", mean)
	}
	for answer, want := range map[string]string{"yes": "true", "No": "false", "True": "true", "Norway": "Norway"} {
		if got := (&Dialogue{Answers: []string{answer}}).Gold(); got[0] != want {
			t.Errorf("gold %q: %q", answer, got)
		}
	}
	if DialoguesMean(nil) != nil {
		t.Error("there is a mean over no dialogues")
	}
}

func TestMeans(t *testing.T) {
	score := func(f1 float64) Scores {
		return Scores{Spinach: &Score{F1: f1, EM: f1 == 1, Upper: f1, Lowest: f1}}
	}
	items := []Scored{
		{ID: "a", Scores: score(1), Groups: map[string][]string{"form": {"ask"}}},
		{ID: "b", Scores: score(.5), Groups: map[string][]string{"form": {"select"}, "feature": {"x", "y"}}},
		{ID: "c", Scores: Scores{Spinach: &Score{Undefined: EmptyGold}},
			Groups: map[string][]string{"form": {"select"}}},
		{ID: "d", Scores: score(0), Failure: "model", Groups: map[string][]string{"form": {"select"}}},
	}
	m := MeanOf(items, MetricSpinach)
	if m.N != 2 || *m.F1 != .75 || *m.EM != .5 || m.WithFailures.N != 3 || *m.WithFailures.F1 != .5 || m.Upper != nil ||
		m.Lowest != nil {
		t.Errorf("%+v", m)
	}
	if m := MeanOf(items, MetricFair); m.N != 0 || m.F1 != nil {
		t.Errorf("a measure that was not requested: %+v", m)
	}
	g := GroupsBy(items, "form", []string{"select"}, []Metric{MetricSpinach})
	if len(g) != 2 || g[0].Name != "select" || g[0].Means[MetricSpinach].N != 1 || *g[1].Means[MetricSpinach].F1 != 1 {
		t.Errorf("%+v", g)
	}
	if maximum, empty := BestOf([][]float64{{.5, 0, 0}, {1, 0, .2}}); math.Abs(maximum-.4) > 1e-12 ||
		math.Abs(empty-1./3) > 1e-12 {
		t.Errorf("max %v, empty %v", maximum, empty)
	}
}
