package bot_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/bottest"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/store"
)

const (
	page     = "Wikidata:Request a query"
	stopPage = "User:SpinachBot/run"
	account  = "SpinachBot"
)

// clock is set manually until run is called; then it advances by itself.
type clock struct {
	mu    sync.Mutex
	t     time.Time
	began time.Time // zero if the clock is set manually
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.began.IsZero() {
		return c.t.Add(time.Since(c.began))
	}
	return c.t
}

// run keeps the clock in step with time.Now, which returns fake time in a synctest bubble.
func (c *clock) run() { c.began = time.Now() }

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// fakeWiki is a wiki with MediaWiki's rules for section edits. An edit replaces the section in the base revision, and
// the result is merged line by line with later edits. Overlapping or adjacent changes are an edit conflict.
type fakeWiki struct {
	clock   *clock
	skew    time.Duration // how far the wiki's clock is ahead of clock
	pages   map[string][]bot.Revision
	summary map[int64]string // edit summaries of our own edits, by revision
	hidden  map[int64]string // parts of a revision that an administrator hid: "user", "summary", "text"
	rev     int64
	saves   int
	lost    bool       // a save succeeds but its response is lost
	late    bool       // a save is delayed
	pending []bot.Edit // delayed saves
	refuse  error      // error that Save returns
	deaf    error      // error that Page returns for the stop page
	noEdits bool       // OwnEdits returns nothing
	onRead  func(title string)
	onSave  func()
}

func (w *fakeWiki) now() time.Time { return w.clock.now().Add(w.skew) }

func newWiki(c *clock) *fakeWiki {
	w := &fakeWiki{clock: c, pages: map[string][]bot.Revision{}, summary: map[int64]string{},
		hidden: map[int64]string{}}
	w.put(page, "Header with [[User:Nobody|Nobody]] 10:00, 1 January 2020 (UTC)\n")
	return w
}

func (w *fakeWiki) put(title, text string) int64 {
	w.rev++
	w.pages[title] = append(w.pages[title], bot.Revision{Title: title, ID: w.rev, Text: strings.TrimRight(text, "\n"),
		Timestamp: w.now()})
	return w.rev
}

func (w *fakeWiki) text() string { return w.textOf(page) }

func (w *fakeWiki) textOf(title string) string {
	revs := w.pages[title]
	if len(revs) == 0 {
		return ""
	}
	return revs[len(revs)-1].Text
}

// edit changes the page on behalf of someone else.
func (w *fakeWiki) edit(old, new string) {
	if !strings.Contains(w.text(), old) {
		panic(fmt.Sprintf("%q is not on the page:\n%s", old, w.text()))
	}
	w.put(page, strings.Replace(w.text(), old, new, 1))
}

func (w *fakeWiki) post(heading, text, user string) { w.postOn(page, heading, text, user) }

func (w *fakeWiki) postOn(page, heading, text, user string) {
	w.put(page, w.textOf(page)+"\n\n== "+heading+" ==\n"+text+" "+w.sign(user)+"\n")
}

func (w *fakeWiki) sign(user string) string {
	return fmt.Sprintf("[[User:%s|%s]] ([[User talk:%s|talk]]) %s", user, user, user,
		w.now().UTC().Format("15:04, 2 January 2006 (UTC)"))
}

func (w *fakeWiki) Page(_ context.Context, title string) (*bot.Revision, error) {
	if w.onRead != nil {
		w.onRead(title)
	}
	if title == stopPage && w.deaf != nil {
		return nil, w.deaf
	}
	revs := w.pages[title]
	if len(revs) == 0 {
		return &bot.Revision{Title: title, Missing: true, Now: w.now()}, nil
	}
	r := revs[len(revs)-1]
	r.Now = w.now()
	return &r, nil
}

func (w *fakeWiki) Save(_ context.Context, e bot.Edit) (int64, error) {
	w.saves++
	if w.onSave != nil {
		w.onSave()
	}
	if w.refuse != nil {
		return 0, w.refuse
	}
	if !w.clock.now().Before(e.SendBefore) {
		return 0, bot.ErrStale
	}
	if w.late {
		w.late = false
		w.pending = append(w.pending, e)
		return 0, fmt.Errorf("no answer: %w", bot.ErrUnknown)
	}
	rev, err := w.apply(e)
	if w.lost && err == nil {
		w.lost = false
		return 0, fmt.Errorf("no answer: %w", bot.ErrUnknown)
	}
	return rev, err
}

// arrive applies the delayed saves.
func (w *fakeWiki) arrive() {
	for _, e := range w.pending {
		w.apply(e)
	}
	w.pending = nil
}

func (w *fakeWiki) apply(e bot.Edit) (int64, error) {
	var base string
	for _, r := range w.pages[e.Title] {
		if r.ID == e.BaseRev {
			base = r.Text
		}
	}
	start, end, ok := section(base, e.Section)
	if !ok {
		return 0, bot.ErrConflict
	}
	text := strings.ReplaceAll(e.Text, "~~~~", w.sign(account))
	theirs := base[:start] + strings.TrimRight(text, "\n") + "\n\n" + base[end:]
	merged, ok := merge(strings.TrimRight(base, "\n"), strings.TrimRight(theirs, "\n"), w.textOf(e.Title))
	if !ok {
		return 0, fmt.Errorf("section %d: %w", e.Section, bot.ErrConflict)
	}
	if merged == w.textOf(e.Title) {
		return 0, nil
	}
	rev := w.put(e.Title, merged)
	w.summary[rev] = e.Summary
	return rev, nil
}

func (w *fakeWiki) OwnEdits(_ context.Context, title string, since time.Time) ([]bot.OwnEdit, error) {
	if w.noEdits {
		return nil, errors.New("list of edits unavailable")
	}
	var out []bot.OwnEdit
	for _, r := range w.pages[title] {
		s, ours := w.summary[r.ID]
		hidden := w.hidden[r.ID]
		if r.Timestamp.Before(since) || !ours && !strings.Contains(hidden, "user") {
			continue
		}
		edit := bot.OwnEdit{RevID: r.ID, Summary: s, Time: r.Timestamp}
		if edit.Hidden = strings.Contains(hidden, "user") || strings.Contains(hidden, "summary"); edit.Hidden {
			edit.TextHidden = strings.Contains(hidden, "text")
			if !edit.TextHidden {
				edit.Text = r.Text
			}
		}
		if strings.Contains(hidden, "summary") {
			edit.Summary = ""
		}
		out = append([]bot.OwnEdit{edit}, out...)
	}
	return out, nil
}

// Texts returns the text of each revision saved during a period.
func (w *fakeWiki) Texts(_ context.Context, title string, from, to time.Time) (out []string, err error) {
	if w.noEdits {
		return nil, errors.New("history unavailable")
	}
	for _, r := range w.pages[title] {
		if !r.Timestamp.Before(from) && !r.Timestamp.After(to) && !strings.Contains(w.hidden[r.ID], "text") {
			out = append(out, r.Text)
		}
	}
	return out, nil
}

var unparsed = regexp.MustCompile(`(?s)<nowiki>.*?</nowiki>|<syntaxhighlight.*?</syntaxhighlight>|<!--.*?-->`)

// section returns the bounds of section n. Every heading starts a section, which ends at the next heading at the same
// or a higher level.
func section(text string, n int) (start, end int, ok bool) {
	level, count, pos := 0, 0, 0
	if n == 0 { // section 0 is the part above the first heading
		level, ok = 6, true
	}
	// Ignore headings in nowiki, highlighted code and comments.
	text = unparsed.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat("x", len(s)) })
	for _, line := range strings.SplitAfter(text, "\n") {
		l := len(line) - len(strings.TrimLeft(line, "="))
		if l > 0 && strings.HasSuffix(strings.TrimSpace(line), "=") {
			count++
			if ok && l <= level {
				return start, pos, true
			}
			if count == n {
				start, level, ok = pos, l, true
			}
		}
		pos += len(line)
	}
	return start, len(text), ok
}

// merge does a three-way merge of lines. It treats all changes of one side as a single change.
func merge(base, a, b string) (string, bool) {
	switch {
	case base == b || a == b:
		return a, true
	case base == a:
		return b, true
	}
	bl, al, cl := strings.Split(base, "\n"), strings.Split(a, "\n"), strings.Split(b, "\n")
	as, ae := change(bl, al)
	bs, be := change(bl, cl)
	switch {
	case ae < bs:
		return join(bl, al, cl, ae, bs), true
	case be < as:
		return join(bl, cl, al, be, as), true
	}
	return "", false
}

// join returns first up to the end of its change, followed by second from there on. end and start are the indexes in
// base of the end of first's change and the start of second's change.
func join(base, first, second []string, end, start int) string {
	return strings.Join(append(append(append([]string{}, first[:len(first)-(len(base)-end)]...), base[end:start]...),
		second[start:]...), "\n")
}

// change returns the lines [start, end) of base that differ in other.
func change(base, other []string) (start, end int) {
	for start < len(base) && start < len(other) && base[start] == other[start] {
		start++
	}
	tail := 0
	for tail < len(base)-start && tail < len(other)-start && base[len(base)-1-tail] == other[len(other)-1-tail] {
		tail++
	}
	return start, len(base) - tail
}

// fakeSolver treats every post as a request and answers it, unless its fields say otherwise.
type fakeSolver struct {
	clock   *clock
	solved  map[string]int // number of calls for each key
	asked   []agent.Question
	triaged []string
	errs    []error // errors that Solve returns before it succeeds, in order
	terrs   []error // errors that Triage returns before it succeeds, in order
	reason  agent.Reason
	panics  bool
	query   string  // the query in its answers; query if empty
	says    string  // the answer in words
	echo    bool    // its answers repeat the question
	opens   bool    // its judgments include the solution's first turn
	brief   bool    // its replies have no steps
	sure    float64 // confidence of its answers
	asks    string  // its question to the poster
	reads   []agent.Reading
	speaks  string // the language of posts; English if empty
	onSolve func()

	onTriage, onAsk func(text string)
}

func (s *fakeSolver) Triage(_ context.Context, _, heading string, posts []agent.Post) (*agent.Triage, error) {
	last := posts[len(posts)-1]
	if s.onTriage != nil {
		s.onTriage(last.Text)
	}
	s.triaged = append(s.triaged, heading+"/"+last.Author+"/"+last.Text)
	if len(s.terrs) > 0 {
		err := s.terrs[0]
		s.terrs = s.terrs[1:]
		if err != nil {
			return nil, err
		}
	}
	t := &agent.Triage{Request: !strings.Contains(last.Text, "announcement"), Question: last.Text,
		Language: cmp.Or(s.speaks, "en"), Why: "by the fake"}
	if s.opens {
		t.Opening = &agent.Opening{Heading: heading, Posts: posts, Looked: "what is there",
			Turn: &llm.Choice{Content: "I look."}}
	}
	return t, nil
}

func (s *fakeSolver) Solve(ctx context.Context, key string, q agent.Question) (*agent.Outcome, error) {
	if s.onAsk != nil {
		s.onAsk(q.Text)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	s.solved[key]++
	s.asked = append(s.asked, q)
	if s.onSolve != nil {
		s.onSolve()
	}
	if s.panics {
		panic("boom")
	}
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		if err != nil {
			return nil, err
		}
	}
	steps := []agent.Step{{N: 1, Thought: "Look.", Action: "execute_sparql", Argument: query, Observation: "1 row"}}
	if s.brief {
		steps = nil
	}
	if s.reason != "" {
		return &agent.Outcome{Ending: agent.Ending{Reason: s.reason, Detail: "told so"}, Language: "en", Steps: steps,
			Asks: s.asks, Readings: s.reads}, nil
	}
	final := query
	if s.query != "" {
		final = s.query
	}
	report := "It is the cat."
	if s.says != "" {
		report = s.says
	}
	if s.echo {
		report = "It is the cat. You asked: " + q.Text
	}
	return &agent.Outcome{Report: report, Language: "en", Steps: steps, Confidence: s.sure, Asks: s.asks, Readings: s.reads,
			Answer: &agent.Answer{SPARQL: final, Ran: final, RanAt: s.clock.now(), Endpoint: "query.wikidata.org",
				Table: &kg.Table{Vars: []string{"item", "n"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q146"),
					rdf.Typed("2020-01-01T00:00:00Z", rdf.XSDDateTime)}}},
				Labels: map[string]string{"Q146": "house cat"}}},
		nil
}

const query = "SELECT ?item ?n WHERE { ?item wdt:P31 wd:Q146 . }"

type closer interface {
	bot.Store
	Close() error
}

// world has a wiki, a solver, a store on disk, a clock, and the bots that use them.
type world struct {
	t      testing.TB
	clock  *clock
	wiki   *fakeWiki
	solver *fakeSolver
	path   string // path of the store on disk; empty for a store in memory
	store  closer
	cfg    bot.Config
	log    *strings.Builder
	stamp  string // Alice's signature from an earlier minute
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return worldOn(t, "")
}

func worldOn(t testing.TB, path string) *world {
	t.Helper()
	c := &clock{t: time.Date(2026, 11, 20, 12, 0, 30, 0, time.UTC)}
	w := &world{t: t, clock: c, wiki: newWiki(c), solver: &fakeSolver{clock: c, solved: map[string]int{}}, path: path,
		log: &strings.Builder{},
		cfg: bot.Config{Page: page, Account: account, Operator: "Olga", StopPage: stopPage, Posting: bot.On,
			AnswerDelay: 15 * time.Minute, FollowupLimit: 2, RepliesPerHour: 100, ReplyOnFailure: true}}
	w.open()
	t.Cleanup(func() { w.store.Close() })
	return w
}

func (w *world) open() {
	w.t.Helper()
	if w.path == "" {
		if w.store == nil {
			w.store = bottest.NewMemory()
		}
		return
	}
	s, err := store.Open(context.Background(), w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = s
}

func (w *world) bot() *bot.Bot { return w.botWith(w.solver) }

func (w *world) botWith(solver bot.Solver) *bot.Bot {
	w.t.Helper()
	b, err := bot.New(slog.New(slog.NewTextHandler(w.log, nil)), w.store, w.wiki, solver, w.clock.now, w.cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// round runs one round of a freshly started bot.
func (w *world) round() bot.Summary {
	w.t.Helper()
	sum, err := w.bot().Round(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return sum
}

// entries returns all entries, oldest first.
func (w *world) entries() []*bot.Entry {
	w.t.Helper()
	es, err := bot.List(context.Background(), w.store)
	if err != nil {
		w.t.Fatal(err)
	}
	return es
}

func (w *world) states() string {
	var s []string
	for _, e := range w.entries() {
		s = append(s, e.Heading+":"+string(e.State))
	}
	return strings.Join(s, " ")
}

// replies returns the number of comments by the bot in threads with the given heading.
func (w *world) replies(heading string) int {
	n := 0
	for _, th := range forum.Parse(page, w.wiki.text(), forum.Options{}).Threads {
		for _, c := range th.Comments {
			if th.Heading == heading && c.Author != nil && *c.Author == account {
				n++
			}
		}
	}
	return n
}

func (w *world) want(states string) {
	w.t.Helper()
	if got := w.states(); got != states {
		w.t.Errorf("ledger: %q, want %q", got, states)
	}
}

func (w *world) wantReplies(heading string, n int) {
	w.t.Helper()
	if got := w.replies(heading); got != n {
		w.t.Errorf("%d replies under %q, want %d; the page:\n%s", got, heading, n, w.wiki.text())
	}
}
