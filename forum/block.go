package forum

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Block is a part of a thread that users have marked as a conversation with the bot. It is the text between
// {{spinachbot top}} and {{spinachbot bottom}}.
type Block struct {
	Start, End int   // byte offsets of the text between the markers, in the page's wikitext
	Comments   []int // indexes into Thread.Comments of the comments that start in the block but not in a nested block
}

// Blocks returns the blocks of a thread, innermost first. Markers are paired like brackets within the thread. Unpaired
// markers, and markers in HTML comments or nowiki tags, are ignored.
func Blocks(pageText string, t *Thread) []Block {
	if t.End > len(pageText) || t.Start > t.End ||
		!strings.Contains(strings.ToLower(pageText[t.Start:t.End]), "spinachbot") {
		return nil
	}
	n := newNames(Options{})
	doc := wikitext.Preprocess(pageText, wikitext.Options{})
	var out []Block
	var open []int // end offsets of the opening markers
	for i := range doc.Nodes {
		d := &doc.Nodes[i]
		if d.Kind != wikitext.Template || d.Start < t.Start || d.End > t.End {
			continue
		}
		switch r := n.roleOf(d); {
		case r&blockStartTemplate != 0:
			open = append(open, d.End)
		case r&blockEndTemplate != 0 && len(open) > 0:
			out = append(out, Block{Start: open[len(open)-1], End: d.Start})
			open = open[:len(open)-1]
		}
	}
	for i := range t.Comments {
		for k := range out { // blocks are innermost first, so the first match is the right one
			if c := &t.Comments[i]; out[k].holds(c) {
				out[k].Comments = append(out[k].Comments, i)
				break
			}
		}
	}
	return out
}

// holds reports whether a comment overlaps the block. (A comment's first line may contain the opening marker.)
func (b Block) holds(c *Comment) bool {
	return c.End > b.Start && c.Start < b.End
}

// blockOf finds the innermost block around a comment.
func blockOf(pageText string, t *Thread, c *Comment) (Block, bool) {
	for _, b := range Blocks(pageText, t) {
		if b.holds(c) {
			return b, true
		}
	}
	return Block{}, false
}

// PlaceInBlock is like [Place], but for a comment in a [Block]: the reply is placed before the closing marker, even if
// comments after the marker also answer the target. target must be in a block.
func PlaceInBlock(pageText string, t *Thread, target, reply string) (sectionText string, err error) {
	s, sec, err := place(pageText, t, target)
	if err != nil {
		return "", err
	}
	c := t.comment(target)
	if c == nil {
		return "", fmt.Errorf("place reply: comment %q: %w", text.Clip(target, 100), ErrNoComment)
	}
	b, ok := blockOf(pageText, t, c)
	if !ok {
		return "", fmt.Errorf("place reply: comment %q is not in a block: %w", text.Clip(target, 100), ErrNoComment)
	}
	if s.offset <= b.End {
		return pageText[sec.Start:s.offset] + "\n" + reply + pageText[s.offset:sec.End], nil
	}
	before := pageText[sec.Start:b.End]
	if !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	return before + reply + "\n" + pageText[b.End:sec.End], nil
}

func (t *Thread) comment(id string) *Comment {
	for i := range t.Comments {
		if c := &t.Comments[i]; id != "" && c.ID == id {
			return c
		}
	}
	return nil
}
