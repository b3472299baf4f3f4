// Package preset contains the agent's presets, each in a separate folder: tools, protocol, prompts, limits, sampling
// and display settings are all data. Presets can also be read from a user's folder.
//
// A folder contains preset.json, which is a [Preset], and the prompts as templates: act.tmpl, the system message, and
// prune.tmpl, extract.tmpl and report.tmpl if they are used. The shared folder contains what all presets share: how a
// question and its earlier turns are written, and the statement that quoted material is not an instruction. A prompt
// file may also replace a text from texts.tmpl in package protocol or step by defining a text with the same name.
package preset

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/agent/probe"
	"github.com/spinachbot/spinachbot/agent/protocol"
	"github.com/spinachbot/spinachbot/agent/render"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql/variant"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Preset is the data that defines how the agent works. A copy can be modified safely.
type Preset struct {
	Name     string        `json:"name"`
	About    string        `json:"about"`    // one-line help text
	Long     string        `json:"long"`     // description of the preset, including its source
	Protocol string        `json:"protocol"` // text, native or fenced
	Parallel bool          `json:"parallel"` // a native turn may contain several calls
	Strict   bool          `json:"strict"`   // the server must enforce the tools' schemas on native calls
	Policies []string      `json:"policies"` // policies that the preset can be used with, usual policy first
	Tools    []string      `json:"tools"`    // tool names, in the order in which the model sees them
	Limits   Limits        `json:"limits"`
	Rules    Rules         `json:"rules"`
	Sampling Sampling      `json:"sampling"`
	Show     tool.Show     `json:"show"`
	Search   Search        `json:"search"`   // for policies that branch
	Generate tool.Generate `json:"generate"` // for the generate policy
	Feedback Feedback      `json:"feedback"`
	// run variants of the model's final query, and tell it which of them change the result
	Probe    probe.Settings `json:"probe"`
	Examples Examples       `json:"examples"`
	Notes    Notes          `json:"notes"`
	// language code for labels if the question's language is unknown; if empty, the model is asked for the
	// question's language; if "detect", the program guesses it from the question's words
	Language string `json:"language"`

	Exemplars Exemplars `json:"exemplars"`
	// rerun a query that returned nothing without each of its conditions in turn, so that the model learns which one
	// removes the rows; this takes up to 6 more queries
	Diagnose bool `json:"diagnose"`
	Extract  bool `json:"extract"` // when the actions are used up, ask for the best query supported by the steps
	Report   bool `json:"report"`  // ask for a short answer in the asker's language

	texts     *render.Texts
	tools     tool.Set
	proto     protocol.Protocol
	dialogues *exemplar.Set
	judging   bool // see [Preset.Judging]
}

// Limits are the published limits of a run. The caller's limits take precedence.
type Limits struct {
	Counted      int `json:"counted"`       // actions in the state
	Total        int `json:"total"`         // all requested actions
	FormatErrors int `json:"format_errors"` // number of consecutive unreadable turns that ends the run
}

// Sampling contains the parameters for sampling actions. Side tasks use temperature 0.
type Sampling struct {
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"top_p"`
	MaxTokens   int      `json:"max_tokens"` // maximum length of an action
	N           int      `json:"n"`          // samples per action, for policies that choose among them; 0 means 1
	Stop        []string `json:"stop"`       // stop sequences: strings at which the server ends an action
	Seed        *int     `json:"seed"`       // for servers that support reproducible samples
}

//go:embed shared
var shared embed.FS

//go:embed */preset.json */*.tmpl */exemplars
var builtin embed.FS

//go:embed tasks
var tasks embed.FS

// NoteTaker returns the preset that writes notes on what can be learned from finished runs. It does not answer
// questions, so it is not in [Names].
func NoteTaker() *Preset {
	sub, err := fs.Sub(tasks, "tasks/note-taker")
	if err != nil {
		panic(err) // the path is valid
	}
	p, err := Load(sub)
	if err != nil {
		panic(err) // cannot happen: it is embedded in the program, and a test reads it
	}
	return p
}

// Detect is the Language value of presets for which the program guesses the question's language.
const Detect = "detect"

// Names returns the names of the built-in presets, the usual one first.
func Names() []string { return slices.Clone(names()) }

var names = sync.OnceValue(func() []string {
	files, err := fs.Glob(builtin, "*/preset.json")
	if err != nil {
		panic(err) // the pattern is valid
	}
	out := []string{Usual}
	for _, f := range files {
		if name := path.Dir(f); name != Usual {
			out = append(append(out, name), dialects(name)...)
		}
	}
	return out
})

// Usual is the name of the default preset.
const Usual = "spinach"

// Default returns the default preset.
func Default() *Preset {
	p, err := Named(Usual)
	if err != nil {
		panic(err) // cannot happen: it is embedded in the program, and a test reads it
	}
	return p
}

// Named returns a built-in preset. The name may be followed by a colon and a dialect, which determines how the graph
// names entities, as in interactive-kbqa:kqapro.
func Named(name string) (*Preset, error) {
	if names := Names(); !slices.Contains(names, name) {
		return nil, fmt.Errorf("there is no preset %q; the presets are %s", name, strings.Join(names, ", "))
	}
	name, dialect, _ := strings.Cut(name, ":")
	sub, err := fs.Sub(builtin, name)
	if err != nil {
		return nil, err
	}
	data, err := fs.ReadFile(sub, "preset.json")
	if err != nil {
		return nil, err
	}
	p, err := parse(data, sub, dialect)
	if err == nil && dialect != "" {
		p.Name += ":" + dialect
	}
	return p, err
}

// Open reads a preset from a file, which need not be named preset.json, with the prompts in the same folder.
func Open(file string) (*Preset, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the preset cannot be read: %w", err)
	}
	p, err := parse(data, os.DirFS(filepath.Dir(file)), "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

// Load reads a preset from a folder.
func Load(fsys fs.FS) (*Preset, error) {
	data, err := fs.ReadFile(fsys, "preset.json")
	if err != nil {
		return nil, fmt.Errorf("the preset cannot be read: %w", err)
	}
	return parse(data, fsys, "")
}

// parse reads a preset. Unless it is empty, dialect overrides the preset's dialect.
func parse(data []byte, fsys fs.FS, dialect string) (*Preset, error) {
	p := &Preset{Search: usualSearch()}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("this is not a preset: %w", text.JSON(err))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("this is not a preset: there is text after the JSON object")
	}
	var err error
	if p.texts, err = Texts(fsys, "*.tmpl"); err != nil {
		return nil, fmt.Errorf("the prompts cannot be read: %w", err)
	}
	if p.tools, err = tool.Select(p.Tools); err != nil {
		return nil, err
	}
	if p.proto, err = protocol.Named(protocol.Options{Name: p.Protocol, Parallel: p.Parallel, Strict: p.Strict,
		Own: p.texts}); err != nil {
		return nil, err
	}
	if err := p.Rules.check(); err != nil {
		return nil, err
	}
	if err := p.speak(dialect); err != nil {
		return nil, err
	}
	if p.dialogues, err = p.Exemplars.load(fsys, p.Show.Dialect); err != nil {
		return nil, err
	}
	return p, p.check()
}

// speak sets the dialect in which entities are named.
func (p *Preset) speak(dialect string) error {
	if dialect == "" {
		return kbqa.CheckDialect(p.Show.Dialect)
	}
	if p.tools.Find(tool.NodesName) == nil {
		return fmt.Errorf("the preset %s has no tools for the dialect %q", p.Name, dialect)
	}
	p.Show.Dialect = dialect
	p.Rules.Guard = GuardOff // graphs with a dialect have no IDs
	if dialect == "kqapro" && p.Search.Expected == expectedDepth {
		p.Search.Expected = expectedDepthKQA
	}
	return kbqa.CheckDialect(dialect)
}

// check returns an error that lists what is missing, or nil if the preset is complete.
func (p *Preset) check() error {
	var missing []error
	want := func(ok bool, what string) {
		if !ok {
			missing = append(missing, errors.New(what))
		}
	}
	want(p.Name != "", `"name" is empty`)
	want(len(p.Policies) > 0, `"policies" must name at least one policy, such as "linear"`)
	want(slices.ContainsFunc(p.tools, func(t *tool.Tool) bool { return t.Ends() || t.Final }),
		`"tools" lacks a tool that ends the work, such as "stop"`)
	want(slices.ContainsFunc(p.tools, func(t *tool.Tool) bool { return t.Query }),
		`"tools" lacks a tool that runs a query, such as "execute_sparql"`)
	want(p.Show.Rows.Whole >= p.Show.Rows.Head+p.Show.Rows.Tail && p.Show.Rows.Head > 0,
		`"show.rows": "whole" must be at least "head" and "tail" together`)
	want(min(p.Limits.Counted, p.Limits.Total, p.Limits.FormatErrors) >= 0, `a number in "limits" is below 0`)
	want(min(p.Sampling.Temperature, p.Sampling.TopP, float64(p.Sampling.MaxTokens), float64(p.Sampling.N)) >= 0,
		`a number in "sampling" is below 0`)
	want(min(p.Feedback.Rounds, p.Examples.N, p.Notes.N) >= 0,
		`a number in "feedback", "examples" or "notes" is below 0`)
	want(min(p.Probe.Queries, p.Probe.Seconds) >= 0 && (p.Probe.Queries > 0) == (p.Probe.Seconds > 0),
		`"probe": "queries" and "seconds" must both be above 0, or both 0`)
	for _, k := range p.Probe.Off {
		want(slices.Contains(variant.Kinds, k), fmt.Sprintf(`"probe": "off" has %q; the kinds are %v`, k, variant.Kinds))
	}
	if err := p.Search.check(); err != nil {
		missing = append(missing, fmt.Errorf("\"search\": %w", err))
	}
	_, known := tool.LanguageOf(p.Language)
	want(p.Language == "" || p.Language == Detect || known, fmt.Sprintf(`"language": %q is not the code of a language`, p.Language))
	want(p.Examples.Force == "" || p.tools.Find(p.Examples.Force) != nil,
		fmt.Sprintf(`"examples": "force" is %q, which is not one of "tools"`, p.Examples.Force))
	want(min(p.Show.Items, p.Show.Properties, p.Show.Examples, p.Show.Rows.Tail) >= 0,
		`a number in "show" is below 0`)
	want(p.Exemplars.N >= 0, `"exemplars": "n" is below 0`)
	want(slices.Contains([]string{"", KindByWords, KindByModel}, p.Exemplars.Kind),
		`"exemplars": "kind" must be "words" or "model"`)
	need := map[string]bool{"act": true, "prune": p.tools.Find(tool.EntryName) != nil, "extract": p.Extract,
		"report": p.Report, "kind": p.Exemplars.Kind == KindByModel, "feedback": p.Feedback.Rounds > 0,
		"analyze": p.Generate.Analyze}
	for _, n := range []string{"act", "kind", "prune", "extract", "report", "feedback", "analyze"} {
		want(!need[n] || p.texts.Has(n+".tmpl"), "the prompt "+n+".tmpl is missing")
	}
	g := p.Generate
	want(min(g.Examples, g.Classes, g.Few, g.Many, g.Shapes, g.Predicates, g.Entities, g.Seconds) >= 0,
		`a number in "generate" is below 0`)
	want(slices.Contains([]string{"", tool.CheckFirst, tool.CheckAfter}, g.Check),
		`"generate": "check" must be first or after`)
	want(slices.Contains([]string{"", "text", "json"}, g.Format), `"generate": "format" must be text or json`)
	if len(missing) == 0 {
		_, err := p.texts.Write("act.tmpl", p.systemData(Situation{Counted: p.Limits.Counted}))
		want(err == nil, fmt.Sprintf("a prompt is broken: %v", err))
	}
	return errors.Join(missing...)
}

var sharedTexts = render.MustTexts(shared, "shared/*.tmpl")

// Texts parses prompts, together with the prompts that all presets share.
func Texts(fsys fs.FS, patterns ...string) (*render.Texts, error) {
	t, err := sharedTexts.Clone()
	if err != nil {
		return nil, err
	}
	for _, p := range patterns {
		found, err := fs.Glob(fsys, p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("its folder does not contain %s", p)
		}
	}
	if err := t.Add(fsys, patterns...); err != nil {
		return nil, fmt.Errorf("a prompt is broken: %w", err)
	}
	return t, nil
}

// Say renders one of the preset's prompts.
func (p *Preset) Say(name string, data any) string { return p.texts.Say(name, data) }

// Toolset returns the preset's tools.
func (p *Preset) Toolset() tool.Set { return p.tools }

// Speak returns the preset's protocol.
func (p *Preset) Speak() protocol.Protocol { return p.proto }

// WithProtocol returns a copy of the preset that uses a different protocol.
func (p *Preset) WithProtocol(name string, parallel bool) (*Preset, error) {
	out := *p
	out.Protocol, out.Parallel = name, parallel
	var err error
	out.proto, err = protocol.Named(protocol.Options{Name: name, Parallel: parallel, Strict: p.Strict, Own: p.texts})
	return &out, err
}

// SpeakWithoutTools returns the protocol for a server that does not support tool calls.
func (p *Preset) SpeakWithoutTools() protocol.Protocol {
	if p.Protocol == "text" {
		return p.proto
	}
	return protocol.WithoutTools(p.texts, p.tools, p.Show)
}

// Own renders the preset's text with this name. If the preset has no such text, Own returns the result of usual.
func (p *Preset) Own(name string, data any, usual func(name string, data any) string) string {
	if p.texts.Has(name) {
		return p.texts.Say(name, data)
	}
	return usual(name, data)
}

// Situation is what a system message may contain besides the rules: the number of steps, and how many of them came
// before the model's first turn; the graphs, main graph first; notes on the graphs; and worked dialogues.
type Situation struct {
	Counted, Given int
	Graphs         []kg.Description
	Notes          []string
	Exemplars      string // worked dialogues
}

// System renders the system message for actions. The template also has access to the tools' texts and, as Tries, to the
// number of steps remaining.
func (p *Preset) System(s Situation) string {
	return p.Say("act.tmpl", p.systemData(s))
}

func (p *Preset) systemData(s Situation) map[string]any {
	return map[string]any{"Tools": p.tools.Describe(p.Show), "Counted": s.Counted, "Tries": s.Counted - s.Given,
		"Graphs": s.Graphs, "Judging": p.judging, "Notes": s.Notes[:min(len(s.Notes), p.Notes.N)],
		"Dialect": p.Show.Dialect, "Exemplars": s.Exemplars}
}

// Judging returns a copy of the preset for runs that start by judging a post. The copy includes the judgment tool and
// mentions it in its prompt.
func (p *Preset) Judging() *Preset {
	out := *p
	out.tools, out.judging = append(slices.Clone(p.tools), tool.TriageTool), true
	return &out
}

// Judges reports whether runs start by judging a post.
func (p *Preset) Judges() bool { return p.judging }

// leastVaried is the minimum temperature of a varied preset. At lower temperatures, most models' samples hardly differ.
const leastVaried = 0.7

// Varied returns a copy of the preset for the nth additional attempt at a question; n must be at least 1. The copy has
// a different seed, a temperature of at least 0.7, and the tools in a different order, since models prefer what they
// read first.
func (p *Preset) Varied(n int) *Preset {
	out := *p
	seed := n
	if p.Sampling.Seed != nil {
		seed += *p.Sampling.Seed
	}
	out.Sampling.Seed = &seed
	out.Sampling.Temperature = max(p.Sampling.Temperature, leastVaried)
	k := n % max(1, len(p.tools))
	out.tools = append(slices.Clone(p.tools[k:]), p.tools[:k]...)
	return &out
}
