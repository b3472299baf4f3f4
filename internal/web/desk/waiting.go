package desk

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/digest"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

func clip(s string, n int) string { return text.Clip(text.OneLine(text.Clean(s)), n) }

type state struct {
	Halt   *bot.Halt
	Pulses []pulse // one for each wiki that the bot has worked on
}

// pulse is the bot's last pass over a wiki's forum page.
type pulse struct {
	*bot.Pulse
	Wiki string // the wiki's name, or "" for the main wiki
	Late bool   // the last pass was longer ago than any likely interval
	Ago  int    // minutes since that pass
}

// quiet is the time without a pass after which the desk shows a warning.
const quiet = 3 * time.Hour

func (d *Desk) state(ctx context.Context) (state, error) {
	var s state
	var err error
	if s.Halt, err = bot.Halted(ctx, d.Store); err != nil {
		return s, err
	}
	for _, name := range slices.Sorted(maps.Keys(d.Wikis)) {
		last, err := bot.LastPulse(ctx, d.Store, bot.PageName(name, d.Wikis[name].Page))
		if err != nil {
			return s, err
		}
		if last != nil {
			since := d.Now().Sub(last.At)
			s.Pulses = append(s.Pulses, pulse{last, name, since > quiet, int(since / time.Minute)})
		}
	}
	return s, nil
}

// count is the number of entries in one state.
type count struct {
	State bot.State
	N     int
	Class string
}

func counts(entries []*bot.Entry) []count {
	n := map[bot.State]int{}
	for _, e := range entries {
		n[e.State]++
	}
	var out []count
	for _, s := range bot.States() {
		if n[s] > 0 {
			out = append(out, count{s, n[s], classes[s]})
		}
	}
	return out
}

// waiting shows the first page: the waiting replies, and the bot's state and cost.
func (d *Desk) waiting(w http.ResponseWriter, r *http.Request) error {
	return d.showWaiting(w, r, http.StatusOK, nil)
}

// problem is one entry for which an action failed.
type problem struct{ Key, Text string }

func (d *Desk) showWaiting(w http.ResponseWriter, r *http.Request, status int, problems []problem) error {
	ctx := r.Context()
	all, err := d.Store.Entries(ctx, bot.Filter{})
	if err != nil {
		return err
	}
	s, err := d.state(ctx)
	if err != nil {
		return err
	}
	money, err := d.money(ctx, 1)
	if err != nil {
		return err
	}
	var waiting, soon []*bot.Entry
	for _, e := range all {
		switch e.State {
		case bot.Proposed:
			waiting = append(waiting, e)
		case bot.Approved, bot.Posting:
			soon = append(soon, e)
		}
	}
	recent := 0
	for _, e := range all {
		if (e.State == bot.Posting || e.State == bot.Posted) && e.Save != nil && !e.Save.At.Before(d.Now().Add(-time.Hour)) {
			recent++
		}
	}
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	d.show(w, r, status, "waiting", layout.Page{
		Title: d.Site.Say(r, "desk.title"), Section: "operator", Frames: true,
		Styles: []string{"desk/desk.css"}, Scripts: []string{"desk/desk.js"}, Words: []string{"desk.selected"},
		Data: map[string]any{"Tab": "waiting", "Bot": s, "Waiting": d.rows(waiting), "Soon": d.rows(soon),
			"Counts": counts(all), "Today": money[0], "Limits": d.Limits, "Recent": recent, "Done": said(r), "N": max(n, 1),
			"Problems": problems, "Why": r.PostForm.Get("why"), "Chosen": chosen(r)},
	})
	return nil
}

// chosen returns the entries whose checkboxes were checked.
func chosen(r *http.Request) map[string]bool {
	out := map[string]bool{}
	for _, v := range r.PostForm["entry"] {
		key, _, _ := strings.Cut(v, " ")
		out[key] = true
	}
	return out
}

// decide applies one action to several entries. Each form value is an entry's key and, after a space, the name of the
// draft that was shown. If the action fails for one entry, it is still applied to the others.
func (d *Desk) decide(w http.ResponseWriter, r *http.Request) error {
	what, targets := bot.Act(r.PostForm.Get("do")), r.PostForm["entry"]
	if one := r.PostForm.Get("one"); one != "" { // the button for a single reply
		what, targets = bot.ActApprove, []string{one}
	}
	if len(targets) == 0 {
		return d.showWaiting(w, r, http.StatusUnprocessableEntity, []problem{{"", d.Site.Say(r, "desk.choose")}})
	}
	if what == bot.ActEdit {
		return badForm{errors.New("only one text can be edited at a time")}
	}
	var problems []problem
	for _, t := range targets {
		key, shown, _ := strings.Cut(t, " ")
		if _, err := d.act(r, what, key, shown); err != nil {
			var form badForm
			if errors.As(err, &form) || r.Context().Err() != nil {
				return err
			}
			_, words := d.explain(r, err)
			problems = append(problems, problem{key, words})
		}
	}
	if len(problems) > 0 {
		return d.showWaiting(w, r, http.StatusConflict, problems)
	}
	back(w, r, "/operator", string(what), len(targets))
	return nil
}

// perPage is the number of requests per page of the list.
const perPage = 50

// requests lists the requests that match the state and words in the filter, most recently changed first.
func (d *Desk) requests(w http.ResponseWriter, r *http.Request) error {
	all, err := d.Store.Entries(r.Context(), bot.Filter{})
	if err != nil {
		return err
	}
	q := r.URL.Query()
	wanted, words := bot.State(q.Get("state")), strings.ToLower(strings.TrimSpace(clip(q.Get("q"), 200)))
	var found []*bot.Entry
	for _, e := range all {
		if wanted != "" && e.State != wanted {
			continue
		}
		if words == "" || strings.Contains(strings.ToLower(strings.Join([]string{e.Key, e.Heading, e.Author, e.Question,
			e.Reason, e.Page}, "\n")), words) {
			found = append(found, e)
		}
	}
	slices.SortStableFunc(found, func(a, b *bot.Entry) int { return b.Updated.Compare(a.Updated) })
	from, err := strconv.Atoi(q.Get("from"))
	if err != nil || from < 0 || from >= len(found) {
		from = 0
	}
	end := min(from+perPage, len(found))
	d.show(w, r, http.StatusOK, "requests", layout.Page{
		Title: d.Site.Say(r, "desk.requests"), Section: "operator", Styles: []string{"desk/desk.css"},
		Data: map[string]any{"Tab": "requests", "Rows": d.rows(found[from:end]), "Total": len(found), "All": len(all),
			"Counts": counts(all), "State": wanted, "Q": clip(q.Get("q"), 200), "First": from + 1, "Last": end,
			"Before": from > 0, "BeforeAt": max(from-perPage, 0), "After": end < len(found), "AfterAt": end},
	})
	return nil
}

// stop stops the bot; a reason may be given.
func (d *Desk) stop(w http.ResponseWriter, r *http.Request) error {
	why := clip(r.PostForm.Get("why"), maxWhy)
	if err := bot.Stop(r.Context(), d.Store, d.Now(), by(r), why); err != nil {
		return err
	}
	d.Log.Warn("the operator stopped the bot", "by", by(r), "reason", why)
	back(w, r, "/operator", "stop", 1)
	return nil
}

// resume withdraws the operator's stop.
func (d *Desk) resume(w http.ResponseWriter, r *http.Request) error {
	if err := bot.Resume(r.Context(), d.Store); err != nil {
		return err
	}
	d.Log.Warn("the operator resumed the bot", "by", by(r))
	back(w, r, "/operator", "resume", 1)
	return nil
}

// day is one day's cost, also as a fraction of the limit.
type day struct {
	Spending
	Day   string
	Share float64 // fraction of the limit; 0 if there is no limit
}

// money returns the cost for each of the last n days, starting with today.
func (d *Desk) money(ctx context.Context, n int) ([]day, error) {
	out := make([]day, n)
	for i := range out {
		name := d.Now().UTC().AddDate(0, 0, -i).Format(time.DateOnly)
		s, err := d.Spent(ctx, name)
		if err != nil {
			return nil, err
		}
		out[i] = day{Spending: s, Day: name}
		if d.Limits.DayUSD > 0 {
			out[i].Share = s.USD / d.Limits.DayUSD
		}
	}
	return out, nil
}

// event is one change to a request, for the list of changes.
type event struct {
	row
	bot.Change
}

// changes shows what has happened in recent days, newest first.
func (d *Desk) changes(w http.ResponseWriter, r *http.Request) error {
	days, err := strconv.Atoi(r.URL.Query().Get("days"))
	if err != nil || days < 1 || days > 31 {
		days = 1
	}
	all, err := d.Store.Entries(r.Context(), bot.Filter{})
	if err != nil {
		return err
	}
	since := d.Now().AddDate(0, 0, -days)
	var events []event
	for _, e := range d.rows(all) {
		for _, c := range e.Changes() {
			if !c.At.Before(since) {
				events = append(events, event{e, c})
			}
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Key, b.Key))
	})
	const most = 500
	cut := max(0, len(events)-most)
	money, err := d.money(r.Context(), max(days, 7))
	if err != nil {
		return err
	}
	happened := digest.New(all, since, d.Now())
	d.show(w, r, http.StatusOK, "changes", layout.Page{
		Title: d.Site.Say(r, "desk.changes"), Section: "operator", Styles: []string{"desk/desk.css"},
		Data: map[string]any{"Tab": "changes", "Days": days, "Choices": []int{1, 3, 7, 31}, "Events": events[:len(events)-cut],
			"Cut": cut, "Money": money, "Limits": d.Limits, "Digest": happened, "Classes": classes},
	})
	return nil
}
