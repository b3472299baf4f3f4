package bot

import (
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
)

// erased is the reason recorded in an entry whose text was erased.
const erased = "its words were erased because they are no longer on the wiki"

// HasWords reports whether the entry contains text from the comment or from the reply to it.
func (e *Entry) HasWords() bool { return e.Reason != erased }

// Erase removes all text of the comment, and of the reply to it, from a closed entry. What remains, such as the key,
// fingerprint and signature, keeps the bot from answering twice. Erase reports whether it changed anything.
func (e *Entry) Erase(now time.Time) bool {
	if e.State.Open() || !e.HasWords() {
		return false
	}
	e.Heading, e.Question, e.Reason, e.Updated = "", "", erased, now
	if d := e.Draft; d != nil {
		d.Reply, d.Wikitext, d.Diff, d.Turn, d.Drafted, d.Faults = forum.Reply{}, "", "", agent.Turn{}, "", nil
		d.Ran, d.Choices = "", nil
	}
	e.Solution, e.Amendment, e.Chosen, e.Opening = nil, nil, "", nil
	if e.Save != nil {
		e.Save.Error = ""
	}
	for i := range e.History {
		e.History[i].Reason = "" // may quote the comment
	}
	e.record(now, e.State, erased)
	return true
}
