package dataset

import (
	"encoding/json"
	"time"
)

// CandidateSchema is the version of the [Candidate] format. It is incremented when a program that reads the previous
// version would misread the new one.
const CandidateSchema = 1

// License is the license of the forum's text, and therefore of all data derived from it.
const License = "CC BY-SA 4.0"

// Candidate is a discussion in the forum's archive with a query that may become a benchmark item: a line in
// candidates.jsonl. Rejected discussions have the same format, with Stage [Rejected] and a Reason, in rejected.jsonl.
type Candidate struct {
	Schema int `json:"schema"`
	// "c-" and 16 hex digits; a discussion keeps its ID if its page is edited or harvested again
	ID         string     `json:"id"`
	Provenance Provenance `json:"provenance"`

	Conversation Conversation `json:"conversation"`
	Queries      []Query      `json:"queries"` // all queries in the discussion, in page order

	Original string `json:"original"` // the query mentioned last, as its author wrote it
	// the query that was run: printed canonically, without mwapi and with [AUTO_LANGUAGE] replaced
	Cleaned   string `json:"cleaned,omitempty"`
	Annotated string `json:"annotated,omitempty"` // Cleaned with labels instead of IDs, for annotators
	Trimmed   string `json:"trimmed,omitempty"`   // Cleaned without the parts that flags mark as removable; empty if none

	Stage  Stage  `json:"stage"`
	Reason Reason `json:"reason,omitempty"` // why the discussion was rejected
	Detail string `json:"detail,omitempty"` // details of the reason, for human readers

	Result     *Result     `json:"result,omitempty"`
	Metrics    *Metrics    `json:"metrics,omitempty"`
	Entities   []string    `json:"entities,omitempty"`   // Q and L IDs in Cleaned
	Properties []string    `json:"properties,omitempty"` // P IDs in Cleaned
	Features   []string    `json:"features,omitempty"`   // feature names as in `sparql check`
	Pattern    string      `json:"pattern,omitempty"`    // normalized pattern (as counted in SPINACH, table 6)
	Flags      []Flag      `json:"flags,omitempty"`
	Near       []Near      `json:"near,omitempty"`
	Suggestion *Suggestion `json:"suggestion,omitempty"`
	Notes      []string    `json:"notes,omitempty"` // changes made, and differences between the page's HTML and wikitext

	Labels map[string]string `json:"labels,omitempty"` // English labels of Entities and Properties
	// English descriptions of Entities and Properties, if a model was asked for advice
	Descriptions map[string]string `json:"descriptions,omitempty"`
}

// Provenance records where a discussion was found.
type Provenance struct {
	Wiki      string    `json:"wiki"`     // URL of the wiki's API
	Page      string    `json:"page"`     // title of the archive page
	Revision  int64     `json:"revision"` // the page revision that was read
	Section   int       `json:"section"`  // 1-based index of the thread on the page
	Heading   string    `json:"heading"`
	Permalink string    `json:"permalink"` // URL of that section in that revision
	URL       string    `json:"url"`       // URL of the archive page, as in SPINACH's items
	Month     string    `json:"month"`     // the archive page's month, YYYY-MM
	Read      time.Time `json:"read"`
	License   string    `json:"licence"`
}

// Conversation describes the discussion in the terms used in a benchmark's statistics.
type Conversation struct {
	Requester string    `json:"requester,omitempty"` // empty if unsigned
	Asked     time.Time `json:"asked,omitzero"`      // when the request was signed
	// number of comments after the request, as in SPINACH's table 8
	Responses int       `json:"responses"`
	Thanked   bool      `json:"thanked,omitempty"`  // the requester said thanks
	Resolved  bool      `json:"resolved,omitempty"` // the thread is marked resolved
	Comments  []Comment `json:"comments"`
}

// Comment is a post in a discussion, for annotators.
type Comment struct {
	Author string    `json:"author,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Level  int       `json:"level"` // 1 is not indented
	Text   string    `json:"text"`  // text as read, with queries replaced by [query]
}

// Query is a query in a discussion, with its author.
type Query struct {
	Kind     string `json:"kind"` // template, link or code
	SPARQL   string `json:"sparql"`
	Comment  int    `json:"comment"` // index into Conversation.Comments
	Author   string `json:"author,omitempty"`
	Bot      bool   `json:"bot,omitempty"`      // posted by our bot; never a candidate
	Salvaged bool   `json:"salvaged,omitempty"` // truncated by markup; the rest was in the page source
	URL      string `json:"url,omitempty"`      // the link that contained it
}

// Result is the result of running the Cleaned query.
type Result struct {
	Endpoint string    `json:"endpoint"`
	RanAt    time.Time `json:"ran_at"`
	MS       int64     `json:"ms"`
	Rows     int       `json:"rows"`
	Bytes    int64     `json:"bytes"`
	Hash     string    `json:"hash"`           // hash of the rows as a multiset, to detect drift
	Head     []string  `json:"head,omitempty"` // names of the projected variables
	// first rows: the bindings list in the SPARQL JSON format, or true or false
	Sample json.RawMessage `json:"sample,omitempty"`
	// the query that was run instead of Cleaned, if a different endpoint required it
	Rewritten string `json:"rewritten,omitempty"`
}

// Metrics are the numbers in SPINACH's table 1, computed from the query's syntax tree.
type Metrics struct {
	Clauses     int `json:"clauses"`
	Projections int `json:"projections"`
	Relations   int `json:"relations"`
	Subjects    int `json:"subjects"`
	Predicates  int `json:"predicates"`
	Objects     int `json:"objects"`
	Literals    int `json:"literals"`
}

// Flag marks a part of the query's syntax tree that the SPINACH paper (appendix C) trims or excludes.
type Flag struct {
	Kind   FlagKind `json:"kind"`
	Why    string   `json:"why"`            // the reason, and the part of the query that it concerns
	Line   int      `json:"line,omitempty"` // 1-based, in Cleaned
	Column int      `json:"column,omitempty"`
	Trims  bool     `json:"trims,omitempty"` // Trimmed omits this part
}

// FlagKind is the kind of a flag: one of the four kinds in the paper.
type FlagKind string

// The kinds.
const (
	Wikimedia    FlagKind = "wikimedia"    // parts about Wikimedia projects: articles, sitelinks
	CodeHelp     FlagKind = "code"         // a question about code, with no plain-language meaning
	Optimization FlagKind = "optimisation" // hints and rewrites that keep the query within the time limit
	Formatting   FlagKind = "formatting"   // labels only, images, concatenation, links
)

// Near is a nearly identical query.
type Near struct {
	ID         string  `json:"id"`     // the candidate's ID, or the item's ID in the benchmark
	Source     string  `json:"source"` // "candidates" or the benchmark's file name
	Similarity float64 `json:"similarity"`
	Why        string  `json:"why"` // "same pattern and numbers", "same pattern", "similar text" …
}

// Suggestion is the model's advice for annotators. It is only shown to annotators, and never used without their review.
type Suggestion struct {
	Model        string   `json:"model"`
	Precise      string   `json:"precise"` // a question that states every part of the query
	Natural      string   `json:"natural"` // the question as a user would ask it
	Verdict      Verdict  `json:"verdict"`
	Reasons      []string `json:"reasons,omitempty"`
	Disambiguate []string `json:"disambiguate,omitempty"` // elements that must be distinguished from similar ones
}

// Verdict is the decision on a candidate.
type Verdict string

// The verdicts. Only annotators use Skip, which means that there is no verdict yet.
const (
	Include Verdict = "include"
	Modify  Verdict = "modify"
	Exclude Verdict = "exclude"
	Skip    Verdict = "skip"
)

// Stage is the last stage that a discussion reached.
type Stage string

// The stages, in order. Gone marks a discussion that was removed by a later page revision or by the page's deletion.
const (
	Found    Stage = "found"
	Rejected Stage = "rejected"
	Staged   Stage = "staged"
	Gone     Stage = "gone"
)

// Reason is why a discussion was rejected.
type Reason string

// The reasons, in the order of the funnel.
const (
	NoQuery Reason = "no_query" // no comment contains a query
	BotOnly Reason = "bot_only" // only our bot posted queries
	// the only query is a short link that does not lead to a query service
	BadShortLink Reason = "bad_short_link"
	SyntaxError  Reason = "syntax_error"    // the parser or the endpoint rejects the query
	Update       Reason = "update"          // the query would change data
	RefusedHost  Reason = "refused_service" // the query calls a disallowed SERVICE
	Timeout      Reason = "timeout"
	TooLarge     Reason = "too_large"     // the result is over 10 MB
	Failed       Reason = "failed"        // the endpoint fails on the query for another reason, such as lack of memory
	Empty        Reason = "empty"         // the result has no rows
	Scholarly    Reason = "scholarly"     // the query requires the scholarly part of the split graph
	EndpointDown Reason = "endpoint_down" // the endpoint failed permanently; `harvest` retries the query
)

// Transient reports whether retrying later may succeed.
func (r Reason) Transient() bool { return r == EndpointDown || r == Timeout }
