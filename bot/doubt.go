package bot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/phrase"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
)

// doubted applies [Config].AnswerConfidence to an outcome. It returns the outcome to reply with. If the confidence is
// too low, that outcome has a question for the poster instead of the answer, or neither if there is no question or it
// may not be asked. silent is the reason not to reply, or "" if there is a reply. A question passes through the ledger
// and the gate like any other reply.
func (b *Bot) doubted(ctx context.Context, p place, e *Entry, out *agent.Outcome) (_ *agent.Outcome, silent string,
	err error) {
	least := b.cfg.AnswerConfidence
	sure := least <= 0 || out.Answer != nil && finite(out.Confidence) >= least
	if sure || out.Answer == nil && out.Asks == "" && len(out.Readings) == 0 {
		without := *out
		without.Asks = ""
		return &without, "", nil
	}
	why := "a comparison accepted none of the different answers"
	if out.Answer != nil {
		why = fmt.Sprintf("the answer's confidence is %.2f, less than ANSWER_CONFIDENCE %.2f", finite(out.Confidence), least)
	}
	if !b.cfg.AskBack {
		return nil, why, nil
	}
	asked, err := b.mayNotAsk(ctx, p, e)
	asks := reply.Question(out, e.Language)
	if err == nil && !asked && asks != "" {
		asked, err = b.askedByAnother(ctx, p, e)
	}
	if err != nil {
		return nil, "", err
	}
	if asked && e.Chosen != "" && out.Answer != nil { // the poster has answered the open question
		without := *out
		without.Asks = ""
		return &without, "", nil
	}
	b.lg.Info("not answered", "entry", e.Key, "reason", why, "asks", !asked && out.Asks != "")
	question := *out
	question.Asks = asks
	question.Answer, question.Report, question.Ending = nil, "", agent.Ending{Reason: agent.NotFound, Detail: why}
	if asked {
		question.Asks = ""
	}
	return &question, "", nil
}

// Choice is an interpretation that we asked about.
type Choice struct {
	SPARQL string `json:"sparql"`
	Count  int    `json:"count"`
}

func choices(out *agent.Outcome) (list []Choice) {
	for _, r := range out.Readings {
		list = append(list, Choice{r.SPARQL, r.Count})
	}
	return list
}

// chosen interprets a poster's answer to our question. Since such an answer is often short, the bot continues with the
// original request no matter how the model judges it. If the answer identifies one of the interpretations by its result
// or its position, that one is chosen. Answers from others are judged by the model and never choose an interpretation.
func (b *Bot) chosen(ctx context.Context, e *Entry, p place, t *agent.Triage) error {
	posted, err := b.entriesOfThread(ctx, p, Posted)
	if err != nil {
		return err
	}
	for _, asked := range posted {
		if asked.Key == e.Key || asked.Draft == nil || asked.Draft.Reply.Asks == "" {
			continue
		}
		_, ours := forum.FindReply(p.view.page, p.view.rev.Text, asked.Key, b.cfg.Account)
		if ours == nil || p.comment.Parent != ours.ID && p.comment.Answers != ours.ID {
			continue
		}
		e.Chosen = ""
		theirs := asked.Author != "" && !p.comment.By(asked.Author)
		if theirs && !t.Request {
			return nil
		}
		if t.Question == "" || !t.Request {
			t.Question = p.comment.Text
		}
		t.Request, t.Why, t.Opening = true, "it answers our question", nil
		t.Language = cmp.Or(asked.Language, t.Language)
		t.Question = asked.Question + "\n\nAsked back: " + asked.Draft.Reply.Asks + "\nThe answer: " + t.Question
		if i := phrase.Choice(p.comment.Text, counts(asked.Draft.Choices)); i >= 0 && !theirs {
			e.Chosen = asked.Draft.Choices[i].SPARQL
			t.Question += "\nSo the query of the chosen reading is:\n" + e.Chosen
		}
		return nil
	}
	return nil
}

func counts(list []Choice) (out []int) {
	for _, c := range list {
		out = append(out, c.Count)
	}
	return out
}

// standing determines the state of the thread. It checks whether people have accepted an answer there, by thanking us
// or by posting a query. If so, the bot suggests marking the section as resolved, but never marks it. It also checks
// whether this reply is our last one in the thread, either unconditionally or only if it has no answer.
func (b *Bot) standing(ctx context.Context, p place, e *Entry, x *besides) (err error) {
	if x.last, err = b.lastFollowUp(ctx, p, e); err != nil {
		return err
	}
	earlier, err := b.entriesOfThread(ctx, p, Posted)
	failed := 1
	for _, t := range earlier {
		if t.Key != e.Key {
			x.settled = x.settled || t.is(Thanked) || t.Solution != nil && t.Solution.Rows > 0
			if t.unanswered() {
				failed++
			}
		}
	}
	x.lastFailed = failed >= maxRefused
	return err
}

// lastFollowUp reports whether a reply to the entry uses up the thread's follow-ups. If so, replies to it are not read.
func (b *Bot) lastFollowUp(ctx context.Context, p place, e *Entry) (bool, error) {
	n, err := b.followups(ctx, p, e.Key, Posting, Posted)
	if e.Kind == FollowUp {
		n++
	}
	return n >= b.cfg.FollowupLimit, err
}

// mayNotAsk reports whether the bot must not ask a question in the thread, either because it has already asked one
// there (two would feel like an interrogation) or because no one could answer it.
func (b *Bot) mayNotAsk(ctx context.Context, p place, e *Entry) (bool, error) {
	if last, err := b.lastFollowUp(ctx, p, e); err != nil || last {
		return last, err
	}
	earlier, err := b.entriesOfThread(ctx, p, Posted)
	return slices.ContainsFunc(earlier, func(t *Entry) bool {
		return t.Key != e.Key && t.Draft != nil && t.Draft.Reply.Asks != ""
	}), err
}

// askedByAnother reserves, for an entry, the one question that the bot may ask in a thread, and reports whether another
// entry has already reserved it. Several workers may draft replies in a thread at the same time, but only one asks,
// because the note is changed in one transaction. An entry that ended without a question on the page, or that must be
// posted without one, releases its reservation.
func (b *Bot) askedByAnother(ctx context.Context, p place, e *Entry) (asked bool, err error) {
	key := "bot/asks/" + hashKey(b.page, p.root())
	was, _, err := b.store.Get(ctx, key)
	if err != nil {
		return false, err
	}
	free := len(was) == 0 || string(was) == e.Key
	if !free {
		other, err := b.store.Entry(ctx, string(was))
		if err != nil && !errors.Is(err, ErrNoEntry) {
			return false, err
		}
		free = err != nil || !other.mayAsk()
	}
	err = b.store.Change(ctx, key, func(now []byte) ([]byte, error) {
		if asked = !free || !bytes.Equal(now, was); asked {
			return nil, nil
		}
		return []byte(e.Key), nil
	})
	return asked, err
}

// mayAsk reports whether the entry's reply is, or may become, a question. The reply may already be posted.
func (e *Entry) mayAsk() bool {
	asks := e.Draft != nil && e.Draft.Reply.Asks != ""
	return e.State.Open() && (asks || e.Draft == nil) || e.State == Posted && asks
}
