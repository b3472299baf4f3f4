package bot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
)

// draft makes the reply from the agent's outcome, with the wikitext and the diff as of now. earlier lists the
// discussions that the reply points to. If the answer does not fit into a reply, the reply says that there is no
// answer, where such replies are enabled.
func (b *Bot) draft(p place, e *Entry, out *agent.Outcome, earlier []forum.Earlier) (*Draft, error) {
	reply := NewReply(out, e.Author, b.cfg.Operator, e.Key)
	reply.Similar = earlier
	edit, err := b.compose(p, reply)
	if err != nil && out.Answer != nil && b.cfg.ReplyOnFailure {
		b.lg.Error("the answer does not fit into a reply", "entry", e.Key, "err", err)
		reply = NewReply(&agent.Outcome{Ending: agent.Ending{Reason: agent.CannotPublish}, Language: out.Language,
			Steps: out.Steps}, e.Author, b.cfg.Operator, e.Key)
		edit, err = b.compose(p, reply)
	}
	if err != nil {
		return nil, err
	}
	d := &Draft{Reply: reply, Wikitext: edit.reply, Revision: p.view.rev.ID, Calls: out.Usage.Calls,
		USD: finite(out.Usage.USD), Confidence: finite(out.Confidence),
		Made: b.now(), Dry: b.cfg.Posting == Off,
		Diff: text.Unified(edit.before, edit.after),
		Turn: agent.Turn{Question: e.Question, Report: cmp.Or(reply.Asks, out.Report), SPARQL: reply.Query}}
	for _, s := range out.Steps {
		s.Observation = text.Clip(s.Observation, maxKeptRunes)
		d.Turn.Steps = append(d.Turn.Steps, s)
	}
	return d, nil
}

// composed is a reply with the section around it.
type composed struct {
	reply         string // wikitext
	before, after string // of the section
}

// compose writes a reply as wikitext, indented for its place, and inserts it into the section.
func (b *Bot) compose(p place, reply forum.Reply) (composed, error) {
	page := p.view.rev.Text
	indent, err := forum.ReplyIndent(page, p.thread, p.comment.ID)
	if err != nil {
		return composed{}, fmt.Errorf("place the reply: %w", err)
	}
	text, err := forum.Compose(reply, indent)
	if err != nil {
		return composed{}, fmt.Errorf("compose the reply: %w", err)
	}
	section, err := forum.Place(page, p.thread, p.comment.ID, text)
	if err != nil {
		return composed{}, fmt.Errorf("place the reply: %w", err)
	}
	return composed{text, page[p.thread.Start:p.thread.End], section}, nil
}

// plain returns what a call was about, for people: of the JSON of a native call the query, or the texts. What such a
// call says to the asker is in the reply anyway.
func plain(argument string) string {
	var args map[string]any
	if json.Unmarshal([]byte(argument), &args) != nil {
		return argument
	}
	if q, ok := args["sparql"].(string); ok {
		return q
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if name == "answer" {
			continue
		}
		switch v := args[name].(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, x := range v {
				out = append(out, fmt.Sprint(x))
			}
		}
	}
	return strings.Join(out, ", ")
}

// noAnswers maps the agent's reasons to the fixed sentences of forum.Reply.NoAnswer.
var noAnswers = map[agent.Reason]string{
	agent.NoModel: "no_model", agent.NotFound: "not_found", agent.OutOfActions: "actions", agent.OutOfTime: "time",
	agent.OutOfTokens: "money", agent.RequestMoney: "money", agent.RunMoney: "money", agent.DayMoney: "money",
}

// NewReply turns an outcome of the agent into a reply to a person: the first rows of the result, the steps, when and
// where the query was run. The marker is the ledger's key. Everything in it but the signature is untrusted text;
// [forum.Compose] makes it harmless.
func NewReply(out *agent.Outcome, to, operator, marker string) forum.Reply {
	lang, _, _ := strings.Cut(strings.ToLower(out.Language), "-")
	r := forum.Reply{Language: lang, To: to, Short: out.Report, Operator: operator, Marker: marker, Signature: "~~~~"}
	for _, s := range out.Steps {
		r.Steps = append(r.Steps, forum.Step{Thought: s.Thought, Action: s.Action, Argument: plain(s.Argument),
			Observation: text.Clip(s.Observation, maxKeptRunes)})
	}
	a := out.Answer
	if a == nil && out.Asks != "" {
		r.Asks, r.Short = out.Asks, ""
		return r
	}
	if a == nil {
		if r.NoAnswer = noAnswers[out.Reason]; r.NoAnswer == "" {
			r.NoAnswer = "failed"
		}
		return r
	}
	r.Query, r.RanAt, r.Endpoint = a.SPARQL, a.RanAt, a.Endpoint
	r.LeftOpen, r.Open = a.Open, open(out)
	if _, address, ok := strings.Cut(a.Endpoint, "://"); ok { // as people write it: query.wikidata.org/sparql
		r.Endpoint = address
	}
	t := a.Table
	if t == nil {
		return r
	}
	if t.Ask {
		yes := t.Boolean
		r.Boolean = &yes
		return r
	}
	r.Vars, r.Total = t.Vars, len(t.Rows)
	for _, row := range t.Rows[:min(len(t.Rows), maxPreview)] {
		cells := make([]forum.Cell, len(row))
		for i, term := range row {
			cells[i] = cell(term, a.Labels)
		}
		r.Rows = append(r.Rows, cells)
	}
	withoutLabelColumns(&r)
	return r
}

// open is what variants of the answer's query would change, although the model kept its reading.
func open(out *agent.Outcome) []forum.Open {
	if out.Probed == nil {
		return nil
	}
	var points []forum.Open
	for _, p := range out.Probed.Open {
		o := forum.Open{Kind: p.Kind, Come: p.Come, Gone: p.Gone, More: p.More}
		if p.Before == 1 && p.Come == 1 && p.Gone == 1 { // another number, not more rows
			o.Come, o.Gone = 0, 0
		}
		if id := rdf.EntityID(p.About); id != "" {
			o.Name = cmp.Or(out.Answer.Labels[id], id)
		}
		points = append(points, o)
	}
	return points
}

// withoutLabelColumns drops a column ?xLabel that only repeats the labels shown with the entities of column ?x.
func withoutLabelColumns(r *forum.Reply) {
	at := make(map[string]int, len(r.Vars))
	for i, v := range r.Vars {
		at[v] = i
	}
	repeats := func(label, entity int) bool {
		for _, row := range r.Rows {
			if row[entity].ID == "" || row[label].ID != "" || row[entity].Label != row[label].Text {
				return false
			}
		}
		return len(r.Rows) > 0
	}
	var keep []int
	for i, v := range r.Vars {
		entity, ok := at[strings.TrimSuffix(v, "Label")]
		if !strings.HasSuffix(v, "Label") || !ok || !repeats(i, entity) {
			keep = append(keep, i)
		}
	}
	if len(keep) == len(r.Vars) {
		return
	}
	vars := make([]string, len(keep))
	for n, i := range keep {
		vars[n] = r.Vars[i]
	}
	for k, row := range r.Rows {
		cells := make([]forum.Cell, len(keep))
		for n, i := range keep {
			cells[n] = row[i]
		}
		r.Rows[k] = cells
	}
	r.Vars = vars
}

// cell formats a term for people: an entity with its label, a date without midnight, everything else unchanged.
func cell(t rdf.Term, labels map[string]string) forum.Cell {
	if id := rdf.EntityID(t.Value); t.IsIRI() && id != "" && id[0] != 'L' {
		return forum.Cell{ID: id, Label: labels[id]}
	}
	s := t.Value
	if t.Datatype == rdf.XSDDateTime {
		s = strings.TrimSuffix(s, "T00:00:00Z")
	}
	return forum.Cell{Text: s}
}

// finite replaces numbers that JSON cannot represent.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// summaryOf returns the edit summary: a link to the section, whether the reply has a query, a link to the page that
// describes the bot, and the ledger's key. [Wiki].OwnEdits finds the edit by that key, wherever the section is now. The
// heading is untrusted: its brackets are removed, so that it cannot end the section link.
func (b *Bot) summaryOf(p place, e *Entry) string {
	harmless := strings.NewReplacer("*/", "* /", "/*", "/ *", "[", "(", "]", ")", "{", "(", "}", ")", "|", "-", "<",
		" ", ">", " ")
	topic := text.Clip(text.OneLine(harmless.Replace(p.thread.Heading)), maxTopicRunes)
	task := "Reply with a query"
	if e.Draft == nil || e.Draft.Reply.Query == "" {
		task = "Reply without a query"
	}
	return fmt.Sprintf("/* %s */ %s ([[%s|about this bot]]) %s", topic, task, b.cfg.TaskPage, e.Key)
}
