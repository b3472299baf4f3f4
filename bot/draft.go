package bot

import (
	"cmp"
	"fmt"
	"math"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// draft drafts the reply for the agent's outcome, with its wikitext and its diff against the current page. more is
// additional content for the reply. If the answer does not fit into a reply and replies without an answer are enabled,
// the reply says that there is no answer.
func (b *Bot) draft(p place, e *Entry, out *agent.Outcome, more besides) (*Draft, error) {
	r := reply.New(out, e.Author, b.cfg.Operator, e.Key)
	r.Similar, r.Settled, r.Yours = more.earlier, more.settled, more.yours
	r.Last = more.last || more.lastFailed && r.NoAnswer != ""
	if len(b.cfg.Languages) > 0 {
		r.Language = forum.Texts(append([]string{r.Language}, b.cfg.Languages...)...).Tag().String()
	}
	reply.AskersWords(&r, out.Answer, e.Question, p.comment.SPARQL()...)
	reply.WithoutRequired(&r, e.Question)
	reply.AddFigures(&r, more.figures)
	b.cfg.Reply.apply(&r, e)
	edit, err := b.compose(p, r)
	if err != nil && out.Answer != nil && b.cfg.ReplyOnFailure {
		b.lg.Error("the answer does not fit into a reply", "entry", e.Key, "err", err)
		r = reply.New(&agent.Outcome{Ending: agent.Ending{Reason: agent.CannotPublish}, Language: out.Language,
			Steps: out.Steps}, e.Author, b.cfg.Operator, e.Key)
		b.cfg.Reply.apply(&r, e)
		edit, err = b.compose(p, r)
	}
	if err != nil {
		return nil, err
	}
	d := &Draft{Reply: r, Wikitext: edit.reply, Revision: p.view.rev.ID, Calls: out.Usage.Calls,
		USD: finite(out.Usage.USD), Confidence: finite(out.Confidence),
		Made: b.now(), Dry: b.cfg.Posting == Off,
		Diff: text.Unified(edit.before, edit.after),
		Turn: agent.Turn{Question: e.Question, Report: cmp.Or(r.Asks, out.Report), SPARQL: r.ShownQuery()}}
	if r.Query != "" {
		d.Ran, d.Result = out.Answer.Ran, reply.ResultName(out.Answer)
	}
	if r.Asks != "" {
		d.Choices = choices(out)
	}
	d.Faults = b.check(r, edit.reply, e, out)
	for _, s := range out.Steps {
		s.Observation = text.Clip(s.Observation, maxKeptRunes)
		d.Turn.Steps = append(d.Turn.Steps, s)
	}
	return d, nil
}

// composed is a reply, and the section that it belongs in, before and after the reply is inserted.
type composed struct {
	reply         string // wikitext
	before, after string // of the section
}

// compose writes a reply as wikitext, indented to match its position, and inserts it into the section.
func (b *Bot) compose(p place, r forum.Reply) (composed, error) {
	page := p.view.rev.Text
	indent, err := forum.ReplyIndent(page, p.thread, p.comment.ID)
	if err != nil {
		return composed{}, fmt.Errorf("place the reply: %w", err)
	}
	text, err := forum.Compose(r, indent)
	if err != nil {
		return composed{}, fmt.Errorf("compose the reply: %w", err)
	}
	place := forum.Place
	if _, marked := p.block(); marked && b.visit != nil {
		place = forum.PlaceInBlock
	}
	section, err := place(page, p.thread, p.comment.ID, text)
	if err != nil {
		return composed{}, fmt.Errorf("place the reply: %w", err)
	}
	return composed{text, page[p.thread.Start:p.thread.End], section}, nil
}

// finite returns f, or 0 if JSON cannot represent f.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}
