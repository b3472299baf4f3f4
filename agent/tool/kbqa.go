package tool

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// The actions of Interactive-KBQA (Xiong et al., ACL 2024, section 3.3 and appendix A.2).
const (
	NodesName    = "SearchNodes"
	PatternsName = "SearchGraphPatterns"
	RunName      = "ExecuteSPARQL"
	DoneName     = "Done"
)

// kbqaShown is the number of hits that SearchNodes and SearchGraphPatterns show (appendix A.2.2).
const kbqaShown = 10

type nodesArgs struct {
	Name string `json:"name" about:"the name of the thing"`
}

type patternsArgs struct {
	SPARQL   *string `json:"sparql,omitempty" about:"SELECT ?e WHERE { … }: the entities whose surroundings are wanted; left out: predicates of the whole graph"`
	Semantic *string `json:"semantic,omitempty" about:"what the predicate that is looked for means, in words"`
}

type runArgs struct {
	SPARQL string `json:"sparql" about:"a SPARQL query"`
}

var nodesTool = kbqaTool(typed(&Tool{Name: NodesName, Text: "kbqa_nodes.md"},
	func(ctx context.Context, env *Env, a nodesArgs) (Result, error) { return env.searchNodes(ctx, a.Name) }),
	"name")

var patternsTool = kbqaTool(typed(&Tool{Name: PatternsName, Text: "kbqa_patterns.md"},
	func(ctx context.Context, env *Env, a patternsArgs) (Result, error) {
		return env.searchPatterns(ctx, or(a.SPARQL), or(a.Semantic))
	}), "sparql", "semantic")

var runTool = kbqaTool(typed(&Tool{Name: RunName, Text: "kbqa_execute.md", Query: true},
	func(ctx context.Context, env *Env, a runArgs) (Result, error) { return env.runNamed(ctx, a.SPARQL) }),
	"sparql")

var doneTool = ending(&Tool{Name: DoneName, Text: "kbqa_done.md",
	FromText: func(string) json.RawMessage { return json.RawMessage("{}") },
	Show:     func(json.RawMessage) string { return "" },
}, func(struct{}) End { return End{} })

var kbqaTools = Set{nodesTool, patternsTool, runTool, doneTool}

// or returns an optional string, or "" if it is missing.
func or(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// kbqaTool completes a tool whose calls use Python syntax, with the named arguments in the given order.
func kbqaTool(t *Tool, names ...string) *Tool {
	t.Raw = true
	t.FromText = func(text string) json.RawMessage {
		if args := json.RawMessage(strings.TrimSpace(text)); t.Check(args) == nil { // written as JSON
			return args
		}
		return encoded(kbqa.ReadArguments(text, names))
	}
	t.Show = func(args json.RawMessage) string { return kbqa.WriteArguments(args, names) }
	if t.Query {
		t.Asks = func(args json.RawMessage) (string, string) {
			a, err := argumentsOf[runArgs](args)
			if err != nil {
				return "", ""
			}
			return a.SPARQL, ""
		}
	}
	t.Key = func(args json.RawMessage) string {
		var m map[string]string
		if json.Unmarshal(args, &m) != nil {
			return string(args)
		}
		if t.Query {
			return Dialect{}.NormalForm(m["sparql"])
		}
		return render.Fold(t.Show(args))
	}
	return t
}

// kbqaFailed returns a failure in Interactive-KBQA's form, which starts with "Error".
func (env *Env) kbqaFailed(ctx context.Context, err error) (Result, error) {
	res, err := env.failed(ctx, err)
	if err == nil {
		res.Text = "Error: " + res.Text
	}
	return res, err
}

// kbqaRefused returns the result of a call that cannot be run as written.
func kbqaRefused(name string, data any) Result {
	return Result{Text: "Error: " + say(name, data), Failure: kg.QueryFailed}
}
