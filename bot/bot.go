package bot

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Solver is the bot's interface to the agent. Each key has its own trajectory and limits. internal/ask implements it.
//
// If an Outcome or error reports that the day's budget is spent, the request waits until the next UTC day. If Triage
// has no model, the bot judges posts by keywords. After any other error, the bot retries a few times; [agent.EndingOf]
// distinguishes errors. If Solve finishes, it returns an Outcome, even if there is no answer.
type Solver interface {
	// Solve answers one question. The key is the ledger's key: it contains only [a-z0-9-] and can be used as a file name.
	// After a crash, it may be called again with the same key.
	Solve(ctx context.Context, key string, q agent.Question) (*agent.Outcome, error)
	// Triage judges the last post of a thread. See Solve for the key.
	Triage(ctx context.Context, key, heading string, posts []agent.Post) (*agent.Triage, error)
}

// Mode determines what happens to drafts.
type Mode string

// The modes of posting.
const (
	Off     Mode = "off"     // drafts are written to the ledger and the log; nothing is written to the wiki
	Propose Mode = "propose" // drafts wait in the ledger for [Approve]
	On      Mode = "on"      // drafts are posted as soon as the gate is open
)

// Config specifies the bot's policy. For each field after Reply, zero means the default given at the end of its
// comment.
type Config struct {
	Wiki     string        // name of the wiki in WIKIS, or "" for the main wiki; part of page names in the ledger
	Page     string        // title of the forum page
	Forum    forum.Options // how the forum's pages differ from Wikidata's
	Account  string        // user name of the bot's account
	Operator string        // user name of the bot's operator
	StopPage string        // title; the bot posts only while its trimmed text is empty or "run"
	// title of the page that describes the bot, linked in the summary; the account's user page if empty
	TaskPage string
	// title of the page where people can ask the bot to stop; the account's talk page if empty
	TalkPage string
	// Inbox lists other pages on which the account was mentioned. MentionPages lists the pages on which the bot answers:
	// "talk" (every talk page), a namespace number, a title, or a title prefix followed by "*". It also answers on its own
	// talk page and on pages that name it in {{bots|allow=…}}. If Inbox is nil, it answers only on the forum page.
	Inbox        Inbox
	MentionPages []string
	OptOutPage   string // title of the page that links to users who do not want replies, or ""
	DigestPage   string // title of the page for the daily digest, see [Bot.WriteDigest], or ""
	DigestHour   int    // hour in UTC after which the digest is written
	Posting      Mode
	DryRun       bool // treat Posting as Off
	// called with the name of the gate check that stopped a reply: posting, approval, stop, stop_page, page_nobots,
	// thread_nobots, user_nobots, follow_ups, hour, day, pause; may be nil
	Held    func(check string)
	Similar Similar // finds earlier discussions to link to; may be nil
	// judges whether an earlier discussion is about the same request; if nil, the reply never claims that it is
	Recognize Recognizer

	Figures Figures // finds the units and dates of numbers; if nil, numbers are shown without them

	Compare Comparer // runs the queries that other people post in our threads; if nil, they are not compared
	Topics  Topics   // the wiki's own discussion parser; may be nil
	Tools   Tools    // post replies without a query; if nil, every reply is a section edit; only for a single process

	// codes of the wiki's languages; replies are in the first one if the asker's language is unknown or has no messages;
	// English if empty
	Languages []string
	Rerun     Rerunner // reruns a posted reply's query; if nil, queries are not rerun
	// how long after posting a reply its query is rerun, to correct the reply if the result differs; never if 0
	AmendAfter time.Duration

	AnswerDelay time.Duration // a comment is not answered until it is this old
	// if set, comments signed at or after this time are answered, even those already on the page when the bot first starts
	AnswerSince    time.Time
	FollowupLimit  int // maximum number of follow-ups answered per thread
	RepliesPerHour int // maximum number of replies in any 60 minutes; must be positive unless Posting is Off
	RepliesPerDay  int // maximum number of replies in any 24 hours; if 0, only the hourly limit applies
	// maximum number of requests accepted per user in 24 hours, including follow-ups; others wait; unlimited if 0
	RequestsPerUser int
	ThreadCooldown  time.Duration // minimum time between two of our replies in a thread
	ReplyOnFailure  bool          // if there is no answer, say so on the page instead of not replying
	// minimum probability, from 0 to 1, that a posted answer is right; if 0, every answer is posted
	AnswerConfidence float64
	// if an answer's probability is below AnswerConfidence, ask the poster a question, once per thread, instead of not
	// replying
	AskBack bool
	// hosts whose short links may lead to a query, such as w.wiki; Wikidata's and QLever's query services are built in
	QueryHosts []string

	Reply ReplyConfig // appearance of replies

	UnsignedDelay time.Duration // how long an unsigned request must remain unchanged; 1 h
	UnknownGrace  time.Duration // how long a save with an unknown outcome may still arrive; 2 min
	TookOver      time.Time     // when this process took over from another process, whose saves may still arrive
	AnswerWithin  time.Duration // how long a noticed request may remain open before it is abandoned; 30 days
	Holder        string        // name of the worker that claims the jobs, never reused; "" for a single worker
	Lease         time.Duration // validity of a claim without renewal; unlimited if 0 (single worker)
	// returns the context that work in progress uses once the program is asked to stop; if nil, the work is canceled
	Drain func(context.Context) (context.Context, context.CancelFunc)
	// delay before the first retry after a transient failure, doubled each time up to RetryMax; 5 min
	RetryDelay  time.Duration
	RetryMax    time.Duration // 2 h
	DraftMaxAge time.Duration // drafts made while posting was off are posted without approval up to this age; 24 h
	MaxFailures int           // transient triage and solver failures before a request is abandoned; 3
	MaxStarts   int           // solver starts, including those that ended in a crash, before a request is abandoned; 25
	MaxSaves    int           // failed saves before a reply is abandoned; 20
}

// Limits that are not configurable.
const (
	stopPageAge  = 5 * time.Second    // how long the content of the stop page, once read, is valid
	maxConflicts = 3                  // edit conflicts in a round before the entry waits for the next round
	maxEdits     = 5                  // how many times a poster may change a request before the bot gives up on it
	clockSlack   = 5 * time.Minute    // maximum difference between the wiki's clock and its timestamps
	signedWithin = 2 * time.Minute    // maximum time between the minute in a signature and the save that added it
	maxLapsed    = 7 * 24 * time.Hour // for how long a lapsed entry can be reopened
	maxPosts     = 40                 // maximum number of posts in a thread that triage sees
	maxPostRunes = 8000               // maximum number of characters per post that triage sees
	maxKeptRunes = 4000               // maximum number of characters of an observation that are kept for follow-ups
	heldPause    = time.Minute        // delay before a worker retries a job that it could not advance
)

// Bot answers requests on one page. Its methods are called one at a time, by a process that holds the lock on the data
// folder. If several processes share a ledger, one of them calls [Bot.Notice], one calls [Bot.Publish], and all call
// [Bot.Work].
type Bot struct {
	lg     *slog.Logger
	store  Store
	wiki   Wiki
	solver Solver
	now    func() time.Time
	cfg    Config
	sum    *Summary // of the current round
	page   string   // ledger name of the page that the bot reads; see [PageName]
	title  string   // title of the page on the wiki
	visit  *visit   // what differs on a page where the bot was mentioned; nil on the forum page
	last   *reading // the last page read, cached because it usually has not changed
}

// New returns a bot. It returns an error if the configuration is invalid. New does not access the wiki or the store.
func New(lg *slog.Logger, store Store, wiki Wiki, solver Solver, now func() time.Time, cfg Config) (*Bot, error) {
	var problems []error
	need := func(ok bool, what string) {
		if !ok {
			problems = append(problems, errors.New(what))
		}
	}
	need(strings.TrimSpace(cfg.Page) != "", "the forum page is missing")
	need(strings.TrimSpace(cfg.Account) != "", "the bot's account is missing")
	// With an invalid name, the bot could not compose replies and would abandon every request.
	if strings.TrimSpace(cfg.Operator) != "" {
		err := forum.CheckUserName(cfg.Operator)
		need(err == nil, fmt.Sprintf("the operator: %v", err))
	}
	if cfg.Reply.Trace != "" {
		err := forum.CheckAddress(cfg.Reply.Trace)
		need(err == nil, fmt.Sprintf("the address of the runs: %v", err))
	}
	if t := cfg.Reply.TracePage; t != "" {
		err := cfg.checkOwn("the steps", t, "traces")
		need(err == nil, fmt.Sprint(err))
		need(cfg.Reply.Trace == "", "both a page and an address for the steps are set: set one of them")
	}
	if err := cfg.checkDigest(); err != nil {
		problems = append(problems, err)
	}
	if cfg.Posting == "" {
		cfg.Posting = Off
	}
	if cfg.DryRun {
		cfg.Posting = Off
	}
	switch cfg.Posting {
	case Off:
	case Propose, On:
		need(strings.TrimSpace(cfg.StopPage) != "", "the stop page is missing: the bot must be stoppable from the wiki")
		need(strings.TrimSpace(cfg.Operator) != "", "the operator is missing: every reply names one")
		need(cfg.RepliesPerHour > 0, "replies per hour must be positive")
	default:
		need(false, fmt.Sprintf("posting is %q, not off, propose or on", cfg.Posting))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("bot: %w", err)
	}
	cfg.defaults()
	return &Bot{lg: lg, store: store, wiki: wiki, solver: solver, now: now, cfg: cfg,
		sum: &Summary{}, last: &reading{}, page: PageName(cfg.Wiki, cfg.Page), title: cfg.Page}, nil
}

func (c *Config) defaults() {
	duration := func(d *time.Duration, v time.Duration) {
		if *d <= 0 {
			*d = v
		}
	}
	count := func(n *int, v int) {
		if *n <= 0 {
			*n = v
		}
	}
	duration(&c.UnsignedDelay, time.Hour)
	duration(&c.UnknownGrace, 2*time.Minute)
	duration(&c.RetryDelay, 5*time.Minute)
	duration(&c.RetryMax, 2*time.Hour)
	duration(&c.DraftMaxAge, 24*time.Hour)
	duration(&c.AnswerWithin, 30*24*time.Hour)
	count(&c.MaxFailures, 3)
	count(&c.MaxStarts, 25)
	count(&c.MaxSaves, 20)
	if c.TaskPage == "" {
		c.TaskPage = "User:" + c.Account
	}
	if c.TalkPage == "" {
		c.TalkPage = "User talk:" + c.Account
	}
}

// Summary counts the results of a round.
type Summary struct {
	Threads  int // on the page
	Comments int // on the page
	Noticed  int // new entries
	Accepted int // judged to be requests for the bot
	Skipped  int // judged not to be requests
	Proposed int // drafts made
	Posted   int // replies on the wiki, including those found after a crash
	GaveUp   int // recorded as abandoned
	Waiting  int // open entries left for a later round or for the operator
	Unposted int // waiting entries that are approved but not posted because posting is off
	DryRun   bool
}

// String returns the counts as one line.
func (s Summary) String() string {
	line := fmt.Sprintf("%s, %s: %d noticed, %d accepted, %d skipped, %d proposed, %d posted, %d given up, %d waiting",
		text.Count(s.Threads, "thread"), text.Count(s.Comments, "comment"), s.Noticed, s.Accepted, s.Skipped,
		s.Proposed, s.Posted, s.GaveUp, s.Waiting)
	if note := s.unposted(); note != "" {
		line += "; " + note
	}
	return line
}

// unposted returns a note on how many approved replies are not posted and why, or "" if there are none.
func (s Summary) unposted() string {
	switch {
	case s.Unposted == 0:
		return ""
	case s.DryRun:
		return fmt.Sprintf("%d approved, not posted: dry run", s.Unposted)
	}
	return fmt.Sprintf("%d approved, not posted: POSTING=off", s.Unposted)
}

// Round does everything once, as the only worker: it determines the outcome of interrupted saves, judges new comments,
// solves the accepted ones, drafts replies, and posts the drafts that may be posted. `run --once`, the schedule and the
// demo all call it.
//
// If a request fails, the failure is recorded in its entry, and the round continues. Round returns an error if ctx is
// done, the page cannot be read, the ledger cannot be written, or the account is blocked ([ErrBlocked]). The next Round
// picks up where this one left off.
func (b *Bot) Round(ctx context.Context) (Summary, error) {
	return b.part(ctx, func(v *view) error { return b.round(ctx, v) })
}

func (b *Bot) part(ctx context.Context, do func(v *view) error) (Summary, error) {
	*b.sum = Summary{DryRun: b.cfg.DryRun}
	v, err := b.read(ctx)
	if err == nil {
		b.sum.Threads += len(v.page.Threads)
		b.sum.Comments += len(v.order)
		err = b.remember(ctx, v)
	}
	if err == nil {
		err = do(v)
	}
	open := Filter{Page: b.page, States: openStates}
	if b.cfg.Inbox != nil {
		open.Page = ""
	}
	if waiting, werr := b.store.Entries(context.WithoutCancel(ctx), open); werr == nil {
		waiting = slices.DeleteFunc(waiting, func(e *Entry) bool { return !b.mine(e.Page) })
		b.sum.Waiting = len(waiting)
		for _, e := range waiting {
			if e.State == Approved && b.cfg.Posting == Off {
				b.sum.Unposted++
			}
		}
	} else if err == nil {
		err = werr
	}
	sum := *b.sum
	b.pulse(ctx, err)
	if err != nil {
		return sum, fmt.Errorf("round on %s: %w", b.page, err)
	}
	b.lg.Info("round", "page", b.page, "threads", sum.Threads, "comments", sum.Comments, "noticed", sum.Noticed,
		"accepted", sum.Accepted,
		"skipped", sum.Skipped, "proposed", sum.Proposed, "posted", sum.Posted, "gave_up", sum.GaveUp, "waiting",
		sum.Waiting)
	if note := sum.unposted(); note != "" {
		b.lg.Warn(note)
	}
	return sum, nil
}

func (b *Bot) round(ctx context.Context, v *view) error {
	if err := b.recover(ctx, v); err != nil {
		return err
	}
	if err := b.notice(ctx, v); err != nil {
		return err
	}
	if err := b.noticeCalls(ctx); err != nil {
		return err
	}
	if why, err := b.stopped(ctx); err != nil || why != "" {
		b.lg.Warn("stopped: nothing is judged, solved or posted", "reason", why)
		return err
	}
	pages, err := b.recoverVisits(ctx)
	if err != nil {
		return err
	}
	if err := b.amendAll(ctx); err != nil {
		return err
	}
	return onEach(ctx, append([]*Bot{b}, pages...), []stage{{Approved, (*Bot).publish}, {Proposed, (*Bot).publish},
		{Noticed, (*Bot).judge}, {Accepted, (*Bot).answer}})
}

// stage is the step that a round runs for each entry in a given state.
type stage struct {
	state State
	do    func(*Bot, context.Context, *Entry) error
}

// onEach runs the stages in order, each for every page.
func onEach(ctx context.Context, pages []*Bot, stages []stage) error {
	for _, s := range stages {
		for _, there := range pages {
			err := there.each(ctx, s.state, func(ctx context.Context, e *Entry) error { return s.do(there, ctx, e) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// answer solves an accepted request and then tries to post the reply.
func (b *Bot) answer(ctx context.Context, e *Entry) error {
	if err := b.solve(ctx, e); err != nil || e.State != Proposed {
		return err
	}
	if err := b.publish(ctx, e); !errors.Is(err, errFull) {
		return err
	}
	return nil
}

// each calls do for the due entries in a state, oldest first, while holding the claim on each entry's job. If an
// operator's command has changed an entry in the meantime, the entry is left for the next round.
func (b *Bot) each(ctx context.Context, state State, do func(context.Context, *Entry) error) error {
	entries, err := b.store.Entries(ctx, Filter{Page: b.page, States: []State{state}})
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !b.due(e) {
			continue
		}
		err := b.claimed(ctx, e, do)
		switch {
		case errors.Is(err, errFull):
			return nil // skip the rest, because checking each entry takes several wiki requests
		case errors.Is(err, ErrChanged) || errors.Is(err, ErrNoEntry):
			b.lg.Info("entry changed by someone else, left for the next round", "entry", e.Key)
		case err != nil:
			return err
		}
	}
	return nil
}

// due reports whether an entry is due; see [job.MaxWait].
func (b *Bot) due(e *Entry) bool {
	wait := e.NotBefore.Sub(b.now())
	return wait <= 0 || wait > job.MaxWait
}

// set moves an entry to the given state, saves it, and counts the change in the summary.
func (b *Bot) set(ctx context.Context, e *Entry, to State, reason string) error {
	from := e.State
	if err := e.move(b.now(), to, reason); err != nil {
		return err
	}
	if to != Accepted { // the opening is no longer needed
		e.Opening = nil
	}
	if err := b.store.Update(ctx, e); err != nil || from == to {
		return err
	}
	b.lg.Info("entry", "entry", e.Key, "from", from, "to", to, "reason", reason, "heading", e.Heading,
		"author", e.Author)
	switch {
	case to == Accepted:
		b.sum.Accepted++
	case to == Skipped:
		b.sum.Skipped++
	case to == Proposed && from == Accepted: // not an approval that expired
		b.sum.Proposed++
	case to == Posted:
		b.sum.Posted++
	case to == GaveUp:
		b.sum.GaveUp++
	}
	return nil
}

// later returns when to retry an entry after its nth failure. The delay doubles each time up to the configured maximum.
func (b *Bot) later(n int) time.Time {
	d := b.cfg.RetryDelay
	for i := 1; i < n && d < b.cfg.RetryMax; i++ {
		d *= 2
	}
	return b.now().Add(min(d, max(b.cfg.RetryMax, b.cfg.RetryDelay)))
}

// Wiki returns the name of the bot's wiki, or "" for the main wiki.
func (b *Bot) Wiki() string { return b.cfg.Wiki }
