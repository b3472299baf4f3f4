package bot

import (
	"context"
	"fmt"

	"github.com/spinachbot/spinachbot/agent"
)

// doubted applies [Config].AnswerConfidence to an outcome. It returns what is to be replied: the outcome itself; one
// with a question to the poster instead of the answer; or, where there is no question or one was asked in the thread
// before, one that says that no answer was found. silent says why nothing is replied, "" when something is. A question
// goes through the ledger and the gate like every other reply.
func (b *Bot) doubted(ctx context.Context, p place, e *Entry, out *agent.Outcome) (_ *agent.Outcome, silent string,
	err error) {
	least := b.cfg.AnswerConfidence
	sure := least <= 0 || out.Answer != nil && finite(out.Confidence) >= least
	if sure || out.Answer == nil && out.Asks == "" {
		without := *out
		without.Asks = ""
		return &without, "", nil
	}
	why := "the different answers did not stand up to a comparison"
	if out.Answer != nil {
		why = fmt.Sprintf("the answer's confidence is %.2f, less than ANSWER_CONFIDENCE %.2f", finite(out.Confidence), least)
	}
	if !b.cfg.AskBack {
		return nil, why, nil
	}
	asked, err := b.askedBefore(ctx, p, e)
	if err != nil {
		return nil, "", err
	}
	b.lg.Info("not answered", "entry", e.Key, "reason", why, "asks", !asked && out.Asks != "")
	reply := *out
	reply.Answer, reply.Report, reply.Ending = nil, "", agent.Ending{Reason: agent.NotFound, Detail: why}
	if asked {
		reply.Asks = ""
	}
	return &reply, "", nil
}

// askedBefore reports whether one of our replies in the thread is a question. Two questions in a row are an
// interrogation.
func (b *Bot) askedBefore(ctx context.Context, p place, e *Entry) (bool, error) {
	earlier, err := b.entriesOfThread(ctx, p, Posted)
	if err != nil {
		return false, err
	}
	for _, t := range earlier {
		if t.Key != e.Key && t.Draft != nil && t.Draft.Reply.Asks != "" {
			return true, nil
		}
	}
	return false, nil
}
