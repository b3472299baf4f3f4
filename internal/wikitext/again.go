package wikitext

import "sort"

// Again parses wikitext a second time, with the same result as [Preprocess] with opt. It reparses only the parts in
// which the result differs from d.
//
// The results differ at each offset for which opt.Template returns a node other than d's template there. next returns
// the first such offset at or after a given one, or -1 if there is none; it is called with ascending offsets. If
// opt.Template returns d's own template, it must do so for exactly two braces, and whole must return true for that
// template; its contents are omitted, as for every node that opt.Template returns. Each part is reparsed up to the next
// heading at which nothing is open in either parse.
//
// Sections keep their numbers from the first parse.
func (d *Doc) Again(opt Options, next func(from int) int, whole func(*Node) bool) *Doc {
	var marks []int
	for i := range d.Nodes {
		if h := &d.Nodes[i]; h.Kind == Heading && h.free {
			marks = append(marks, h.Start)
		}
	}
	r := &reader{text: d.Text, opt: opt, noClose: map[string]bool{}, nodes: make([]Node, 0, len(d.Nodes)+8)}
	rest := d.Nodes
	for done := 0; done < len(d.Text); {
		at := next(done)
		if at < 0 {
			break
		}
		start, k := 0, sort.SearchInts(marks, at+1)
		if k > 0 {
			start = marks[k-1]
		}
		rest = r.take(rest, start, whole)
		r.marks = marks[k:]
		done = r.read(start)
		rest = rest[sort.Search(len(rest), func(i int) bool { return rest[i].Start >= done }):]
	}
	r.take(rest, len(d.Text), whole)
	again := r.finish()
	again.number(d)
	return again
}

// take copies the nodes that start before stop, omitting the contents of nodes for which whole returns true, and
// returns the remaining nodes.
func (r *reader) take(nodes []Node, stop int, whole func(*Node) bool) []Node {
	within := -1 // end of the current node whose contents are omitted
	for i := range nodes {
		n := &nodes[i]
		switch {
		case n.Start >= stop:
			return nodes[i:]
		case n.Start < within:
			continue
		case n.Kind == Template && whole(n):
			within = n.End
		}
		r.nodes = append(r.nodes, *n)
	}
	return nil
}

// number sets the section numbers of the headings, copying them from a different parse of the text.
func (d *Doc) number(other *Doc) {
	k := 0
	for i := range d.Nodes {
		h := &d.Nodes[i]
		if h.Kind != Heading {
			continue
		}
		for k < len(other.Nodes) && (other.Nodes[k].Start < h.Start || other.Nodes[k].Start == h.Start &&
			other.Nodes[k].Kind != Heading) {
			k++
		}
		h.Section = 0
		if k < len(other.Nodes) && other.Nodes[k].Start == h.Start {
			h.Section = other.Nodes[k].Section
		}
	}
}
