package tool

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type typedArgs struct {
	KG     string   `json:"kg" about:"the graph"`
	Query  *string  `json:"query" about:"words"`
	Page   *int     `json:"page"`
	Kind   string   `json:"kind" enum:"a,b"`
	Among  []string `json:"among"`
	Nested *struct {
		Subject *string `json:"subject"`
		Object  string  `json:"object"`
	} `json:"nested"`
}

// TestTyped checks that a struct's schema is strict: every argument is required, no others are allowed, and optional
// arguments may be null. It also checks that mistakes in arguments are described.
func TestTyped(t *testing.T) {
	var got typedArgs
	tl := typed(&Tool{Name: "x"}, func(_ context.Context, _ *Env, a typedArgs) (Result, error) {
		got = a
		return Result{Text: "done"}, nil
	})
	const want = `{"additionalProperties":false,"properties":{` +
		`"among":{"items":{"type":"string"},"type":"array"},` +
		`"kg":{"description":"the graph","type":"string"},` +
		`"kind":{"enum":["a","b"],"type":"string"},` +
		`"nested":{"additionalProperties":false,"properties":{"object":{"type":"string"},"subject":{"type":["string","null"]}},` +
		`"required":["subject","object"],"type":["object","null"]},` +
		`"page":{"type":["integer","null"]},` +
		`"query":{"description":"words","type":["string","null"]}},` +
		`"required":["kg","query","page","kind","among","nested"],"type":"object"}`
	if string(tl.Schema) != want {
		t.Errorf("schema\n%s\nwant\n%s", tl.Schema, want)
	}
	deep := strings.Repeat(`{"nested":`, 20_000)
	for _, tt := range []struct{ args, want string }{
		{`{"kg":"w","kind":"a","among":[]}`, ""},
		{`{"kg":"w","kind":"a","among":["x"],"query":null,"page":2,"nested":{"object":"o"}}`, ""},
		{`{"kind":"a","among":[]}`, `"kg" is missing`},
		{`{"kg":" ","kind":"a","among":[]}`, `"kg" is empty`},
		{`{"kg":"w","kind":"c","among":[]}`, `"kind" is "c"; it must be one of a, b`},
		{`{"kg":"w","kind":"a","among":[],"nested":{}}`, `"nested.object" is missing`},
		{`{"kg":"w","kind":"a","among":[],"page":"two"}`, "page"},
		{`{"kg":"w","kind":"a","among":[],"limit":3}`, `member "limit" is unknown`},
		{`[1]`, "array"},
		{`null`, "object"},
		{`{"kg":"w"`, "ends"},
		{`{"kg":"w","kind":"a","among":[]} {}`, "more than one"},
		{deep, ""},
		{`{"kg":"` + strings.Repeat("x", 1<<20) + `"}`, "bytes long"},
	} {
		res, err := tl.Run(t.Context(), nil, json.RawMessage(tt.args))
		cerr := tl.Check(json.RawMessage(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		bad := tt.want != "" || tt.args == deep
		if (cerr != nil) != bad || (res.Failure != "") != bad || bad && !strings.Contains(cerr.Error(), tt.want) ||
			len(res.Text) > 1000 {
			t.Errorf("%.80s: %v, result %.200s; want %q", tt.args, cerr, res.Text, tt.want)
		}
	}
	if got.KG != "w" || got.Page == nil || *got.Page != 2 || got.Nested == nil || got.Nested.Object != "o" {
		t.Errorf("%+v", got)
	}
}

// TestEveryTool checks that each tool has a description and a schema that is an object without additional properties.
func TestEveryTool(t *testing.T) {
	for _, tl := range all {
		var s struct {
			Type       string                     `json:"type"`
			More       *bool                      `json:"additionalProperties"`
			Properties map[string]json.RawMessage `json:"properties"`
		}
		if err := json.Unmarshal(tl.Schema, &s); err != nil || s.Type != "object" || s.More == nil || *s.More {
			t.Errorf("%s: schema %s: %v", tl.Name, tl.Schema, err)
		}
		if tl.Ends() == (tl.Run != nil) {
			t.Errorf("%s: it must either end the work or do something", tl.Name)
		}
	}
}

// TestStrict checks that the strict form of every tool's schema follows OpenAI's rules: every object lists all its
// properties as required, allows no others, and has no keyword that servers do not support. It also checks that a call
// with null for all optional arguments can be parsed.
func TestStrict(t *testing.T) {
	known := []string{"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
	var check func(name string, s map[string]any)
	check = func(name string, s map[string]any) {
		for k := range s {
			if !slices.Contains(known, k) {
				t.Errorf("%s: keyword %q", name, k)
			}
		}
		if items, ok := s["items"].(map[string]any); ok {
			check(name+"[]", items)
		}
		properties, ok := s["properties"].(map[string]any)
		if !ok {
			return
		}
		var required []string
		for _, r := range s["required"].([]any) {
			required = append(required, r.(string))
		}
		slices.Sort(required)
		if d := cmp.Diff(slices.Sorted(maps.Keys(properties)), required); d != "" || s["additionalProperties"] != false {
			t.Errorf("%s is not strict: %v\n%s", name, s["additionalProperties"], d)
		}
		for k, p := range properties {
			check(name+"."+k, p.(map[string]any))
		}
	}
	for _, tl := range all {
		for graphs := 1; graphs <= 2; graphs++ {
			var s map[string]any
			if err := json.Unmarshal(tl.Parameters(true, graphs), &s); err != nil {
				t.Fatal(err)
			}
			check(tl.Name, s)
		}
	}
}

// TestParameters tests the forms of a schema. The strict form requires all arguments; the other form does not require
// optional arguments or allow null. If there is only one graph, there is no argument for it.
func TestParameters(t *testing.T) {
	type args struct {
		KG    *string `json:"kg" about:"graph"`
		Query string  `json:"query"`
		Kind  *string `json:"kind" enum:"a,b"`
		Best  *struct {
			KG *string `json:"kg"`
			At int     `json:"at"`
		} `json:"best"`
	}
	tl := typed(&Tool{Name: "x"}, func(context.Context, *Env, args) (Result, error) { return Result{}, nil })
	for _, tt := range []struct {
		strict bool
		graphs int
		want   string
	}{
		{false, 1, `{"properties":{"best":{"properties":{"at":{"type":"integer"}},"required":["at"],"type":"object"},"kind":{"enum":["a","b"],"type":"string"},"query":{"type":"string"}},"required":["query"],"type":"object"}`},
		{false, 2, `{"properties":{"best":{"properties":{"at":{"type":"integer"},"kg":{"type":"string"}},"required":["kg","at"],"type":"object"},"kg":{"description":"graph","type":"string"},"kind":{"enum":["a","b"],"type":"string"},"query":{"type":"string"}},"required":["kg","query"],"type":"object"}`},
		{true, 1, `{"additionalProperties":false,"properties":{"best":{"additionalProperties":false,"properties":{"at":{"type":"integer"}},"required":["at"],"type":["object","null"]},"kind":{"enum":["a","b",null],"type":["string","null"]},"query":{"type":"string"}},"required":["query","kind","best"],"type":"object"}`},
		{true, 2, `{"additionalProperties":false,"properties":{"best":{"additionalProperties":false,"properties":{"at":{"type":"integer"},"kg":{"type":"string"}},"required":["kg","at"],"type":["object","null"]},"kg":{"description":"graph","type":"string"},"kind":{"enum":["a","b",null],"type":["string","null"]},"query":{"type":"string"}},"required":["kg","query","kind","best"],"type":"object"}`},
	} {
		if got := string(tl.Parameters(tt.strict, tt.graphs)); got != tt.want {
			t.Errorf("strict %v, %d graphs:\n%s\nwant\n%s", tt.strict, tt.graphs, got, tt.want)
		}
	}
	for _, tl := range all { // every schema is an object, in every form
		for _, strict := range []bool{false, true} {
			var s struct {
				Type       string
				Properties map[string]any
			}
			if err := json.Unmarshal(tl.Parameters(strict, 1), &s); err != nil || s.Type != "object" {
				t.Errorf("%s: %v, %+v", tl.Name, err, s)
			}
		}
	}
}
