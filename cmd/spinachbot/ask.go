package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/store"
)

func askCommand(e *env) *cobra.Command {
	c := newCmdline(e, "ask [flags] QUESTION", "ask one question and watch the steps",
		"Answers one question; its steps are shown as they happen. The trajectory is kept in DATA_DIR/trajectories.\nExit status 3: no answer was found; 4: the service of the model or of the graph failed.",
		config.Data, config.Model, config.Limits, config.Graph)
	asJSON := c.fs.Bool("json", false, "one JSON object a line: step, rollback, and last answer or no_answer")
	graphName := c.fs.String("kg", "wikidata", "knowledge `graph`: wikidata (SPARQL_ENDPOINT) or embedded (the built-in slice)")
	preset := c.fs.String("preset", "spinach", "which published system's way: spinach")
	history := c.fs.String("history", "", "`file` with earlier turns: a trajectory, or JSON lines {\"question\":…,\"sparql\":…,\"report\":…}")
	record := c.fs.String("record", "", "write all exchanges with model and graph to this new `file`, secrets scrubbed")
	replay := c.fs.String("replay", "", "answer from such a `file`, with no network; question and settings must be those of the recording")
	language := c.fs.String("language", "", "language `code` of the question; detected when not given")
	return c.command(func(ctx context.Context, rest []string) int {
		question := strings.TrimSpace(strings.Join(rest, " "))
		if question == "-" {
			b, err := io.ReadAll(io.LimitReader(e.stdin, 64<<10))
			if err != nil {
				return fail(e, err)
			}
			question = strings.TrimSpace(string(b))
		}
		switch {
		case question == "":
			return misuse(e, "ask: what is the question? spinachbot ask \"Which countries border Germany?\"")
		case *preset != "spinach":
			return misuse(e, "ask: there is no preset %q; this version has spinach", *preset)
		case *graphName != "wikidata" && *graphName != "embedded":
			return misuse(e, "ask: there is no graph %q; this version has wikidata and embedded", *graphName)
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		lg := c.logger(slog.LevelWarn)
		wrap, closeTape, err := tape(cfg, *record, *replay)
		if err != nil {
			return misuse(e, "ask: %v", err)
		}
		defer func() {
			if cerr := closeTape(); cerr != nil {
				lg.Error("the recording is not complete", "error", cerr)
			}
		}()
		if !cfg.HasModel() {
			return misuse(e, "ask: %v", errNoModel)
		}
		q := agent.Question{Text: question, Language: *language}
		if q.History, err = readHistory(e, *history); err != nil {
			return misuse(e, "ask: %v", err)
		}
		dir, err := trajectoryDir(cfg.DataDir)
		if err != nil {
			return fail(e, err)
		}
		st, err := store.Open(ctx, filepath.Join(cfg.DataDir, ledgerFile))
		if err != nil {
			return fail(e, err)
		}
		defer st.Close()
		graph, labeler, err := askGraph(lg, *graphName, cfg, st, e.now, wrap)
		if err != nil {
			return misuse(e, "ask: %v", err)
		}
		model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, st, e.now, wrap)
		if err != nil {
			return misuse(e, "ask: %v", err)
		}
		q.ID = "ask"
		file, err := event.Create(trajectoryPath(dir, q.ID, e.now()))
		if err != nil {
			return fail(e, err)
		}
		show := &teller{w: e.stdout, json: *asJSON, next: file}
		engine := agent.New(lg, model, graph, labeler, e.now, agent.Options{Diagnose: true})
		allowance := llm.NewAllowance(llm.Limits{USD: cfg.RequestUSD})
		ctx = llm.WithAllowance(ctx, allowance)
		out, err := engine.Ask(ctx, q, show, runLimits(cfg))
		if cerr := file.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return fail(e, err)
		}
		out.Usage = allowance.Used() // failed calls that were billed included
		return tell(e, out, *asJSON, *graphName)
	})
}

// askGraph gives the graph that --kg names.
func askGraph(lg *slog.Logger, name string, cfg *config.Config, st *store.Store, now func() time.Time, wrap wrapper) (agent.Graph, agent.Labeler, error) {
	if name == "embedded" {
		g, err := builtinGraph(now)
		return g, g, err
	}
	g, err := newGraph(lg, cfg, st, wrap)
	return g, g, err
}

// readHistory reads earlier turns: from a trajectory (its question, its last query and report are one turn) or from JSON lines with a turn each.
func readHistory(e *env, path string) ([]agent.Turn, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readInput(e, path)
	if err != nil {
		return nil, fmt.Errorf("the history cannot be read: %w", err)
	}
	if events, terr := event.Read(strings.NewReader(string(data))); terr == nil && len(events) > 0 {
		return turnsOf(events), nil
	}
	var turns []agent.Turn
	sc := bufio.NewScanner(strings.NewReader(string(data)))
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		var t agent.Turn
		if err := json.Unmarshal(sc.Bytes(), &t); err != nil || t.Question == "" {
			return nil, fmt.Errorf("the history's line %d is no turn: want {\"question\":\"…\",\"sparql\":\"…\",\"report\":\"…\"}", n)
		}
		turns = append(turns, t)
	}
	return turns, sc.Err()
}

// readInput reads a file, or standard input for "-".
func readInput(e *env, path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(e.stdin)
	}
	return os.ReadFile(path)
}

// turnsOf makes turns of a trajectory: those it had itself, and its own.
func turnsOf(events []agent.Event) []agent.Turn {
	var turns []agent.Turn
	var t agent.Turn
	for _, ev := range events {
		switch ev.Event {
		case "start":
			if ev.Question != nil {
				turns, t = ev.Question.History, agent.Turn{Question: ev.Question.Text}
			}
		case "final":
			t.SPARQL = ev.SPARQL
		case "end":
			t.Report = ev.Report
		}
	}
	t.Steps = event.Steps(events)
	return append(turns, t)
}

// teller shows events as they happen and passes them on.
type teller struct {
	w    io.Writer
	json bool
	next agent.Recorder
}

// Record shows the event, once it is safely in the trajectory.
func (t *teller) Record(ctx context.Context, ev agent.Event) error {
	if err := t.next.Record(ctx, ev); err != nil {
		return err
	}
	switch {
	case t.json:
		t.line(ev)
	case ev.Event == "step":
		s := ev.Step
		fmt.Fprintf(t.w, "%d. %s\n   %s(%s)\n%s\n\n", s.N, clean(s.Thought), s.Action, indent(s.Argument, "   "), indent("   "+s.Observation, "   "))
	case ev.Event == "rollback":
		fmt.Fprintf(t.w, "   refused (%s); the last step kept is %d\n\n", ev.Reason, *ev.To)
	}
	return nil
}

func (t *teller) line(ev agent.Event) {
	switch ev.Event {
	case "step":
		s := ev.Step
		writeJSON(t.w, map[string]any{"event": "step", "n": s.N, "thought": s.Thought, "action": s.Action, "argument": s.Argument, "observation": s.Observation, "ms": s.MS})
	case "rollback":
		writeJSON(t.w, map[string]any{"event": "rollback", "to": *ev.To, "reason": ev.Reason})
	}
}

func writeJSON(w io.Writer, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a closed standard output ends the program by SIGPIPE
}

// tell prints how the run ended and returns the exit code.
func tell(e *env, out *agent.Outcome, asJSON bool, graph string) int {
	a := out.Answer
	if asJSON {
		m := map[string]any{"report": out.Report, "confidence": out.Confidence, "steps": len(out.Steps), "usage": out.Usage, "kg": graph}
		if a == nil {
			m["event"], m["reason"], m["detail"] = "no_answer", out.Reason, out.Detail
			writeJSON(e.stdout, m)
			return noAnswerStatus(e, out.Ending)
		}
		m["event"], m["sparql"], m["result"], m["rows"] = "answer", a.SPARQL, a.Table, len(a.Table.Rows)
		writeJSON(e.stdout, m)
		return exitOK
	}
	if out.Report != "" {
		fmt.Fprintln(e.stdout, clean(out.Report))
	}
	fmt.Fprintf(e.stdout, "\n%d steps, %d calls of the model, %d tokens in, %d out", len(out.Steps), out.Usage.Calls, out.Usage.InputTokens, out.Usage.OutputTokens)
	if out.Usage.USD > 0 {
		fmt.Fprintf(e.stdout, ", %.4f USD", out.Usage.USD)
	}
	fmt.Fprintln(e.stdout)
	if a == nil {
		fmt.Fprintf(e.stdout, "no answer: %s %s\n", out.Reason, clean(out.Detail))
		return noAnswerStatus(e, out.Ending)
	}
	fmt.Fprintf(e.stdout, "\n%s\n\n%s", clean(a.SPARQL), plainTable(a, 20))
	return exitOK
}

// noAnswerStatus returns the exit status of a run without an answer. A service that failed is named on standard error, too.
func noAnswerStatus(e *env, end agent.Ending) int {
	if !end.ServiceFailed() {
		return exitNoAnswer
	}
	fmt.Fprintf(e.stderr, "spinachbot: a service failed, so nothing is known about the question: %s\n", clean(end.Detail))
	return exitService
}

// plainTable shows the first rows of a result, labels beside numbers.
func plainTable(a *agent.Answer, most int) string {
	t := a.Table
	if t.Ask {
		return fmt.Sprintln(t.Boolean)
	}
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(t.Vars, "\t"))
	for i, row := range t.Rows {
		if i == most {
			break
		}
		for j, cell := range row {
			if j > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(clean(cellText(a, cell)))
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%d rows, %s, %s\n", len(t.Rows), a.Endpoint, a.RanAt.UTC().Format("2006-01-02 15:04 UTC"))
	return b.String()
}

// clean drops what could steer a terminal or show a text in another order: texts come from models, graphs and strangers.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		if r == '\n' || r == '\t' || (r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0)) {
			return r
		}
		return -1
	}, s)
}

func indent(s, with string) string {
	return strings.ReplaceAll(strings.TrimRight(clean(s), "\n"), "\n", "\n"+with)
}

// cellText is a cell for people: an entity's label with its number, anything else's text.
func cellText(a *agent.Answer, cell rdf.Term) string {
	if id := rdf.EntityID(cell.Value); cell.IsIRI() && id != "" {
		if label := a.Labels[id]; label != "" {
			return label + " (" + id + ")"
		}
		return id
	}
	return cell.Value
}
