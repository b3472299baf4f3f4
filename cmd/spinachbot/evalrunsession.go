package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/tool"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/evalrun"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/graphs"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/leader"
	"github.com/spinachbot/spinachbot/internal/lesson"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/store"
	"github.com/spinachbot/spinachbot/internal/text"
)

// evalSession is one process's part of a run. It is created from the run's settings.
type evalSession struct {
	e      *env
	lg     *slog.Logger
	cfg    *config.Config
	flags  *evalRunFlags
	opts   agent.Options
	items  []dataset.Item
	chosen map[string]bool
	hash   string // hash of the benchmark

	settings evalrun.Settings
	store    *store.Store // nil if only services on this machine are called
	shared   *store.Store // nil unless --workers is set

	sharedRun string // name of the run in the queue

	wrap     wrapper
	account  *evalrun.Account
	sources  agent.Sources
	script   *llm.Script
	model    agent.Model                  // the configured or scripted model; nil if there is none
	recorded map[string]agent.RecordedRun // recorded runs by question, with white space collapsed
	replay   *evalrun.Recording           // a finished run
	closers  []func() error
	book     *lesson.Book // including the lessons being tried
}

func (s *evalSession) close() {
	for i := len(s.closers) - 1; i >= 0; i-- {
		if err := s.closers[i](); err != nil {
			s.lg.Error("some resources could not be closed", "error", err)
		}
	}
}

func (s *evalSession) run(ctx context.Context) int {
	if err := s.readModels(); err != nil {
		return fail(s.e, fmt.Errorf("eval run: %w", err))
	}
	if s.replay == nil && s.recorded == nil && s.script == nil && !s.cfg.HasModel() {
		return misuse(s.e, "eval run: %v; or specify a file with --script or --recorded", errNoModel)
	}
	if err := s.describe(); err != nil {
		return fail(s.e, err)
	}
	var asOf time.Time
	if s.flags.asOf != "" {
		asOf, _ = time.Parse(time.RFC3339, s.flags.asOf) // checked before
	}
	shared, asOf, err := s.share(ctx, asOf)
	if err != nil {
		return fail(s.e, err)
	}
	info, err := evalrun.Begin(s.flags.out, s.settings, asOf, evalrun.Session{Started: s.e.now(), Version: version()})
	if errors.Is(err, evalrun.ErrOtherSettings) {
		return misuse(s.e, "eval run: %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
	} else if err != nil {
		return fail(s.e, err)
	}
	if err := errors.Join(s.openStore(ctx), s.openGraph(ctx, info.AsOf)); err != nil {
		return fail(s.e, err)
	}
	if s.sources, err = withNotes(s.book, s.sources); err != nil {
		return fail(s.e, fmt.Errorf("eval run: %w", err))
	}
	pool, err := s.flags.examples.read(ctx, s.e, s.lg, examples.Hold(s.items))
	if err != nil {
		return fail(s.e, fmt.Errorf("eval run: %w", err))
	}
	if s.replay == nil { // the recording contains the notes that were shown
		missed(s.e, s.opts.Preset, pool)
	}
	if s.opts.Examples = s.flags.examples.force; pool != nil {
		s.sources = withExamples(s.sources, pool)
	}
	if s.configured() {
		if err := byMeaning(s.lg, s.e, s.cfg, pool, s.account, s.store, s.wrap); err != nil {
			return fail(s.e, fmt.Errorf("eval run: %w", err))
		}
	}
	if err := s.openModel(ctx); err != nil {
		return fail(s.e, err)
	}
	p := console.NewLine(s.e.screen(), s.e.now)
	sum, err := evalrun.Run(ctx, evalrun.Config{
		Log: s.lg, Dir: s.flags.out, Info: info, Items: s.items, Chosen: s.chosen, New: s.asker, Model: s.modelFor,
		Sources: s.sources,
		Replay:  s.replay, Limits: runLimits(s.cfg), Language: s.flags.language, Golden: s.flags.golden,
		SkipUnscorable: s.flags.skip, UntilF1: s.flags.untilF1, UntilBy: evalrun.MetricKBQA,
		Jobs: s.flags.jobs, Tries: s.flags.tries, ItemTime: s.flags.itemTime, Shared: shared,
		Forms: s.flags.alsoIn(), Score: evalrun.Metrics, Now: s.e.now, Sleep: systemClock{}.Sleep, Account: s.account,
		Progress: func(pr evalrun.Progress) { p.Show(pr.String()) },
	})
	p.End()
	if sum != nil {
		if s.flags.json {
			show.JSON(s.e.stdout, sum)
		} else {
			sum.WriteText(s.e.stdout)
		}
	}
	switch {
	case errors.Is(err, evalrun.ErrBudget):
		return fail(s.e, fmt.Errorf("%w; to continue, run the same command with a higher --usd-limit (or another day, for DAILY_USD_LIMIT)", err))
	case err != nil:
		return fail(s.e, err)
	case len(sum.FailedIDs) > 0:
		status := fail(s.e, fmt.Errorf("%d items failed because of a service; run the same command again to retry them",
			len(sum.FailedIDs)))
		if len(sum.FailedIDs) == sum.Items {
			return exitService
		}
		return status
	}
	return exitOK
}

// share returns how the items are shared with other processes, or nil if they are not. It also returns the time that
// NOW() returns, which the first process determines.
func (s *evalSession) share(ctx context.Context, asOf time.Time) (*evalrun.Shared, time.Time, error) {
	if !s.flags.workers {
		return nil, asOf, nil
	}
	st, err := openLedger(ctx, s.cfg)
	if err != nil {
		return nil, asOf, err
	}
	s.shared, s.closers = st, append(s.closers, st.Close)
	folder, err := filepath.Abs(s.flags.out)
	if err != nil {
		return nil, asOf, err
	}
	run := "eval " + filepath.Base(folder) + " " + s.settings.Fingerprint()
	s.sharedRun = run
	if asOf.IsZero() {
		asOf = s.e.now().UTC()
		err = st.Change(ctx, run, func(first []byte) ([]byte, error) {
			if first == nil {
				return asOf.MarshalText()
			}
			return nil, asOf.UnmarshalText(first)
		})
	}
	return &evalrun.Shared{Queue: st, Run: run, Holder: leader.Holder(), Lease: 30 * time.Second,
		Poll: 500 * time.Millisecond}, asOf, err
}

func (s *evalSession) readModels() (err error) {
	if s.flags.script != "" {
		if s.script, err = readScript(s.flags.script); err != nil {
			return err
		}
	}
	replay := s.flags.recorded
	if info, serr := os.Stat(replay); replay != "" && serr == nil && info.IsDir() {
		if s.replay, err = evalrun.OpenRecording(replay); err != nil {
			return err
		}
		if s.script != nil {
			return usageError{errors.New("a recorded run also replays the graph: it cannot be used with --script")}
		}
		replay = ""
	}
	if replay != "" {
		if s.recorded, err = readRecordedRuns(replay); err != nil {
			return err
		}
		if s.recorded != nil {
			replay = ""
		}
	}
	wrap, closeTape, err := tape(s.cfg, s.flags.record, replay)
	if err != nil {
		return err
	}
	s.wrap, s.closers = wrap, append(s.closers, closeTape)
	return nil
}

// readRecordedRuns reads a log of the SPINACH evaluation. It returns nil if the file is a tape.
func readRecordedRuns(path string) (map[string]agent.RecordedRun, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(f, first); err != nil || first[0] != '[' {
		return nil, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	runs, err := agent.ReadRecordedRuns(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := make(map[string]agent.RecordedRun, len(runs))
	for _, r := range runs {
		out[text.Fold(r.Question)] = r
	}
	return out, nil
}

// describe records the settings that affect the run's results.
func (s *evalSession) describe() error {
	if err := s.openLessons(); err != nil {
		return fmt.Errorf("eval run: --lessons: %w", err)
	}
	f, cfg := s.flags, s.cfg
	limits := runLimits(cfg)
	preset, err := f.preset.fingerprint(s.opts.Preset)
	if err != nil {
		return err
	}
	s.settings = evalrun.Settings{
		"preset": preset, "policy": s.opts.Policy, "benchmark": s.hash, "language": f.language,
		"limits": fmt.Sprintf("time %s, $%g an item", limits.Time, limits.USD),
	}
	s.describeParts()
	if err := s.describeNotes(); err != nil {
		return err
	}
	if solved, err := f.examples.fingerprint(); err != nil {
		return err
	} else if solved != "" {
		if s.configured() && hasEmbeddings(cfg) {
			solved += ", ranked by " + cfg.OpenAIEmbeddingModel
		}
		s.settings["examples"] = solved
	}
	if tries := f.preset.tries(s.opts); tries != "" {
		s.settings["tries"] = tries
	}
	if f.golden {
		s.settings["golden-entities"] = "yes"
	}
	if f.skip {
		s.settings["skip-unscorable"] = "yes"
	}
	switch {
	case s.replay != nil:
		s.settings["graph"] = "recorded run " + s.replay.Info.Fingerprint
	case len(f.data) > 0:
		var hashes []string
		for _, path := range f.data {
			h, err := hashFile(path)
			if err != nil {
				return fmt.Errorf("cannot read the graph's data: %w", err)
			}
			hashes = append(hashes, h)
		}
		s.settings["graph"] = fmt.Sprintf("%s, query-timeout %s", strings.Join(hashes, " "), f.timeout)
	case f.kg == graphs.Embedded:
		s.settings["graph"] = fmt.Sprintf("built-in slice, query-timeout %s", f.timeout)
	case f.kg != graphs.Main:
		s.settings["graph"] = f.kg
		if f.hasMain() {
			s.settings["graph"] += ", wikidata at " + politehttp.ShownURL(cfg.SPARQLEndpoint)
		}
	default:
		s.settings["graph"] = politehttp.ShownURL(cfg.SPARQLEndpoint)
		if cfg.SPARQLFallback != "" {
			s.settings["graph"] += " then " + politehttp.ShownURL(cfg.SPARQLFallback)
		}
	}
	var models []string
	for _, part := range []struct{ name, path string }{{"recorded", f.recorded}, {"scripted", f.script}} {
		if part.path == "" {
			continue
		}
		if s.replay != nil && part.path == f.recorded {
			models = append(models, s.settings["graph"])
			continue
		}
		h, err := hashFile(part.path)
		if err != nil {
			return err
		}
		models = append(models, part.name+" "+h)
	}
	if models == nil {
		models = []string{cfg.OpenAIModel, "at", cfg.OpenAIBaseURL, "sampling", cfg.OpenAISampling}
	}
	s.settings["model"] = strings.Join(models, " ")
	return nil
}

// describeParts adds the settings for worked dialogues, branching searches, and the time limit per item.
func (s *evalSession) describeParts() {
	if d := s.flags.itemTime; d > 0 {
		s.settings["limits"] += fmt.Sprintf(", %s for all attempts at it", d)
	}
	if x := s.opts.Preset.Exemplars; x.N > 0 {
		s.settings["question kind"] = x.Kind
	}
	if !search.Trees(s.opts.Policy) {
		return
	}
	s.settings["tree"] = s.opts.Preset.Search.String()
	if f1 := s.flags.untilF1; f1 > 0 {
		fmt.Fprintln(s.e.stderr, "spinachbot: the answers of this run are chosen by gold: its scores say nothing about a model")
		s.settings["until-f1"] = fmt.Sprintf("%g by %s: answers are chosen by gold", f1, evalrun.MetricKBQA)
	}
	if s.cfg.OpenAIJudgeModel != "" {
		s.settings["judge"] = s.cfg.OpenAIJudgeModel
	}
}

func (s *evalSession) configured() bool {
	return s.script == nil && s.recorded == nil && s.replay == nil
}

func (s *evalSession) openLessons() (err error) {
	ids := strings.FieldsFunc(s.flags.lessons, func(r rune) bool { return r == ',' || r == ' ' })
	if s.book, err = openLessons(s.e, s.cfg.DataDir).Try(ids); err != nil {
		return err
	}
	return s.flags.examples.learned(s.book)
}

// describeNotes adds to the settings the notes that may be shown.
func (s *evalSession) describeNotes() error {
	if s.opts.Preset.Notes.N == 0 {
		return nil
	}
	names := strings.Split(strings.ReplaceAll(s.flags.kg, graphs.Embedded, graphs.Main), ",")
	if len(s.flags.data) > 0 {
		names = []string{graphs.Main, graphs.Data} // files that are read later determine which notes are shown
	}
	var all []string
	for _, name := range names {
		notes, err := s.book.For(strings.TrimSpace(name))
		if err != nil {
			return err
		}
		all = append(all, notes...)
	}
	if len(all) > 0 {
		s.settings["notes"] = hashOf([]byte(strings.Join(all, "\n")))
	}
	return nil
}

// openStore opens the spending accounts: always the run's, and also the day's if a paid model or a public endpoint is
// used.
func (s *evalSession) openStore(ctx context.Context) (err error) {
	var days llm.DayStore = llm.NewMemoryDays()
	if s.local() {
		s.account, err = evalrun.OpenAccount(s.flags.out, s.flags.usd, days)
	} else {
		if err := os.MkdirAll(s.cfg.DataDir, 0o700); err != nil {
			return err
		}
		if s.store, err = openLedger(ctx, s.cfg); err != nil {
			return err
		}
		s.closers = append(s.closers, s.store.Close)
		s.account, err = evalrun.OpenAccount(s.flags.out, s.flags.usd, s.store)
	}
	if err == nil && s.shared != nil {
		s.account.Share(s.shared, s.sharedRun)
	}
	if err == nil {
		s.closers = append(s.closers, s.account.Close)
	}
	return err
}

// local reports whether the run uses only services on this machine.
func (s *evalSession) local() bool {
	return s.replay != nil || (len(s.flags.data) > 0 || s.flags.kg == graphs.Embedded) && (s.script != nil ||
		s.recorded != nil)
}

// openGraph opens the graph. In an in-memory graph, NOW() returns the run's own time and RAND() a constant, so a run
// can be repeated exactly.
func (s *evalSession) openGraph(ctx context.Context, asOf time.Time) error {
	opts := embedded.Options{Name: "built-in slice of Wikidata", Now: func() time.Time { return asOf },
		Random:  func() uint64 { return 0x9E3779B97F4A7C15 },
		Timeout: s.flags.timeout}
	if s.replay != nil {
		s.sources = agent.Wikibase(s.replay.Graph())
		return nil
	}
	o, err := newGraphs(s.lg, s.e, s.cfg, s.budgets(), s.wrap)
	if err != nil {
		return err
	}
	s.opts.Memory = tool.NewMemory(s.e.now)
	o.Builtin = func() (*embedded.Graph, error) { return sandbox.Graph(opts) }
	if len(s.flags.data) == 0 {
		s.sources, err = o.Open(ctx, s.flags.kg)
		return err
	}
	opts.Name = "the graph of " + filepath.Base(s.flags.data[0])
	g, err := embedded.Load(opts, s.flags.data...)
	if err != nil {
		return err
	}
	source, err := o.Data(ctx, g, false)
	if err != nil {
		return err
	}
	s.sources = agent.Sources{*source}
	return nil
}

// budgets returns the store that tracks endpoint budgets, which is the session's store if the session has one.
func (s *evalSession) budgets() remote.BudgetStore {
	if s.store == nil {
		return remote.NewMemoryStore()
	}
	return s.store
}

// openModel starts the scripted model or creates a client for the configured one.
func (s *evalSession) openModel(ctx context.Context) error {
	settings, daily := modelSettings(s.cfg), s.cfg.DailyUSD
	switch {
	case s.script != nil:
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("the scripted model cannot listen: %w", err)
		}
		server := &http.Server{Handler: s.script.Handler(), ReadHeaderTimeout: 10 * time.Second,
			ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
		go func() { _ = server.Serve(l) }() // ends with Close
		s.closers = append(s.closers, server.Close)
		settings.BaseURL, settings.Model, settings.APIKey, daily = "http://"+l.Addr().String()+"/v1", llm.ScriptModel,
			llm.Secret{}, 0
	case s.recorded != nil, s.replay != nil:
		return nil // no model answers questions that are not in the recording
	}
	if s.store != nil && s.script == nil {
		settings.Pauses = s.store
	}
	client, err := newModel(s.lg, settings, daily, s.account, s.e.now, s.wrap)
	if err != nil {
		return err
	}
	s.model = client
	return nil
}

// asker returns an agent for one attempt at one item.
func (s *evalSession) asker(p evalrun.Parts) ask.Asker {
	opts := s.opts
	opts.Right = p.Right
	return agent.New(p.Log, p.Model, p.Sources, p.Now, opts)
}

// modelFor returns the model for one attempt at an item: the recorded model if the recording has the question, and
// otherwise the scripted or configured model.
func (s *evalSession) modelFor(it dataset.Item) agent.Model {
	if run, ok := s.recorded[text.Fold(it.Question)]; ok {
		return agent.NewRecordedModel(run)
	}
	return s.model
}
