package harvest

import (
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
)

func TestSimilar(t *testing.T) {
	x := &Similar{}
	add := func(id, heading, request, month, query string, rows int, labels ...string) {
		c := dataset.Candidate{ID: id, Stage: dataset.Staged, Cleaned: query, Labels: map[string]string{},
			Result: &dataset.Result{Rows: rows}}
		c.Provenance.Heading, c.Provenance.Month = heading, month
		c.Conversation.Comments = []dataset.Comment{{Text: request}}
		for i, l := range labels {
			id := string(rune('A' + i))
			c.Entities, c.Labels[id] = append(c.Entities, id), l
		}
		x.Add(&c)
	}
	add("rivers", "Longest rivers", "Hello, I would like a list of the longest rivers of Africa, please.", "2019-06",
		"q1", 10, "river", "Africa")
	add("lakes", "Lakes", "Which lakes of Africa are deeper than 100 m?", "2020-01", "q2", 5, "lake", "Africa")
	add("rivers-again", "Long rivers", "The longest river in each country of Africa", "2021-06", "q3", 5, "river")
	add("same", "Longest rivers!", "The longest rivers of Africa?", "2022-01", "q1", 5, "river")
	add("no-rows", "Longest rivers of Africa", "The longest rivers of Africa", "2022-02", "q9", 0)
	add("painters", "Painters", "Women who painted in the Renaissance", "2018-02", "q4", 30, "painter", "female")
	add("films", "宮崎駿の映画", "宮崎駿が監督した映画", "2018-03", "q5", 12)
	for _, c := range []struct {
		question string
		n        int
		want     string
	}{
		{"What are the longest rivers in Africa?", 2, "same rivers-again"},
		{"Which African lake is the deepest lake of Africa?", 2, "lakes"},
		{"Renaissance painters who were female", 2, "painters"},
		{"宮崎駿の映画を教えて", 2, "films"},
		{"Mountains of Peru that are higher than 6000 m", 2, ""},
		{"rivers", 2, ""}, {"", 2, ""}, {"please list all items", 2, ""},
	} {
		var got []string
		for _, e := range x.Find(c.question, c.n) {
			got = append(got, e.ID)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: got %q, want %q", c.question, got, c.want)
		}
	}
	if x.Len() != 6 {
		t.Errorf("%d documents", x.Len())
	}
}
