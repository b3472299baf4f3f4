package wikitext

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// careless parses {{Q|…}} up to the end of its line if the template contains a "!", and otherwise like MediaWiki.
type careless struct {
	text   string
	asked  []int
	reads  int // number of calls during the second parse
	whole  map[int]*Node
	spoilt map[int]bool
}

func (c *careless) note(text string, i int) (Node, bool) {
	if strings.HasPrefix(text[i:], "{{Q|") {
		c.asked = append(c.asked, i)
	}
	return Node{}, false
}

func (c *careless) read(text string, i int) (Node, bool) {
	if !strings.HasPrefix(text[i:], "{{Q|") {
		return Node{}, false
	}
	c.reads++
	if n := c.whole[i]; n != nil && !c.spoilt[i] {
		return *n, true
	}
	end := len(text)
	if k := strings.IndexByte(text[i:], '\n'); k >= 0 {
		end = i + k
	}
	if !strings.Contains(text[i:end], "!") {
		return Node{}, false
	}
	return Node{Name: "Q", End: end}, true
}

// readBoth reparses a text, once as a whole and once in parts.
func readBoth(text string) (whole, parts *Doc, wholeReads, partReads int) {
	c := &careless{text: text, whole: map[int]*Node{}, spoilt: map[int]bool{}}
	mw := Preprocess(text, Options{Template: c.note})
	for i := range mw.Nodes {
		if n := &mw.Nodes[i]; n.Kind == Template && slices.Contains(c.asked, n.Start) {
			c.whole[n.Start] = n
			c.spoilt[n.Start] = n.Start > 0 && text[n.Start-1] == '{' || strings.Contains(text[n.Start:n.End], "!")
		}
	}
	whole = Preprocess(text, Options{Template: c.read})
	whole.number(mw)
	wholeReads, c.reads = c.reads, 0
	next := func(from int) int {
		for _, i := range c.asked {
			switch n := c.whole[i]; {
			case i < from:
			case n == nil || c.spoilt[i]:
				return i
			default:
				from = n.End
			}
		}
		return -1
	}
	parts = mw.Again(Options{Template: c.read}, next, func(n *Node) bool { return c.whole[n.Start] != nil })
	return whole, parts, wholeReads, c.reads
}

func same(a, b *Doc) bool {
	return slices.EqualFunc(a.Nodes, b.Nodes, func(x, y Node) bool {
		return x.Kind == y.Kind && x.Start == y.Start && x.End == y.End && x.Name == y.Name && x.Attrs == y.Attrs &&
			x.Inner == y.Inner && slices.Equal(x.Args, y.Args) &&
			x.Level == y.Level && x.Section == y.Section && x.Parent == y.Parent
	})
}

func TestAgainReadsOnlyCarelessSections(t *testing.T) {
	text := "{{Q|a}}\n== 1 ==\n{{Q|{{x}}}} {{y}}\n== 2 ==\n{{Q|a|b!}} {{z\n== 3 ==\n}}\n== 4 ==\n{{Q|d}}\n"
	whole, parts, wholeReads, partReads := readBoth(text)
	if !same(whole, parts) {
		t.Errorf("by parts\n%+v\nas a whole\n%+v", parts.Nodes, whole.Nodes)
	}
	if wholeReads != 4 || partReads != 1 {
		t.Errorf("%d templates asked for in the whole, %d in parts, want 4 and 1", wholeReads, partReads)
	}
	var got []string
	for _, n := range parts.Nodes {
		if n.Kind == Template {
			got = append(got, text[n.Start:n.End])
		}
	}
	if want := []string{"{{Q|a}}", "{{Q|{{x}}}}", "{{y}}", "{{Q|a|b!}} {{z", "{{Q|d}}"}; !slices.Equal(got, want) {
		t.Errorf("templates %q, want %q", got, want)
	}
}

// TestAgainIsPreprocess builds pages from fragments that are easy to parse incorrectly.
func TestAgainIsPreprocess(t *testing.T) {
	pieces := []string{"{{Q|", "{{Q|a}}", "{{Q|a!}}", "{{Q|a|b!", "}}", "{{{", "}}}", "{{x|", "{", "}", "-{", "}-",
		"[[", "]]", "|", "=", "a", " ", "\n", "\n", "\n== h ==\n", "\n== h ==\n",
		"\n=", "==\n", "<!--", "-->", "<!-- c -->", "<nowiki>", "</nowiki>", "<pre>", "</pre>", "<ref", "/>", "!"}
	r := rand.New(rand.NewPCG(11, 12))
	saved := 0
	for range 20_000 {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		whole, parts, wholeReads, partReads := readBoth(b.String())
		if !same(whole, parts) {
			t.Fatalf("%q:\nby parts\n%+v\nas a whole\n%+v", b.String(), parts.Nodes, whole.Nodes)
		}
		if partReads < wholeReads {
			saved++
		}
	}
	if saved < 1000 {
		t.Errorf("of 20000 pages %d took less reading", saved)
	}
}
