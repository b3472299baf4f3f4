// Package identity implements the rules that determine which comment on a page belongs to an entry in the bot's ledger.
// The signature must be the same. Comments with the same signature are distinguished by their text, thread and
// position, and by our reply. The package uses neither the ledger nor the wiki.
package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
)

// Top is the position of the first comment in a thread.
const Top = "top"

// Post is a comment on the page.
type Post struct {
	Thread  *forum.Thread
	Comment *forum.Comment
	Text    string // [TextHash]
	Place   string // [Top], or the TextHash of its parent
}

// TextHash returns a hash of a comment's text and queries, with white space collapsed. Moving, re-indenting or
// archiving a comment does not change its hash.
func TextHash(c *forum.Comment) string {
	h := sha256.New()
	h.Write([]byte(strings.Join(strings.Fields(c.Text), " ")))
	for _, q := range c.SPARQL() {
		h.Write([]byte("\x00" + strings.Join(strings.Fields(q), " ")))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Claim is a ledger entry, or a comment from before the bot first started, that claims one of the comments with its
// signature.
type Claim struct {
	Text, Heading, Place string
	Others               []string // the TextHashes of comments that were on the page at the same time
	Signed               bool     // with name and time
	Old                  bool     // from before the first start
	Vague                bool     // its thread and position are unknown
	Alone                bool     // a comment with its text in a different thread does not belong to it; see [Arrivals]

	Reply *forum.Comment // our reply to the claim's comment, or nil
	In    *forum.Thread  // the thread of the reply
}

// Rule is the reason a comment belongs to a claim. Rules are ordered from strongest to weakest.
type Rule int

// The rules.
const (
	None        Rule = iota
	Replied          // same text, above our reply
	Same             // same text, thread and position
	InThread         // same text and thread
	EditedThere      // different text, same thread and position, above our reply
	Moved            // same text, in a different thread
	Edited           // different text, same thread and position
	EditedAbove      // different text, same thread, above our reply
	EditedSome       // different text, same thread; the position is unknown
	OldEdited        // a thread's unsigned first comment, from before the bot first started, in which a word was corrected
)

// Match is the result for a claim.
type Match struct {
	Post int // index of the post, or -1 if there is none
	Rule Rule
}

// Assign finds the post that belongs to each claim, if such a post exists. It applies stronger rules first; within a
// rule, it prefers earlier claims and then earlier posts. No post is assigned to two claims.
func Assign(posts []Post, claims []Claim) []Match {
	type pair struct {
		rule        Rule
		claim, post int
	}
	var pairs []pair
	for i := range claims {
		for j := range posts {
			if rule := claims[i].fits(&posts[j]); rule != None {
				pairs = append(pairs, pair{rule, i, j})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return int(a.rule - b.rule) })
	out := make([]Match, len(claims))
	for i := range out {
		out[i].Post = -1
	}
	taken := map[int]bool{}
	for _, x := range pairs {
		if out[x.claim].Post < 0 && !taken[x.post] {
			out[x.claim] = Match{x.post, x.rule}
			taken[x.post] = true
		}
	}
	return out
}

// fits returns the rule by which a comment belongs to the claim.
func (c *Claim) fits(p *Post) Rule {
	here := c.Place == p.Place
	// The thread is the same if its heading is the same or, if the heading has changed, if it contains our reply.
	inThread := c.Vague || c.Heading == p.Thread.Heading || c.In == p.Thread
	replied := c.In == p.Thread && c.Reply.Parent == p.Comment.ID
	// A comment with p's text was on the page at the same time as the claim's comment, so p is a different one.
	another := slices.Contains(c.Others, p.Text)
	if c.Text == p.Text {
		switch {
		case replied:
			return Replied
		case inThread && here:
			return Same
		case inThread:
			return InThread
		case c.Signed && !another && !c.Alone:
			return Moved
		}
	}
	if c.Signed && inThread && !another {
		return c.edited(here, replied)
	}
	if c.Old && !c.Signed && !c.Vague && c.Place == Top && p.Place == Top && c.Heading == p.Thread.Heading {
		return OldEdited
	}
	return None
}

// edited returns the rule by which a comment in the claim's thread with a different text belongs to the claim. here
// reports whether the comment is in the claim's position, and replied whether our reply is under it.
func (c *Claim) edited(here, replied bool) Rule {
	// If only our reply matches, someone may have inserted the comment between it and the claim's comment. If the
	// position matches too, the claim's text elsewhere is a different comment: someone asked twice within a minute.
	switch {
	case replied && here:
		return EditedThere
	case here:
		return Edited
	case replied:
		return EditedAbove
	case c.Place == "":
		return EditedSome
	}
	return None
}

// Arrivals returns how often a post was added to a page, given its number of copies in each of the page's revisions,
// oldest first. A post that was moved in a single edit was added once. A post that was removed in one edit and restored
// in another is counted twice, but people do not do both within a minute.
func Arrivals(counts []int) (n int) {
	before := 0
	for _, c := range counts {
		n += max(0, c-before)
		before = c
	}
	return n
}
