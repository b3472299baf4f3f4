package identity

import (
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

// TestArrivals checks that the number of times that a post was made can be determined from the page's revisions.
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		counts []int
		want   int
	}{
		{nil, 0}, {[]int{0}, 0}, {[]int{1, 1, 1}, 1}, // once
		{[]int{0, 1, 1, 2, 1}, 2}, // twice, the first archived
		{[]int{1, 0, 1}, 2},       // the first archived before the second was posted
		{[]int{2}, 2},             // two posts that are older than the first known revision
		{[]int{1, 2, 3, 0, 1}, 4},
	} {
		if got := Arrivals(c.counts); got != c.want {
			t.Errorf("%v: %d, want %d", c.counts, got, c.want)
		}
	}
}

func TestRules(t *testing.T) {
	cats, dogs := &forum.Thread{Heading: "Cats"}, &forum.Thread{Heading: "Dogs"}
	post := func(t *forum.Thread, id, text, place string) Post {
		return Post{Thread: t, Comment: &forum.Comment{ID: id}, Text: text, Place: place}
	}
	reply := &forum.Comment{Parent: "a"}
	mine := Claim{Text: "x", Heading: "Cats", Place: Top, Signed: true}
	with := func(change func(c *Claim)) Claim { c := mine; change(&c); return c }
	here, elsewhere := post(cats, "a", "x", Top), post(dogs, "a", "x", Top)
	edited, below := post(cats, "a", "y", Top), post(cats, "a", "x", "z")
	for name, c := range map[string]struct {
		claim Claim
		post  Post
		want  Rule
	}{
		"same":                       {mine, here, Same},
		"above our reply":            {with(func(c *Claim) { c.Reply, c.In = reply, cats }), here, Replied},
		"in the thread":              {mine, below, InThread},
		"moved":                      {mine, elsewhere, Moved},
		"moved, posted twice":        {with(func(c *Claim) { c.Alone = true }), elsewhere, None},
		"moved, another one":         {with(func(c *Claim) { c.Others = []string{"x"} }), elsewhere, None},
		"moved, unsigned":            {with(func(c *Claim) { c.Signed = false }), elsewhere, None},
		"edited":                     {mine, edited, Edited},
		"edited, above our reply":    {with(func(c *Claim) { c.Reply, c.In = reply, cats }), edited, EditedThere},
		"edited, another one":        {with(func(c *Claim) { c.Others = []string{"y"} }), edited, None},
		"edited, elsewhere":          {mine, post(dogs, "a", "y", Top), None},
		"edited, place not known":    {with(func(c *Claim) { c.Place = "" }), edited, EditedSome},
		"edited, another place":      {with(func(c *Claim) { c.Place = "z" }), edited, None},
		"unsigned, old, edited":      {with(func(c *Claim) { c.Signed, c.Old = false, true }), edited, OldEdited},
		"unsigned, not old":          {with(func(c *Claim) { c.Signed = false }), edited, None},
		"edited, moved, our reply":   {with(func(c *Claim) { c.Place, c.Reply, c.In = "z", reply, dogs }), post(dogs, "a", "y", Top), EditedAbove},
		"heading changed, our reply": {with(func(c *Claim) { c.Reply, c.In = reply, dogs }), elsewhere, Replied},
	} {
		got := Assign([]Post{c.post}, []Claim{c.claim})[0]
		if got.Rule != c.want || (got.Post == 0) != (c.want != None) {
			t.Errorf("%s: %+v, want rule %d", name, got, c.want)
		}
	}
	// The stronger rule applies, and no post is claimed twice.
	got := Assign([]Post{edited, here}, []Claim{mine, with(func(c *Claim) { c.Text = "q" }), mine})
	if got[0] != (Match{1, Same}) || got[1] != (Match{0, Edited}) || got[2].Post != -1 {
		t.Errorf("%+v", got)
	}
}
