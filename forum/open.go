package forum

import (
	"strconv"
	"strings"
)

// Open is a question that an answer leaves open: another reading of the request would change the result.
type Open struct {
	Kind string // one of the kinds of agent/probe: limit, subclasses, ranks …; others are not shown
	Name string // the entity that it is about, where the kind has one
	Come int    // rows that the other reading adds; 0: not said
	Gone int    // rows that it loses
	More bool   // it adds more than Come
}

// maxOpen is how many open questions a reply names.
const maxOpen = 3

// open names in one line what the answer leaves open.
func (c *composer) open() {
	var points []string
	if said := strings.TrimRight(encode(c.r.LeftOpen, MaxShort), ". "); said != "" {
		points = append(points, said)
	}
	for _, o := range c.r.Open[:min(len(c.r.Open), maxOpen)] {
		point, name := c.m["open_"+o.Kind], encode(o.Name, 100)
		if point == "" || strings.Contains(point, "{name}") && name == "" {
			continue
		}
		point = fill(point, "name", name)
		var counts []string
		switch {
		case o.Come > 0 && o.More:
			counts = append(counts, fill(c.m["open_least"], "count", strconv.Itoa(o.Come)))
		case o.Come > 0:
			counts = append(counts, fill(c.m["open_more"], "count", strconv.Itoa(o.Come)))
		}
		if o.Gone > 0 {
			counts = append(counts, fill(c.m["open_fewer"], "count", strconv.Itoa(o.Gone)))
		}
		if len(counts) > 0 {
			point += " (" + strings.Join(counts, ", ") + ")"
		}
		points = append(points, point)
	}
	if len(points) > 0 {
		c.block(fill(c.m["open"], "points", strings.Join(points, "; ")))
	}
}
