// Package forum reads a wiki's talk page, as wikitext or as Parsoid's HTML, as threads of comments and conversations,
// and writes replies as wikitext.
//
// [Parse] reads wikitext as MediaWiki's DiscussionTools and the Convenient Discussions gadget do: what is a signature,
// where a comment starts and ends, what it answers. [Compose] turns a [Reply] into wikitext in which no outside text
// can become markup. [Place] inserts it where it belongs. The package never talks to a wiki.
//
// How a page is read, and where to look:
//
//   - internal/wikitext finds templates, tags and headings as MediaWiki does (for section numbers), and reads sections
//     with careless query templates a second time, as their authors meant them (querytemplate.go, which knows as much
//     SPARQL as sparqlscan.go).
//
//   - parse.go cuts the page into threads, comments.go the part under each heading into comments: a comment ends with
//     the line that is signed (sign.go, signature.go, foreign.go), its level is the depth of its list items, it answers
//     the last comment that is less deep. Unsigned lines are a separate comment when their indentation says so;
//     DiscussionTools would give them to the next signer.
//
//   - queries.go collects the queries of a comment, text.go its words.
//
//   - encode.go makes text from outside harmless, compose.go builds the reply from it and from the sentences in
//     messages.go, place.go finds its place.
//
//   - html.go reads rendered pages: unparse.go and unparselink.go write the wikitext of Parsoid's HTML, with the
//     sources that datamw.go finds in it, and that is read as above; diff.go describes where two readings differ.
//
//   - conversation.go treats a thread as a request and its responses.
package forum

import "time"

// Page is a talk page read.
type Page struct {
	Title   string   `json:"-"`
	Threads []Thread `json:"threads"`
}

// Thread is a section of level 2 (or 1) with its comments in page order.
type Thread struct {
	Heading  string    `json:"heading"` // as read: markup removed
	Level    int       `json:"level"`
	Resolved bool      `json:"resolved"`
	Comments []Comment `json:"comments"`

	ResolvedBy string `json:"-"` // who signed the first of the templates that close the thread; empty if nobody did
	// MediaWiki's section number, for action=edit; 0 when MediaWiki cannot edit the thread on its own (broken braces
	// around it)
	Section    int    `json:"-"`
	RawHeading string `json:"-"` // wikitext between the equals signs
	Anchor     string `json:"-"` // fragment of a link to the section
	Start      int    `json:"-"` // byte offsets of the section in the page's wikitext, heading included
	End        int    `json:"-"`
	NoBots     bool   `json:"-"` // {{nobots}} or {{bots|…}} inside the section; the page's own is found by [Denied]
}

// Comment is one signed comment, or an unsigned rest.
type Comment struct {
	// c-Author-20190605142000, or u- and a hash if author or time are unknown; "~" and a hash after it if another comment
	// has that ID
	ID      string     `json:"id"`
	Author  *string    `json:"author"`
	Time    *time.Time `json:"time"`  // UTC, to the minute
	Level   int        `json:"level"` // 1 + list depth
	Parent  string     `json:"parent"`
	Under   string     `json:"under"` // sub-heading inside the thread
	Text    string     `json:"text"`  // as read, queries replaced by [query]
	Queries []Query    `json:"queries"`

	// id of the comment it answers as people read it: Parent, but after {{outdent}} the comment before
	Answers string `json:"-"`
	// user names linked or pinged in the comment, except in its own signature and in quotations; see [Comment.Mentioned]
	Mentions []string `json:"-"`
	// addresses of its external links as written ("https://w.wiki/7Xyz"), the first hundred; not in code, comments, the
	// signature
	Links  []string `json:"-"`
	Indent string   `json:"-"` // leading list characters of the comment's first line, ":*"
	Start  int      `json:"-"` // byte offsets in the page's wikitext
	End    int      `json:"-"`

	outdent bool // starts with {{outdent}}
	// the rest of the line after each "@" that addresses someone in plain text: it is not known where the name ends
	calls []string
	body  int // offset of the part between two headings that contains it
}

// Query is a SPARQL query found in a comment.
type Query struct {
	Kind   string `json:"kind"`   // template, link, code
	Name   string `json:"name"`   // the template's or tag's name
	SPARQL string `json:"sparql"` // empty for a short link, of which only the address is known
	// taken from the wikitext because raw pipes or glued braces cut the parameter
	Salvaged bool   `json:"salvaged"`
	URL      string `json:"url,omitempty"` // for a link: the address as written
}

// Reply is a reply ready to be written: everything in it has been decided, run and checked. All texts but Signature are
// untrusted and are encoded by [Compose].
type Reply struct {
	Language string // of the fixed sentences, see [Texts]; others get English
	To       string // user name of the person answered
	Ping     bool   // To is linked, which notifies that person; else nobody is
	Short    string // the short answer
	// why there is no answer: one of the keys of the fixed sentences (no_model, not_found, actions, time, money,
	// failed); empty when there is one
	NoAnswer string
	// a question to the person answered, instead of an answer; Short and NoAnswer are then empty
	Asks     string
	Query    string     // the posted query, in its posting form
	Vars     []string   // result header
	Headers  []string   // the same in words, with units; the variable is shown if there are fewer, or one is ""
	Rows     [][]Cell   // first rows of the result
	NoValues []string   // names of columns of the query that are not in Vars because no row has a value there
	Total    int        // rows in all
	Tree     []TreeItem // the result as a tree, shown instead of the table
	Several  bool       // some items have several rows, one for each of their values
	Equal    bool       // the query returns some rows several times; Rows and Total have each once
	Told     bool       // Short has the result's only value, in words
	Numbers  bool       // the IDs of items are asked for
	Boolean  *bool      // result of an ASK
	RanAt    time.Time  // when the query was run
	Endpoint string     // where it was run: a name such as "query.wikidata.org"
	Assumed  string     // the reading that the model chose
	LeftOpen string     // what the model says it left open
	Yours    Fault      // what was wrong with the query that the asker had posted
	Open     []Open     // readings that would change the result
	Steps    []Step     // how it was found
	Similar  []Earlier  // earlier discussions whose query still runs; the first two are linked
	Operator string     // user name of the operator
	Model    string     // name of the language model
	// Templates: the wiki has {{Q}} and {{P}}, which show label and number of an item or a property.
	Templates bool
	QueryPage string // prefix of a link that opens a query, to which the encoded query is appended: "https://query.wikidata.org/#"
	Trace     string // address of the page with all steps
	TracePage string // title of the page of this wiki with all steps; Trace is then empty
	Settled   bool   // an earlier answer in the thread was accepted: the reply suggests marking the section as resolved
	Last      bool   // no more posts in the thread are answered: the reply invites none
	Before    *Reply // what the reply said before it was corrected: shown struck out
	// the ledger's key, written as an HTML comment so that our own reply can be found again: [a-z0-9-] only
	Marker    string
	Signature string // "~~~~" on a real wiki
}

// Cell is a cell of a result table. ID is the Q, P or L number when the value is an entity: then it is shown as a link
// made by our code.
type Cell struct {
	ID    string
	Label string // of an entity
	Text  string // of everything else
	// how Text is shown: number, day, year, place (latitude and longitude, with a space between),
	// file (of Commons), unknown (the value is known to exist, but not which one it is), or "" for unchanged
	Kind string
	Unit string // for a number: "km"
	Year string // for a number: when it was true
}

// The kinds of faults of a person's query.
const (
	FaultSyntax    = "syntax"    // Line cannot be read
	FaultStatement = "statement" // it uses statements of the property ID as values
	FaultQualifier = "qualifier" // it asks items for the property ID, which is a qualifier of their statements
	FaultText      = "text"      // it has Text as a value of the property ID, whose values are items: Item
	FaultEmpty     = "empty"     // it returns no rows
	FaultSlow      = "slow"      // it does not finish in time
)

// Fault is a fault in a query. The zero Fault means none.
type Fault struct {
	Kind string
	Line int
	ID   string
	Item string `json:",omitempty"`
	Text string `json:",omitempty"`
}

// TreeItem is an entity in a tree: Depth is 0 for a root, and at most one more than that of the item before.
type TreeItem struct {
	Cell
	Depth int
}

// The kinds of steps that a reply shows. A step of another kind is left out.
const (
	StepNames  = "names"  // the words of the question were looked up
	StepSearch = "search" // a search for Text
	StepLook   = "look"   // Things were examined
	StepQuery  = "query"  // a query that returned Rows, or failed
	StepOther  = "other"  // the tool Text was used
)

// Step is a step of the agent for the collapsed list.
type Step struct {
	Kind   string
	Text   string
	Things []Cell // entities that it found or examined
	Rows   int
	Failed bool
	Ask    bool   // the query asked whether something is so: it has no rows
	Query  string // of StepQuery: what was run, linked if the reply has a QueryPage
}
