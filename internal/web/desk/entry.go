package desk

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

func (d *Desk) entry(w http.ResponseWriter, r *http.Request) error {
	e, err := bot.Find(r.Context(), d.Store, r.PathValue("key"))
	if errors.Is(err, bot.ErrNoEntry) {
		return err
	} else if err != nil {
		return refusal{err}
	}
	return d.showEntry(w, r, http.StatusOK, e, "", "")
}

type line struct{ Class, Text string }

// showEntry shows a request, with an error, if any. typed is text that could not be saved, shown again so that it is
// not lost.
func (d *Desk) showEntry(w http.ResponseWriter, r *http.Request, status int, e *bot.Entry,
	problem, typed string) error {
	row := d.row(e)
	if typed == "" {
		typed = row.Text()
	}
	data := map[string]any{"Tab": "", "E": row, "Done": said(r), "Problem": problem, "Typed": typed,
		"MaxText": forum.MaxShort, "History": e.Changes(), "Classes": classes, "Why": r.PostForm.Get("why"),
		"Acts": slices.ContainsFunc([]string{"approve", "edit", "reject", "retry"}, row.Can)}
	if e.Draft != nil {
		data["Diff"] = diff(e.Draft.Diff)
		data["Lang"] = language(e.Draft.Reply.Language)
	}
	title := e.Heading
	if strings.TrimSpace(title) == "" {
		title = e.Key
	}
	d.show(w, r, status, "entry", layout.Page{Title: clip(title, 120), Section: "operator", Frames: true,
		Styles: []string{"desk/desk.css"}, Data: data})
	return nil
}

// change performs the operator's action on a single request from its page.
func (d *Desk) change(w http.ResponseWriter, r *http.Request) error {
	key, what := r.PathValue("key"), bot.Act(r.PostForm.Get("do"))
	_, err := d.act(r, what, key, r.PostForm.Get("shown"))
	if err == nil {
		to := "/operator/entry/" + key
		if what == bot.ActApprove {
			to = "/operator" // continue with the other waiting replies
		}
		back(w, r, to, string(what), 1)
		return nil
	}
	var refused refusal
	if !errors.As(err, &refused) && !errors.Is(err, bot.ErrOtherDraft) {
		return err
	}
	e, ferr := bot.Find(r.Context(), d.Store, key)
	if ferr != nil {
		return ferr
	}
	status, words := d.explain(r, err)
	typed := ""
	if what == bot.ActEdit {
		typed = r.PostForm.Get("text")
	}
	return d.showEntry(w, r, status, e, words, typed)
}

// diff splits a unified diff into lines.
func diff(s string) []line {
	var out []line
	for l := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		class := ""
		switch {
		case strings.HasPrefix(l, "@@"):
			class = "at"
		case strings.HasPrefix(l, "+"):
			class = "add"
		case strings.HasPrefix(l, "-"):
			class = "del"
		}
		out = append(out, line{class, text.Clean(l)})
	}
	return out
}

// language returns a reply's language for the lang attribute, or "" if it is not a language code.
func language(code string) string {
	for _, c := range code {
		if (c < 'a' || c > 'z') && c != '-' {
			return ""
		}
	}
	return code
}
