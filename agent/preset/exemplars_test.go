package preset

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/agent/tool/kbqagraph"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

var update = flag.Bool("update", false, "write the observations into the dialogues")

// graphFor returns the graph used to produce a dialect's dialogues.
func graphFor(t *testing.T, dialect string) tool.Sources {
	t.Helper()
	build := map[string]func(uint64, kbqagraph.Add){"kqapro": kbqagraph.KQAPro, "metaqa": kbqagraph.MetaQA,
		"freebase": kbqagraph.Freebase}[dialect]
	if build == nil {
		g, err := sandbox.Graph(embedded.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return tool.Wikibase(g)
	}
	b := embedded.NewBuilder()
	build(7, func(s, p, o rdf.Term) {
		if err := b.Add(s, p, o); err != nil {
			t.Fatal(err)
		}
	})
	return tool.Sources{{Graph: b.Graph(embedded.Options{})}}
}

// TestDialogues reruns every action of every worked dialogue. Each observation must match what the tools show today,
// and the last query must have a result.
func TestDialogues(t *testing.T) {
	root := "interactive-kbqa/exemplars"
	folders, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		dialect := folder.Name()
		name := "interactive-kbqa:" + dialect
		if dialect == "wikidata" {
			name = "interactive-kbqa"
		}
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		sources := graphFor(t, dialect)
		files, err := filepath.Glob(filepath.Join(root, dialect, "*.txt"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dialogues, err := exemplar.Parse(file, string(text))
			if err != nil {
				t.Fatal(err)
			}
			var out []string
			for i := range dialogues {
				played(t, p, sources, &dialogues[i])
				out = append(out, dialogues[i].Text())
			}
			now := strings.Join(out, "\n")
			if *update {
				if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if now != string(text) {
				t.Errorf("%s is not what the tools show; run the test with -update and examine the difference", file)
			}
		}
	}
}

// played runs a dialogue's actions.
func played(t *testing.T, p *Preset, sources tool.Sources, d *exemplar.Dialogue) {
	t.Helper()
	found := false
	for i := range d.Rounds {
		x := &d.Rounds[i]
		turn, problem := p.Speak().Read(llm.Choice{Content: "Thought: " + x.Thought + "\nAction: " + x.Action}, p.Toolset())
		if problem != nil {
			t.Fatalf("%s, turn %d: %v", d.ID, i+1, problem)
		}
		call := turn.Calls[0]
		if call.Tool.Ends() {
			if i != len(d.Rounds)-1 || !found {
				t.Errorf("%s ends at turn %d of %d, after a query with a result: %v", d.ID, i+1, len(d.Rounds), found)
			}
			continue
		}
		env := &tool.Env{Log: slog.New(slog.DiscardHandler), Sources: sources, Language: tool.English, Show: p.Show}
		res, err := call.Tool.Run(context.Background(), env.On(sources.Main()), call.Args)
		if err != nil || res.Failure != "" || strings.Contains(res.Text, "\n\n") {
			t.Errorf("%s, turn %d: %v %s", d.ID, i+1, err, res.Text)
		}
		x.Observation = res.Text
		found = call.Tool.Query && res.Found
		if call.Tool.Query {
			d.Answer = strings.ReplaceAll(res.Text, "\n", " ")
		}
		if res.Empty && !strings.Contains(d.Rounds[min(i+1, len(d.Rounds)-1)].Thought, "othing") {
			t.Errorf("%s, turn %d shows nothing, and the next thought does not say so", d.ID, i+1)
		}
		if again := fmt.Sprintf("%s(%s)", call.Tool.Name, call.Shown); again != x.Action {
			t.Errorf("%s, turn %d is written\n%s\nand shown\n%s", d.ID, i+1, x.Action, again)
		}
	}
}

// TestKinds checks that every kind has two dialogues, and that a kind's questions can be distinguished from those of
// other kinds by their words: each question is classified by a set trained only on the others.
func TestKinds(t *testing.T) {
	for name, want := range map[string]struct {
		kinds int
		right float64
	}{"interactive-kbqa": {7, 0.75}, "interactive-kbqa:kqapro": {9, 0.65}, "interactive-kbqa:freebase": {6, 0.3},
		"interactive-kbqa:metaqa": {3, 0}} {
		p, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		kinds := p.dialogues.Types()
		if len(kinds) != want.kinds {
			t.Errorf("%s has the kinds %v", name, kinds)
		}
		for _, k := range kinds {
			if len(p.dialogues.Of(k, 9)) != 2 {
				t.Errorf("%s has %d dialogues of %s", name, len(p.dialogues.Of(k, 9)), k)
			}
		}
		all, right := p.dialogues.Labelled, 0
		for i, q := range all {
			var tsv strings.Builder
			for j, other := range all {
				if j != i {
					fmt.Fprintf(&tsv, "%s\t%s\n", other.Type, other.Question)
				}
			}
			rest, err := exemplar.Load(fstest.MapFS{"x/questions.tsv": {Data: []byte(tsv.String())}}, "x")
			if err != nil {
				t.Fatal(err)
			}
			if rest.Classify(q.Question) == q.Type {
				right++
			}
		}
		share := float64(right) / float64(len(all))
		t.Logf("%s: %d of %d questions", name, right, len(all))
		if share < want.right {
			t.Errorf("%s: only %d of %d questions are classified according to their labels", name, right, len(all))
		}
	}
}

// TestDialectNames checks that a dialect after a colon changes the tools, the prompt and the dialogues, and that an
// unknown dialect is rejected with a list of the known ones.
func TestDialectNames(t *testing.T) {
	for name, want := range map[string]string{"interactive-kbqa:sparkql": "kqapro", "spinach:kqapro": "there is no preset",
		"interactive-kbqx": "interactive-kbqa"} {
		if _, err := Named(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	p, err := Named("interactive-kbqa")
	if err != nil {
		t.Fatal(err)
	}
	if p.Dialogues(&kg.Description{Name: "dbpedia", Statements: kg.Plain}) != nil ||
		p.Dialogues(&kg.Description{Statements: kg.Wikibase}) == nil {
		t.Error("dialogues with Wikidata's IDs are used for another kind of graph")
	}
}
