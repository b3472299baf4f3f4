package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/job"
)

// Ledger stores the entries. Each has a job ([Entry.Job]), which changes in the same transaction as the entry.
// internal/store implements Ledger on SQLite and PostgreSQL. When a method returns, its changes are durable: they
// survive kill -9 and a power failure. The bot and the operator's commands may change entries at the same time, so
// [Ledger.Update] compares versions to keep either from overwriting the other.
type Ledger interface {
	// Entry reads the entry with the given key, including its draft. It returns [ErrNoEntry] if there is none.
	Entry(ctx context.Context, key string) (*Entry, error)
	// Entries returns the entries that match the filter, in the order in which they were added, including their drafts.
	Entries(ctx context.Context, f Filter) ([]*Entry, error)
	// Add writes a new entry and sets e.Version to 1. If the key already exists, it changes nothing and returns false.
	Add(ctx context.Context, e *Entry) (added bool, err error)
	// Update replaces the entry if the stored version is e.Version, and then increments e.Version. Otherwise, it changes
	// nothing and returns [ErrChanged] if someone else has changed the entry, or [ErrNoEntry] if there is none.
	//
	// If e.Claim is set and no longer valid, it changes nothing and returns [job.ErrLost].
	Update(ctx context.Context, e *Entry) error
}

// Notes stores small pieces of data by name, such as what was on the page when the bot first started, or whether the
// stop page existed. Changes are durable, as in [Ledger].
type Notes interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
	// Change atomically replaces the value under key with the result of f, which is passed the old value, or nil if there
	// is none. If f returns nil, the value is kept. f may be called more than once. If f returns an error, Change returns
	// it and changes nothing.
	Change(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error
}

// Store holds everything that the bot stores. Tests use internal/store with a file in t.TempDir().
type Store interface {
	Ledger
	Notes
	job.Queue
}

// Errors of a [Ledger].
var (
	// ErrNoEntry means that the ledger has no entry with this key.
	ErrNoEntry = errors.New("the ledger has no such entry")
	// ErrChanged means that someone else has changed the entry since it was read. Reread it and reconsider.
	ErrChanged = errors.New("the ledger entry has changed since it was read")
)

// State is the stage of an entry. See the diagram in the package comment.
type State string

// The states.
const (
	Noticed  State = "noticed"  // a comment that has not been judged yet
	Accepted State = "accepted" // judged to be a request; will be answered or recorded as abandoned
	Proposed State = "proposed" // a reply was drafted and waits for approval
	Approved State = "approved" // may be posted as soon as the gate is open
	Posting  State = "posting"  // a save was or is about to be sent; its outcome is still unknown
	Posted   State = "posted"   // the reply is on the wiki
	GaveUp   State = "gave_up"  // accepted, but no reply will be posted, for the reason in Reason
	Skipped  State = "skipped"  // not a request for the bot, for the reason in Reason
	Rejected State = "rejected" // the operator rejected the reply
)

// States lists all states in the order of an entry's life cycle.
func States() []State {
	return []State{Noticed, Accepted, Proposed, Approved, Posting, Posted, GaveUp, Skipped, Rejected}
}

// openStates lists the states in which work remains to be done.
var openStates = []State{Noticed, Accepted, Proposed, Approved, Posting}

// moves lists the states that may follow each state. Posted is final: an entry in this state never leads to another
// reply.
var moves = map[State][]State{
	Noticed:  {Accepted, Skipped, GaveUp, Rejected, Posted},
	Accepted: {Noticed, Proposed, GaveUp, Rejected, Posted},
	Proposed: {Noticed, Approved, GaveUp, Rejected, Posted},
	Approved: {Noticed, Proposed, Posting, GaveUp, Rejected, Posted},
	Posting:  {Approved, Posted, GaveUp},
	GaveUp:   {Noticed},
	Skipped:  {Noticed},
	Rejected: {Noticed},
}

// May reports whether an entry may go from s to next. Staying in the same state is always allowed.
func (s State) May(next State) bool {
	if s == next {
		return true
	}
	for _, m := range moves[s] {
		if m == next {
			return true
		}
	}
	return false
}

// Open reports whether work remains to be done for an entry in this state.
func (s State) Open() bool {
	switch s {
	case Noticed, Accepted, Proposed, Approved, Posting:
		return true
	}
	return false
}

// Kind distinguishes new requests from follow-ups.
type Kind string

// The kinds.
const (
	Request  Kind = "request"  // the first comment of a thread
	FollowUp Kind = "followup" // a comment under one of ours, or a comment that mentions us
)

// Entry is a comment that the bot may answer, with everything that the bot has recorded about it. Each comment has at
// most one entry and therefore at most one reply. An entry keeps its comment while the comment's text is on the page or
// in its archive. See identity.go for what happens if the text changes.
type Entry struct {
	// Key is created once, by [Key]. It is used as the marker in the reply, as part of the edit summary, and as the name
	// of the trajectory.
	Key  string `json:"key"`
	Page string `json:"page"` // title of the page
	// Comment is the comment's ID (see forum.Comment) at the time it was last judged. It is only for display, because the
	// ID depends on the other comments on the page.
	Comment string `json:"comment"`
	Thread  string `json:"thread"` // ID of the thread's first comment at that time
	Kind    Kind   `json:"kind"`
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"` // why the entry is in this state, such as why it was skipped or is waiting
	// closed only because of the state of the page (comment gone, thread resolved, answered by others); reopened when that
	// changes
	Lapsed bool `json:"lapsed,omitempty"`
	Forced bool `json:"forced,omitempty"` // the operator wants an answer: no triage, and never skipped
	Queued bool `json:"queued,omitempty"` // noticed, and waiting until a reply could be posted soon

	Heading string     `json:"heading"` // of the thread, for display
	Author  string     `json:"author"`  // of the comment; "" if unsigned
	Time    *time.Time `json:"time"`    // of the comment; nil if unsigned
	Text    string     `json:"text"`    // [identity.TextHash] of the comment when it was judged
	// Place identifies what the comment answers: "top" for the first comment of a thread, otherwise the parent's
	// [identity.TextHash]. It is "" in old entries.
	Place string `json:"place,omitempty"`
	// Others contains the [identity.TextHash] of comments with the same [Origin] that were on the page at the same time.
	Others []string `json:"others,omitempty"`

	Chosen   string `json:"chosen,omitempty"`   // query for the interpretation that the poster chose
	Question string `json:"question,omitempty"` // the question for the agent
	Language string `json:"language,omitempty"` // of the reply
	// there are no fixed messages in the asker's own language; see [reply.Language]
	Foreign bool `json:"foreign,omitempty"`
	// the agent's first turn, from the call that judged the comment; kept until the question is answered
	Opening *agent.Opening `json:"opening,omitempty"`

	Starts    int       `json:"starts,omitempty"`    // number of times that the program ended while triaging or solving
	Failures  int       `json:"failures,omitempty"`  // number of transient triage or solver failures
	Saves     int       `json:"saves,omitempty"`     // failed saves
	Edits     int       `json:"edits,omitempty"`     // number of times that the poster has changed the comment
	NotBefore time.Time `json:"not_before,omitzero"` // earliest time of the next attempt
	Deadline  time.Time `json:"deadline,omitzero"`   // abandoned after this time; never if zero

	Draft      *Draft `json:"draft,omitempty"`
	ApprovedBy string `json:"approved_by,omitempty"` // an operator's name, or "POSTING=on"
	Save       *Save  `json:"save,omitempty"`
	Rev        int64  `json:"rev,omitempty"` // revision with our reply; 0 if it was found on the page
	// Undone is set if the operator has removed the posted reply.
	Undone *Undone `json:"undone,omitempty"`

	Anchor  string `json:"anchor,omitempty"`  // page and fragment of the reply on the wiki
	Follows int    `json:"follows,omitempty"` // number of times that Anchor was searched for

	Trace *TracePage `json:"trace,omitempty"` // page with the steps, linked from the reply; nil if not written yet

	Amendment *Amendment `json:"amendment,omitempty"` // outcome of rechecking the posted reply

	Receptions []Reception `json:"receptions,omitempty"` // how people received the reply
	Solution   *Solution   `json:"solution,omitempty"`   // someone else's query in its thread

	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	History []Change  `json:"history,omitempty"` // history, oldest first; empty in old entries
	Version int64     `json:"-"`                 // number of writes; set by the ledger

	Claim *job.Claim `json:"-"` // claim required to write the entry; nil if none is needed
}

// Draft is a reply before it is posted, with everything needed to show it and to continue the conversation later.
type Draft struct {
	// source of Wikitext, which is recomposed for each position because the indentation may change
	Reply      forum.Reply `json:"reply"`
	Wikitext   string      `json:"wikitext"`   // the reply as it would have appeared on the page when the draft was made
	Diff       string      `json:"diff"`       // of the section, when the draft was made
	Revision   int64       `json:"revision"`   // of the page that Diff is against
	Turn       agent.Turn  `json:"turn"`       // history for follow-ups
	Confidence float64     `json:"confidence"` // the agent's
	Calls      int         `json:"calls"`      // of the language model
	USD        float64     `json:"usd"`
	Made       time.Time   `json:"made"`
	Choices    []Choice    `json:"choices,omitempty"` // the interpretations that the question lets the poster choose from
	Ran        string      `json:"ran,omitempty"`     // the query as it was run, including the language
	Result     string      `json:"result,omitempty"`  // [reply.ResultName] of its result
	Dry        bool        `json:"dry,omitempty"`     // whether it was made while posting was off
	// problems found by the checks before posting; a draft with problems waits for the operator in every posting mode
	Faults []string `json:"faults,omitempty"`

	EditedBy string    `json:"edited_by,omitempty"` // the operator who last changed the text; see [Revise]
	Edited   time.Time `json:"edited,omitzero"`
	Drafted  string    `json:"drafted,omitempty"` // the agent's own text, if it was changed
}

// Name returns an identifier for the draft, which changes when the reply's text changes.
func (d *Draft) Name() string {
	h := sha256.Sum256([]byte(d.Wikitext))
	return hex.EncodeToString(h[:8])
}

// TracePage is the state of the page that shows a reply's steps. bot/tracepage writes it.
type TracePage struct {
	Title string    `json:"title"`
	First time.Time `json:"first"` // time on the wiki's clock before the first attempt to create it
	Tries int       `json:"tries,omitempty"`
	Made  time.Time `json:"made,omitzero"` // when the page was first seen on the wiki
	Gone  time.Time `json:"gone,omitzero"` // when its text was removed
	// Not is the reason that the page was not created, or that it is kept after its retention period has ended.
	Not string `json:"not,omitempty"`
}

// Save records attempts to post a reply. The record is written before anything is sent.
type Save struct {
	BaseRev int64     `json:"base_rev"` // of the last attempt
	Section int       `json:"section"`  // of the last attempt
	First   time.Time `json:"first"`    // wiki time before the first attempt; edits since then may be ours
	At      time.Time `json:"at"`       // local time before the last attempt

	// FirstRev is the BaseRev of the first attempt with an unknown outcome; 0 in old entries.
	FirstRev int64 `json:"first_rev,omitempty"`
	// Last is the time on the wiki's clock before the last attempt; zero in old entries.
	Last time.Time `json:"last,omitzero"`
	// Tools means that the last attempt used the wiki's discussion tools; NoTools, that they cannot write the reply.
	Tools   bool `json:"tools,omitempty"`
	NoTools bool `json:"no_tools,omitempty"`
	// NothingSaved is true if the wiki reported for every attempt that nothing was saved.
	NothingSaved bool `json:"nothing_saved,omitempty"`
	// Unclear is the newest hidden revision that may be our reply. If it is set, it is the reason that the entry was
	// abandoned.
	Unclear int64 `json:"unclear,omitempty"`
	// Cleared is the revision up to which the operator has checked for our reply before asking for another attempt.
	Cleared int64 `json:"cleared,omitempty"`

	Error string `json:"error,omitempty"`
}

// Filter selects entries. Empty fields do not restrict the selection.
type Filter struct {
	Page       string
	Thread     string
	Text       string    // text hash
	Origin     *Origin   // of the comment
	Author     string    // of the comment
	States     []State   // any of these
	SavedSince time.Time // only entries with an attempt to save at or after this time, by our clock
	Any        *Seen     // entries that may belong to one of the comments seen on a page
	Newest     int       // return at most this many entries, the most recently added; all if 0
}

// Seen contains the authors and text hashes of the comments on a page.
type Seen struct{ Authors, Texts []string }

// Origin is the content of a signature: a comment's author, and its time to the minute. Several comments may have the
// same Origin.
type Origin struct {
	Author string    // "" if unsigned
	Time   time.Time // UTC; zero if there is no timestamp
}

// Origin returns the content of the signature on the entry's comment.
func (e *Entry) Origin() Origin { return newOrigin(e.Author, e.Time) }

func newOrigin(author string, t *time.Time) Origin {
	o := Origin{Author: author}
	if t != nil {
		o.Time = t.UTC()
	}
	return o
}

// signed reports whether both author and time are known. If either is missing, comments are distinguished only by their
// text.
func (o Origin) signed() bool { return o.Author != "" && !o.Time.IsZero() }

// Key returns the key for a new entry: a hash of the comment's text and signature. It consists of "sb-" and 16 hex
// digits, so it can be used in a wikitext marker. n distinguishes comments with the same text and signature; it is 0
// for the first of them. An entry keeps its key even if the comment changes.
func Key(page string, o Origin, text string, n int) string {
	return hashKey(page, o.Author, o.Time.Format(time.RFC3339), text, strconv.Itoa(n))
}

// oldKey returns the key that earlier versions derived from the comment's ID.
func oldKey(page, comment string) string { return hashKey(page, comment) }

func hashKey(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "sb-" + hex.EncodeToString(h[:8])
}

// move changes the state and records the change and its reason. It returns an error if the change is not allowed.
func (e *Entry) move(now time.Time, to State, reason string) error {
	if !e.State.May(to) {
		return fmt.Errorf("ledger entry %s is %s and cannot become %s", e.Key, e.State, to)
	}
	e.State, e.Reason, e.Updated = to, reason, now
	e.Queued = e.Queued && to == Noticed
	e.record(now, to, reason)
	return nil
}
