package faithful

import (
	"regexp"
	"slices"
	"strings"
)

// Chinese and Japanese have no spaces between words, so superlatives and names are searched for in the sentence as a
// whole.

var (
	unspaced = []struct {
		degree  degree
		pattern *regexp.Regexp
	}{
		{most, regexp.MustCompile(`(最も?|一番)(多|大|高|长|長|深|重)`)}, {least, regexp.MustCompile(`(最も?|一番)(少|小|低|短|浅|軽|轻)`)},
		{oldest, regexp.MustCompile(`(最も?|一番)(早|古|老)`)}, {youngest, regexp.MustCompile(`(最も?|一番)(晚|遅|新|近|年轻|若)`)},
	}
	// one of the highest, the second highest, not the highest
	otherUnspaced = regexp.MustCompile(`之一|ひとつ|一つ|第[二三四五六七八九十\d]|番目|次に|不是|ではな|ではあ`)
)

// orderIn returns what a sentence puts in a wrong order.
func (c *Checker) orderIn(s string, toks []token, named []found) []string {
	if c.language == "zh" || c.language == "ja" {
		return c.unspacedOrder(s)
	}
	return c.order(toks, named)
}

// unspacedOrder is [Checker.order] for Chinese and Japanese.
func (c *Checker) unspacedOrder(s string) []string {
	if c.rows < 2 || otherUnspaced.MatchString(s) {
		return nil
	}
	folded := fold(s)
	var heads []map[int]bool
	for _, n := range c.names {
		spaced, joined := strings.Join(n.words, " "), strings.Join(n.words, "")
		if n.head && (strings.Contains(folded, spaced) || strings.Contains(folded, joined)) {
			heads = append(heads, n.rows)
		}
	}
	if len(heads) == 0 {
		return nil
	}
	for _, f := range unspaced {
		said := f.pattern.FindString(s)
		if said == "" {
			continue
		}
		right := slices.ContainsFunc(c.orders(f.degree, nil), func(order []ranked) bool {
			return slices.ContainsFunc(heads, func(rows map[int]bool) bool { return at(order, rows, 1) })
		})
		if !right {
			return []string{said}
		}
	}
	return nil
}
