package forum

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/forum/already"
	"github.com/spinachbot/spinachbot/forum/wrap"
	"github.com/spinachbot/spinachbot/internal/message"
)

// Open is a question that an answer leaves open, because a different interpretation of the request would change the
// result.
type Open struct {
	Kind    string   // one of the kinds in agent/probe: limit, subclasses, ranks …; others are not shown
	Name    string   // label of the entity concerned, if the kind has one
	ID      string   `json:",omitempty"` // the entity's ID, shown as a link if the entity has no label
	Come    int      // number of rows that the other interpretation adds; not shown if 0
	Gone    int      // number of rows that the other interpretation removes; not shown if 0
	More    bool     // whether the other interpretation adds more than Come rows
	Rows    []string `json:",omitempty"` // labels of the few rows that are added or removed, if known
	Now     string   `json:",omitempty"` // a figure that changes, perhaps with its row's label: "Rhine: 5"
	Other   string   `json:",omitempty"` // label of the class that replaces Name
	OtherID string   `json:",omitempty"`
}

// maxOpen is the maximum number of open questions in a reply.
const maxOpen = 3

// openKinds are the kinds for which there is a sentence. The sentences for the kinds in named contain the name of an
// entity.
var (
	openKinds = map[string]bool{"limit": true, "ties": true, "joins": true, "label": true, "subclasses": true,
		"subclasses_none": true, "places": true, "places_one": true, "class": true, "country": true, "ranks": true,
		"ranks_best": true, "missing": true, "condition": true, "ends": true, "ends_out": true, "open": true,
		"past": true, "precision": true}
	named = map[string]bool{"subclasses": true, "subclasses_none": true, "places": true, "places_one": true, "class": true}
)

// PointWords describes a question that an answer leaves open. It returns "" if there is no sentence for its kind.
func PointWords(t *message.Texts, o Open) string {
	o.Name, o.Other = cmp.Or(o.Name, o.ID), cmp.Or(o.Other, o.OtherID)
	if !openKinds[o.Kind] || named[o.Kind] && o.Name == "" {
		return ""
	}
	if (o.Kind == "missing" || o.Kind == "condition") && o.Name != "" {
		return t.Text("open_no_value", "name", o.Name)
	}
	if o.Kind == "class" && o.Other != "" {
		return t.Text("open_class_other", "name", o.Name, "other", o.Other)
	}
	return t.Text("open_"+o.Kind, "name", o.Name)
}

// linked returns a link to an entity, or "" if that is not possible.
func (c *composer) linked(id string) string {
	link, err := c.cell(Cell{ID: id})
	if id == "" || err != nil {
		return ""
	}
	return link
}

// open adds one line that lists the interpretations that would change the answer.
func (c *composer) open() {
	var points []string
	for _, o := range c.r.Open[:min(len(c.r.Open), maxOpen)] {
		if o.Kind == "class" && o.Other+o.OtherID == "" && slices.ContainsFunc(c.r.Open, func(x Open) bool {
			return x.Kind == o.Kind && x.Name == o.Name && x.ID == o.ID && x.Other+x.OtherID != ""
		}) {
			continue // an interpretation that names the class is in the list
		}
		if o.Kind == "missing" && o.Name != "" && already.Mentions(c.r.LeftOpen, o.Name) {
			continue // the model has already mentioned it
		}
		o.Name, o.Other = cmp.Or(encode(o.Name, 100), c.linked(o.ID)), cmp.Or(encode(o.Other, 100), c.linked(o.OtherID))
		point := PointWords(c.t, o)
		if point == "" {
			continue
		}
		var counts []string
		if more := map[bool]string{true: "open_least", false: "open_more"}[o.More]; o.Come > 0 {
			counts = append(counts, c.t.Text(more, "count", o.Come))
		}
		if o.Gone > 0 {
			counts = append(counts, c.t.Text("open_fewer", "count", o.Gone))
		}
		said := cmp.Or(strings.Join(counts, c.t.Text("comma")), wrap.Numbers(encode(o.Now, 100)))
		if len(counts) > 0 && len(o.Rows) > 0 {
			said = c.t.Text("open_rows", "counts", said, "names", c.list(o.Rows))
		}
		if said != "" {
			point += c.t.Text("aside", "text", said)
		}
		points = append(points, point)
	}
	if len(points) > 0 {
		c.block(c.line(c.t.Text("open", "points", strings.Join(points, c.t.Text("semicolon")))))
	}
}
