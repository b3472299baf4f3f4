package bot

import (
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
)

func TestCorrections(t *testing.T) {
	entry := func(key string, kind Kind, query string, verdicts ...Verdict) *Entry {
		e := &Entry{Key: key, Page: "P", Thread: "t-" + key[:1], Kind: kind, State: Posted, Author: "Asker", Rev: 7,
			Question: "q " + key, Draft: &Draft{Turn: agent.Turn{SPARQL: query}}}
		for _, v := range verdicts {
			e.Receptions = append(e.Receptions, Reception{Verdict: v})
		}
		return e
	}
	solution := func(e *Entry, s Solution) *Entry { e.Solution = &s; return e }
	better := Solution{By: "Kind", SPARQL: "theirs", Rows: 3, Common: 1, Ours: 2, Rev: 9, At: time.Unix(5, 0)}
	same, empty, broken := better, better, better
	same.Same, empty.Rows, broken.Failed = true, 0, "timeout"
	stranger := entry("h2", FollowUp, "new", Thanked)
	stranger.Author = "Other"
	got := Corrections([]*Entry{
		solution(entry("a1", Request, "ours"), better),
		solution(entry("b1", Request, "ours"), same),
		solution(entry("c1", Request, "ours"), empty),
		solution(entry("d1", Request, "ours"), broken),
		entry("e1", Request, "ours", Refused), entry("e2", FollowUp, "new", Thanked),
		entry("f1", Request, "ours"), entry("f2", FollowUp, "new"), // nobody confirmed the answer
		entry("g1", Request, "ours"), entry("g2", FollowUp, "new", Thanked, Struck),
		entry("h1", Request, "ours"), stranger,
	}, "Bot")
	if len(got) != 2 {
		t.Fatalf("%d corrections: %+v", len(got), got)
	}
	if c := got[0]; c.Entry.Key != "a1" || c.Theirs != "theirs" || c.Ours != "ours" || c.Author != "Kind" || c.Revision != 9 {
		t.Errorf("%+v", c)
	}
	if c := got[1]; c.Entry.Key != "e1" || c.Theirs != "new" || c.Question != "q e2" || !c.Account || c.Author != "Bot" ||
		c.Revision != 7 {
		t.Errorf("%+v", c)
	}
}
