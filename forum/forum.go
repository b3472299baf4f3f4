// Package forum parses a wiki's talk page, from wikitext or from Parsoid's HTML, into threads of comments and
// conversations, and writes replies as wikitext.
//
// [Parse] parses wikitext according to the same rules as MediaWiki's DiscussionTools and the Convenient Discussions
// gadget. These rules determine what counts as a signature, where a comment starts and ends, and which comment it
// answers. [Compose] turns a [Reply] into wikitext in which no external text is interpreted as markup. [Place] inserts
// the reply into its section. The package never connects to a wiki.
//
// Reading a page involves these packages and files:
//
//   - internal/wikitext finds templates, tags and headings as MediaWiki does (for section numbers), and reads sections
//     with careless query templates a second time, as their authors intended them (querytemplate.go, with as much of
//     SPARQL as package queryscan implements).
//
//   - parse.go divides the page into threads, and comments.go divides the part under each heading into comments. A
//     comment ends with a signed line (sign.go, signature.go, foreign.go). Its level is the depth of its list items. It
//     answers the last preceding comment at a lower depth. Unsigned lines are a separate comment if their indentation
//     shows that; DiscussionTools would assign them to the next signer.
//
//   - queries.go collects the queries in a comment, and text.go converts a comment to plain text.
//
//   - encode.go makes external text safe, compose.go builds the reply from this text and from the sentences in
//     messages.go, and place.go finds the reply's position.
//
//   - html.go reads rendered pages: package parsoid converts Parsoid's HTML to wikitext, which is then read as above.
//     diff.go compares two readings of a page.
//
//   - conversation.go presents a thread as a request and its responses.
package forum

import "time"

// Page is a parsed talk page.
type Page struct {
	Title   string   `json:"-"`
	Threads []Thread `json:"threads"`
}

// Thread is a level-2 (or level-1) section with its comments in page order.
type Thread struct {
	Heading  string    `json:"heading"` // as displayed, without markup
	Level    int       `json:"level"`
	Resolved bool      `json:"resolved"`
	Comments []Comment `json:"comments"`

	ResolvedBy string `json:"-"` // user who signed the first template that closes the thread; empty if it is unsigned
	// MediaWiki's section number, for action=edit; 0 if MediaWiki cannot edit the thread separately because of broken
	// braces
	Section    int    `json:"-"`
	RawHeading string `json:"-"` // wikitext between the equals signs
	Anchor     string `json:"-"` // fragment of a link to the section
	Start      int    `json:"-"` // byte offsets of the section in the page's wikitext, including the heading
	End        int    `json:"-"`
	NoBots     bool   `json:"-"` // the section's {{nobots}} or {{bots|…}} bans accounts; use [Denied] for the whole page
}

// Comment is a signed comment, or unsigned text that does not belong to a signed comment.
type Comment struct {
	// c-Author-20190605142000, or u- and a hash if the author or time is unknown; followed by "~" and a hash if another
	// comment already has that ID
	ID      string     `json:"id"`
	Author  *string    `json:"author"`
	Time    *time.Time `json:"time"`  // UTC, to the minute
	Level   int        `json:"level"` // 1 + list depth
	Parent  string     `json:"parent"`
	Under   string     `json:"under"` // subheading inside the thread
	Text    string     `json:"text"`  // as displayed, with queries replaced by [query]
	Queries []Query    `json:"queries"`

	// ID of the comment that it answers from a reader's perspective: Parent or, after {{outdent}}, the previous comment
	Answers string `json:"-"`
	// user names linked or pinged in the comment, except in its own signature and in quotations; see [Comment.Mentioned]
	Mentions []string `json:"-"`
	// URLs of its external links as written ("https://w.wiki/7Xyz"), at most one hundred, excluding links in code, HTML
	// comments and the signature
	Links  []string `json:"-"`
	Indent string   `json:"-"` // leading list characters of the comment's first line, ":*"
	Start  int      `json:"-"` // byte offsets in the page's wikitext
	End    int      `json:"-"`

	outdent bool // starts with {{outdent}}
	// the rest of the line after each plain-text "@" mention, since it is not known where the name ends
	calls []string
	body  int // offset of the text between two headings that contains the comment
}

// Query is a SPARQL query found in a comment.
type Query struct {
	Kind   string `json:"kind"`   // template, link, code
	Name   string `json:"name"`   // the template's or tag's name
	SPARQL string `json:"sparql"` // empty for a short link, of which only the URL is known
	// whether the query was recovered from the wikitext because raw pipes or adjacent braces truncated the parameter
	Salvaged bool   `json:"salvaged"`
	URL      string `json:"url,omitempty"` // for a link, the URL as written
}

// Reply is a reply that is ready to be written: its content is final, and its query has been run and checked. All
// strings except Signature are untrusted, and [Compose] encodes them.
type Reply struct {
	Language string // language of the fixed sentences, see [Texts]; English if it is not supported
	To       string // user name of the person being answered
	Ping     bool   // whether to link To, which notifies that person; otherwise no one is notified
	Short    string // the short answer
	// why there is no answer: a key of a fixed sentence (no_model, not_found, actions, time, money, failed); empty if
	// there is an answer
	NoAnswer string
	// a question for the person who asked, instead of an answer; Short and NoAnswer are then empty
	Asks        string
	Query       string     // the query, formatted for posting
	Tried       string     `json:",omitempty"` // if there is no answer, the query that shows it, formatted for posting
	Vars        []string   // result header
	Headers     []string   // readable headers, with units; if a header is missing or empty, the variable's name is shown
	Rows        [][]Cell   // first rows of the result
	NoValues    []string   // names of query columns that are not in Vars because they have no values
	NoValueVars []string   `json:",omitempty"` // their variables
	Sorted      []string   `json:",omitempty"` // variables that the query sorts by
	Total       int        // total number of rows
	Tree        []TreeItem // the result as a tree, shown instead of the table
	Several     bool       // some items have several rows, one per value
	Equal       bool       // the query returns duplicate rows; Rows and Total contain each of them once
	Told        bool       // Short already states the result's only value
	Numbers     bool       // the request asks for item IDs
	Boolean     *bool      // result of an ASK
	RanAt       time.Time  // when the query was run
	Endpoint    string     // name of the endpoint that ran the query, such as "query.wikidata.org"
	Assumed     string     // the interpretation that the model chose
	LeftOpen    string     // what the answer leaves open, according to the model
	Yours       Fault      // fault in the asker's own query
	Open        []Open     // interpretations that would change the result
	Steps       []Step     // steps that led to the answer
	Similar     []Earlier  // earlier discussions whose queries still return rows; the first two are linked
	Operator    string     // user name of the operator
	Model       string     // name of the language model
	// Templates reports whether the wiki has {{Q}} and {{P}}, which show the label and ID of an item or a property.
	Templates bool
	QueryPage string // URL prefix for opening a query; the encoded query is appended: "https://query.wikidata.org/#"
	Trace     string // URL of the page with all steps
	TracePage string // title of the page on this wiki with all steps; Trace is then empty
	Settled   bool   // an earlier answer in the thread was accepted: suggest marking the section as resolved
	Last      bool   // the bot will not answer again in this thread, so the reply must not invite further posts
	Before    *Reply // the reply before it was corrected, which is shown struck out
	// the ledger key, written as an HTML comment so that our own reply can be recognized later; only [a-z0-9-]
	Marker    string
	Signature string // "~~~~" on a real wiki
}

// Cell is a cell in a result table. ID is the Q, P or L number if the value is an entity, which is then shown as a link
// generated by our code.
type Cell struct {
	ID    string
	Label string // of an entity
	Alike bool   `json:",omitempty"` // another entity in the column has the same label, so the ID is shown, too
	Text  string // of any other value
	// how Text is shown: number, day, month (as its first day), year, place (latitude and longitude, separated by a
	// space), file (on Commons), article (in a Wikipedia, de:Titel), boolean (true or false), address (which may be
	// broken), rank (normal, preferred or deprecated), unknown (a value exists but is not known), or "" for unchanged
	Kind string
	Unit string // for a number, its unit: "km"
	Year string // for a number, the year for which it is valid
}

// The kinds of faults in a user's query.
const (
	FaultSyntax    = "syntax"    // there is a syntax error in line Line
	FaultStatement = "statement" // it uses the statements of property ID as if they were values
	FaultEntity    = "entity"    // it uses the entity of property ID as a predicate: wd:P31 instead of wdt:P31
	FaultQualifier = "qualifier" // it uses property ID on items, but ID is a qualifier on their statements
	FaultText      = "text"      // it uses Text as a value of property ID, whose values are items; the answer uses Item
	FaultEmpty     = "empty"     // it returns no rows
	FaultSlow      = "slow"      // it times out
)

// Fault is a fault in a query. The zero value means no fault.
type Fault struct {
	Kind string
	Line int
	ID   string
	Item string `json:",omitempty"`
	Text string `json:",omitempty"`
}

// TreeItem is an entity in a tree: Depth is 0 for a root, and at most one more than the Depth of the previous item.
type TreeItem struct {
	Cell
	Depth int
}

// The kinds of steps that a reply shows. Other steps are left out.
const (
	StepNames  = "names"  // words from the question were looked up
	StepSearch = "search" // a search for Text
	StepLook   = "look"   // Things were examined
	StepQuery  = "query"  // a query that returned Rows rows or failed
	StepOther  = "other"  // a call to the tool named Text
)

// MaxThings is the number of entities named in a step before an ellipsis. If there is only one more, it is named, too.
const MaxThings = 4

// Step is one of the agent's steps, for the collapsed list.
type Step struct {
	Kind   string
	Text   string
	Things []Cell // entities that the step found or examined
	Rows   int
	Unused bool `json:",omitempty"` // for StepSearch, what was found was not used, so it is not in Things
	Failed bool
	Answer bool   `json:",omitempty"` // for StepQuery, the query is the answer's
	Ask    bool   // the query was an ASK, which has no rows
	Query  string // for StepQuery, the query; linked if the reply has a QueryPage
}
