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

// Ledger keeps the entries, each with its job ([Entry.Job]), which changes in the same transaction. internal/store
// implements it on SQLite and PostgreSQL. Every method is durable when it returns: what was
// written survives kill -9 and a power cut. Entries are changed by the bot and by the operator's commands at the same
// time; [Ledger.Update] compares versions so that neither overwrites the other.
type Ledger interface {
	// Entry reads the entry with the key, complete with its draft. It returns [ErrNoEntry] if there is none.
	Entry(ctx context.Context, key string) (*Entry, error)
	// Entries lists the entries that the filter names, in the order in which they were added, complete with their
	// drafts.
	Entries(ctx context.Context, f Filter) ([]*Entry, error)
	// Add writes a new entry and sets e.Version to 1. If the key already exists, it changes nothing and returns false.
	Add(ctx context.Context, e *Entry) (added bool, err error)
	// Update replaces the entry if the stored version is e.Version, and then increments e.Version. Otherwise it
	// changes nothing and returns [ErrChanged] (someone else was faster) or [ErrNoEntry].
	//
	// If e.Claim is set and the claim is no longer valid, nothing is written and the error is [job.ErrLost].
	Update(ctx context.Context, e *Entry) error
}

// Notes keeps small facts by name: what was on the page at the first start, whether the stop page existed. Durable
// like [Ledger].
type Notes interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
	// Change replaces the value under key with the result of f, which gets the old value, or nil if there is none. If f
	// returns nil, the value is kept. Nobody else changes it in between. f may be called again. If f returns an error,
	// Change returns it and changes nothing.
	Change(ctx context.Context, key string, f func(old []byte) ([]byte, error)) error
}

// Store is everything that the bot remembers. Tests use internal/store on a file in t.TempDir().
type Store interface {
	Ledger
	Notes
	job.Queue
}

// Errors of a [Ledger].
var (
	// ErrNoEntry: the ledger has no entry with this key.
	ErrNoEntry = errors.New("the ledger has no such entry")
	// ErrChanged: the entry was changed by someone else since it was read. Read it again and decide again.
	ErrChanged = errors.New("the ledger's entry has been changed in the meantime")
)

// State is the stage of an entry. See the drawing in the package documentation.
type State string

// The states.
const (
	Noticed  State = "noticed"  // a candidate, not judged yet
	Accepted State = "accepted" // judged a request for us: from here on it is answered or recorded as given up
	Proposed State = "proposed" // a reply is drafted and waits for approval
	Approved State = "approved" // may be posted as soon as the gate is open
	Posting  State = "posting"  // a save was or is about to be sent; its outcome is not known yet
	Posted   State = "posted"   // the reply is on the wiki
	GaveUp   State = "gave_up"  // accepted, but no reply will be posted; Reason says why
	Skipped  State = "skipped"  // not a request for us; Reason says why
	Rejected State = "rejected" // the operator said no
)

// States lists all states in the order of an entry's life.
func States() []State {
	return []State{Noticed, Accepted, Proposed, Approved, Posting, Posted, GaveUp, Skipped, Rejected}
}

// openStates are the states in which there is still work to do.
var openStates = []State{Noticed, Accepted, Proposed, Approved, Posting}

// moves lists the states that may follow each. Posted is final: an entry that got this far can never lead to another
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

// May reports whether an entry may go from s to next. Staying is always allowed.
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

// Open reports whether there is still work to do for an entry in this state.
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
	FollowUp Kind = "followup" // a comment under one of ours, or one that mentions us
)

// Entry is one comment that the bot may answer, and all it knows about it. There is at most one for each comment, so
// there is at most one reply. An entry keeps its comment while the comment's words are on the page or in its archive;
// see identity.go for what happens when they change.
type Entry struct {
	// Key is made once by [Key]. It is the marker in the reply, a part of the edit summary, and the name of the
	// trajectory.
	Key  string `json:"key"`
	Page string `json:"page"` // title of the page
	// Comment is the forum.Comment.ID when the comment was last judged, for people: the ID depends on what else is on
	// the page.
	Comment string `json:"comment"`
	Thread  string `json:"thread"` // ID of the thread's first comment then
	Kind    Kind   `json:"kind"`
	State   State  `json:"state"`
	Reason  string `json:"reason,omitempty"` // why it is in this state: skipped, given up, waiting
	// closed only because of the page (gone, resolved, answered by others); it reopens when that ends
	Lapsed bool `json:"lapsed,omitempty"`
	Forced bool `json:"forced,omitempty"` // the operator wants an answer: no triage, never skipped
	Queued bool `json:"queued,omitempty"` // noticed, and waits until its reply may be posted soon

	Heading string     `json:"heading"` // of the thread, for people
	Author  string     `json:"author"`  // of the comment; "" when unsigned
	Time    *time.Time `json:"time"`    // of the comment; nil when unsigned
	Text    string     `json:"text"`    // [identity.TextHash] of the comment as it was judged
	// Place is what the comment answers: "top" for the first of a thread, otherwise the parent's [identity.TextHash]; "" in old
	// entries.
	Place string `json:"place,omitempty"`
	// Others holds the [identity.TextHash] of other comments with its [Origin] that were on the page together with it.
	Others []string `json:"others,omitempty"`

	Chosen   string `json:"chosen,omitempty"`   // query of the reading that the poster chose when we asked
	Question string `json:"question,omitempty"` // what the agent is asked
	Language string `json:"language,omitempty"` // of the reply
	// there are no sentences in the asker's own language, see [reply.Language]
	Foreign bool `json:"foreign,omitempty"`
	// what the agent did first, in the call that judged the comment, until the question is answered
	Opening *agent.Opening `json:"opening,omitempty"`

	Starts    int       `json:"starts,omitempty"`    // starts of triage or solver during which the program ended
	Failures  int       `json:"failures,omitempty"`  // transient failures of triage or solver
	Saves     int       `json:"saves,omitempty"`     // failed saves
	Edits     int       `json:"edits,omitempty"`     // how often the poster has changed the comment meanwhile
	NotBefore time.Time `json:"not_before,omitzero"` // nothing is tried before
	Deadline  time.Time `json:"deadline,omitzero"`   // given up after; zero: never

	Draft      *Draft `json:"draft,omitempty"`
	ApprovedBy string `json:"approved_by,omitempty"` // an operator's name, or "POSTING=on"
	Save       *Save  `json:"save,omitempty"`
	Rev        int64  `json:"rev,omitempty"` // revision with our reply; 0 if it was found on the page
	// Undone: the operator has removed the posted reply.
	Undone *Undone `json:"undone,omitempty"`

	Anchor  string `json:"anchor,omitempty"`  // page and fragment by which the wiki shows the reply
	Follows int    `json:"follows,omitempty"` // how often this was searched for

	Trace *TracePage `json:"trace,omitempty"` // the page with the steps that the reply links to; nil: not written yet

	Amendment *Amendment `json:"amendment,omitempty"` // outcome of checking the posted reply again

	Receptions []Reception `json:"receptions,omitempty"` // how people received the reply
	Solution   *Solution   `json:"solution,omitempty"`   // another person's query in its thread

	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
	History []Change  `json:"history,omitempty"` // its history, oldest first; none in old entries
	Version int64     `json:"-"`                 // counts writes; set by the ledger

	Claim *job.Claim `json:"-"` // under which it is written; nil: none is needed
}

// Draft is a reply before it is posted, with everything needed to show it and to continue the conversation later.
type Draft struct {
	// source of Wikitext, which is composed again for each placement, since the indentation may change
	Reply      forum.Reply `json:"reply"`
	Wikitext   string      `json:"wikitext"`   // as it would be on the page when the draft was made
	Diff       string      `json:"diff"`       // of the section, when the draft was made
	Revision   int64       `json:"revision"`   // of the page that Diff is against
	Turn       agent.Turn  `json:"turn"`       // history for follow-ups
	Confidence float64     `json:"confidence"` // the agent's
	Calls      int         `json:"calls"`      // of the language model
	USD        float64     `json:"usd"`
	Made       time.Time   `json:"made"`
	Choices    []Choice    `json:"choices,omitempty"` // the readings that the question to the poster is about
	Ran        string      `json:"ran,omitempty"`     // the query as it was run, in the language of that run
	Result     string      `json:"result,omitempty"`  // [reply.ResultName] of what it returned
	Dry        bool        `json:"dry,omitempty"`     // made while posting was off
	// problems found by the checks before publishing: such a draft waits for the operator in every posting mode
	Faults []string `json:"faults,omitempty"`

	EditedBy string    `json:"edited_by,omitempty"` // the operator who last changed the text; see [Revise]
	Edited   time.Time `json:"edited,omitzero"`
	Drafted  string    `json:"drafted,omitempty"` // the agent's own text, when it was changed
}

// Name distinguishes drafts: it changes with the reply's text.
func (d *Draft) Name() string {
	h := sha256.Sum256([]byte(d.Wikitext))
	return hex.EncodeToString(h[:8])
}

// TracePage is the state of the page with the steps of a reply. bot/tracepage writes it.
type TracePage struct {
	Title string    `json:"title"`
	First time.Time `json:"first"` // the wiki's clock before the first attempt to make it
	Tries int       `json:"tries,omitempty"`
	Made  time.Time `json:"made,omitzero"` // when it was seen on the wiki
	Gone  time.Time `json:"gone,omitzero"` // when its text was removed
	// Not says why it was not made, or why it is kept although its time is over.
	Not string `json:"not,omitempty"`
}

// Save records the attempts to post a reply. It is written before the first byte is sent.
type Save struct {
	BaseRev int64     `json:"base_rev"` // of the last attempt
	Section int       `json:"section"`  // of the last attempt
	First   time.Time `json:"first"`    // wiki's clock, before the first attempt: own edits since then may be ours
	At      time.Time `json:"at"`       // own clock, before the last attempt

	// FirstRev is the BaseRev of the first attempt of unknown outcome; 0 in old entries.
	FirstRev int64 `json:"first_rev,omitempty"`
	// Last is the wiki's clock before the last attempt; zero in old entries.
	Last time.Time `json:"last,omitzero"`
	// Tools: the last attempt was by the wiki's discussion tools. NoTools: they cannot write it.
	Tools   bool `json:"tools,omitempty"`
	NoTools bool `json:"no_tools,omitempty"`
	// NothingSaved: the wiki answered to every attempt that it saved nothing.
	NothingSaved bool `json:"nothing_saved,omitempty"`
	// Unclear is the newest hidden revision that may be our reply: the entry was given up for it.
	Unclear int64 `json:"unclear,omitempty"`
	// Cleared: the operator has checked up to this revision and wants another attempt.
	Cleared int64 `json:"cleared,omitempty"`

	Error string `json:"error,omitempty"`
}

// Filter selects entries. Empty fields do not restrict.
type Filter struct {
	Page       string
	Thread     string
	Text       string    // text hash
	Origin     *Origin   // of the comment
	Author     string    // of the comment
	States     []State   // any of these
	SavedSince time.Time // with an attempt to save at or after this time (own clock)
	Any        *Seen     // that may be for one of the comments seen on a page
	Newest     int       // maximum number of entries, the last ones that were added; 0: all
}

// Seen are the authors and text hashes of the comments on a page.
type Seen struct{ Authors, Texts []string }

// Origin is the content of a signature: who wrote a comment, and when, to the minute. Comments may share it.
type Origin struct {
	Author string    // "" when unsigned
	Time   time.Time // UTC; zero without a time stamp
}

// Origin returns the content of the signature of the entry's comment.
func (e *Entry) Origin() Origin { return newOrigin(e.Author, e.Time) }

func newOrigin(author string, t *time.Time) Origin {
	o := Origin{Author: author}
	if t != nil {
		o.Time = t.UTC()
	}
	return o
}

// signed reports whether both author and time are known. Without them, only the words distinguish comments.
func (o Origin) signed() bool { return o.Author != "" && !o.Time.IsZero() }

// Key returns the name of a new entry: a hash of the comment's text and signature. It can be used in a wikitext marker:
// "sb-" and 16 hex digits. The number n distinguishes comments that agree in all of this; it is 0 for the first. An
// entry keeps its key whatever happens to the comment.
func Key(page string, o Origin, text string, n int) string {
	return hashKey(page, o.Author, o.Time.Format(time.RFC3339), text, strconv.Itoa(n))
}

// oldKey is the key that earlier versions made, from the comment's ID.
func oldKey(page, comment string) string { return hashKey(page, comment) }

func hashKey(parts ...string) string {
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return "sb-" + hex.EncodeToString(h[:8])
}

// move changes the state with a reason and records the change, or returns an error if it is not allowed.
func (e *Entry) move(now time.Time, to State, reason string) error {
	if !e.State.May(to) {
		return fmt.Errorf("ledger entry %s is %s and cannot become %s", e.Key, e.State, to)
	}
	e.State, e.Reason, e.Updated = to, reason, now
	e.Queued = e.Queued && to == Noticed
	e.record(now, to, reason)
	return nil
}
