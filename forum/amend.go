package forum

import (
	"fmt"
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// maxStruck is the maximum number of rows from an earlier result that are shown struck out.
const maxStruck = 5

// amended returns the parts of a corrected reply that explain the correction and show the earlier answer struck out. It
// returns nil if the reply was not corrected.
func (c *composer) amended() []string {
	before := c.r.Before
	if before == nil {
		return nil
	}
	parts := []string{c.t.Text("amended", "time", c.moment(c.r.RanAt))}
	said, now := encode(before.Short, MaxShort), encode(c.r.Short, MaxShort)
	if said == now && before.Boolean == nil {
		return parts
	}
	if said == "" {
		said = (&composer{r: *before, t: c.t}).found()
	}
	return append(parts, "<s>"+said+"</s>")
}

// struck shows the first rows of a corrected reply's earlier result, struck out.
func (c *composer) struck() error {
	if c.r.Before == nil || c.r.Before.Boolean != nil {
		return nil
	}
	var rows []string
	old := &composer{r: *c.r.Before, t: c.t, indent: c.indent}
	shown := old.shape().columns
	for _, row := range old.r.Rows[:min(len(old.r.Rows), maxStruck)] {
		var cells []string
		for _, i := range shown {
			if i >= len(row) {
				continue
			}
			cell, err := old.cell(row[i])
			if err != nil {
				return err
			}
			if cell != "" {
				cells = append(cells, cell)
			}
		}
		if len(cells) > 0 {
			rows = append(rows, "<s>"+strings.Join(cells, ", ")+"</s>")
		}
	}
	if more := max(old.r.Total, len(old.r.Rows)) - len(rows); more > 0 && len(rows) > 0 {
		rows = append(rows, fmt.Sprintf("<s>+ %s</s>", c.t.Number(more)))
	}
	if len(rows) > 0 {
		c.block(c.line(strings.Join(rows, "; ")))
	}
	return nil
}

// Replace replaces the bytes from start to end in the page and returns the new text of the whole section that MediaWiki
// edits as section t.Section. Errors wrap [ErrUnplaceable].
func Replace(pageText string, t *Thread, start, end int, with string) (sectionText string, err error) {
	sec, err := sectionOf(wikitext.Preprocess(pageText, wikitext.Options{}), t)
	if err != nil {
		return "", err
	}
	if start < sec.Start || end < start || sec.End < end {
		return "", fmt.Errorf("the text is not in MediaWiki's section %d: %w", t.Section, ErrUnplaceable)
	}
	return pageText[sec.Start:start] + with + pageText[end:sec.End], nil
}
