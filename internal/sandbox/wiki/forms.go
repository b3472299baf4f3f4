package wiki

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Limits on what a visitor may post, in characters.
const (
	maxPost    = 20_000
	maxWhole   = 300_000 // of a whole page
	maxHeading = 200
)

// maxOnce is the maximum number of submitted forms that a session remembers.
const maxOnce = 200

// post handles the forms, whose action is reply, new or save.
func (h *Handler) post(rw http.ResponseWriter, r *http.Request, title, action string) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	if err := r.ParseForm(); err != nil {
		h.problem(rw, r, http.StatusBadRequest, "The form could not be read", "It was too long or broken.", "")
		return
	}
	text := strings.ReplaceAll(r.PostForm.Get("text"), "\r\n", "\n")
	s := h.session(rw, r)
	f := &failedForm{Action: action, Heading: r.PostForm.Get("heading"), Text: text, Name: r.PostForm.Get("name")}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		h.problem(rw, r, http.StatusForbidden, "This form came from another site", "Open the page here and post it again.",
			text)
		return
	}
	if !h.validToken(s, r.PostForm.Get("token")) {
		f.status, f.Message = http.StatusForbidden,
			"The wiki was restarted since you opened the page. Please send this again."
		h.again(rw, r, title, f)
		return
	}
	name, err := h.wiki.visitorName(f.Name)
	if err != nil {
		f.status, f.Message = http.StatusBadRequest, upperFirst(err.Error())+"."
		h.again(rw, r, title, f)
		return
	}
	http.SetCookie(rw, &http.Cookie{Name: "sandboxwiki_name", Value: url.QueryEscape(name), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode, MaxAge: 365 * 86400})
	once := onceKey(r.PostForm)
	if !h.firstTime(s, once) {
		http.Redirect(rw, r, pagePath(title), http.StatusSeeOther)
		return
	}
	before := h.wiki.Page(title)
	if err := h.apply(r.PostForm, title, action, name, text); err != nil {
		h.mu.Lock()
		delete(s.once, once) // the same form may be submitted again
		h.mu.Unlock()
		h.postFailed(rw, r, title, f, err)
		return
	}
	to := pagePath(title)
	if at := h.posted(title, before, name); at != "" && action != "save" {
		to += "#" + at
	}
	http.Redirect(rw, r, to, http.StatusSeeOther)
}

// posted returns the anchor of the visitor's newest comment that was not on the page before, or "" if there is none.
func (h *Handler) posted(title string, before *Revision, name string) string {
	old := map[string]bool{}
	if before != nil {
		for _, c := range comments(before.Text) {
			old[anchor(before.Text, c.offset)] = true
		}
	}
	newest := ""
	if now := h.wiki.Page(title); now != nil {
		for _, c := range comments(now.Text) {
			if at := anchor(now.Text, c.offset); c.user == name && !old[at] {
				newest = at
			}
		}
	}
	return newest
}

// again shows a rejected form at its original position on the page, with the message and the text that was typed.
func (h *Handler) again(rw http.ResponseWriter, r *http.Request, title string, f *failedForm) {
	v := h.view(title, rw, r)
	v.Failed, v.Page = f, h.wiki.Page(title)
	if f.Name != "" {
		v.Name = f.Name
	}
	base, _ := strconv.ParseInt(r.PostForm.Get("base"), 10, 64)
	if f.Action == "save" {
		v.Text, v.Current = f.Text, base
		h.show(rw, f.status, "edit.html", v)
		return
	}
	found := v.Page != nil
	if found {
		v.Current = v.Page.ID
	}
	if found && f.Action == "reply" {
		f.At, found = h.sameOffset(title, base, r.PostForm.Get("at"), v.Page)
	}
	if !found {
		h.problem(rw, r, f.status, "This cannot be posted",
			f.Message+" Your text is below; copy it, go back to the page, and post it again.", f.Text)
		return
	}
	h.read(rw, r, v)
}

// sameOffset finds a comment from an old revision in the newest one.
func (h *Handler) sameOffset(title string, base int64, offset string, newest *Revision) (int, bool) {
	at, err := strconv.Atoi(offset)
	if err != nil {
		return 0, false
	}
	c, ok := commentAt(newest.Text, at)
	if base != newest.ID {
		c, ok = sameComment(h.wiki.revision(title, base), at, newest.Text)
	}
	return c.offset, ok
}

// onceKey returns a digest of the form's number and contents, which tells a second click from a new post.
func onceKey(form url.Values) string {
	parts := []string{form.Get("once"), form.Get("at"), form.Get("heading"), form.Get("text")}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return string(sum[:])
}

// postFailed shows a visitor why the post was not saved.
func (h *Handler) postFailed(rw http.ResponseWriter, r *http.Request, title string, f *failedForm, err error) {
	var bad badPost
	switch {
	case errors.As(err, &bad):
		f.status, f.Message = http.StatusBadRequest, string(bad)
		h.again(rw, r, title, f)
	case errors.Is(err, errConflict), errors.Is(err, errNoSection):
		h.problem(rw, r, http.StatusConflict, "Someone else was faster",
			"This part of the page has changed since you opened it. Your text is below; copy it, go back to the page, and post it again.", f.Text)
	default:
		h.wiki.lg.Error("sandbox wiki: post failed", "err", err)
		h.problem(rw, r, http.StatusInternalServerError, "The wiki could not save your post",
			"Your text is below; please try again later.", f.Text)
	}
}

// badPost is an error that tells the visitor what to change.
type badPost string

// Error returns the sentence shown to the visitor.
func (b badPost) Error() string { return string(b) }

// firstTime reports whether a form is being submitted for the first time. It keeps a second click from posting twice.
func (h *Handler) firstTime(s *session, once string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.once[once] {
		return false
	}
	if s.once == nil || len(s.once) >= maxOnce {
		s.once = map[string]bool{}
	}
	s.once[once] = true
	return true
}

// apply makes the edit that a form requests.
func (h *Handler) apply(form url.Values, title, action, name, body string) error {
	switch {
	case strings.TrimSpace(body) == "" && action != "save":
		return badPost("Please enter a text.")
	case utf8.RuneCountInString(body) > maxPost && action != "save":
		return badPost("The text is longer than 20,000 characters.")
	case !utf8.ValidString(body) || utf8.RuneCountInString(body) > maxWhole:
		return badPost("The text is too long, or it is not Unicode text.")
	}
	base, _ := strconv.ParseInt(form.Get("base"), 10, 64)
	switch action {
	case "new":
		heading := strings.Trim(text.Fold(form.Get("heading")), "= ")
		if heading == "" || utf8.RuneCountInString(heading) > maxHeading {
			return badPost("Please enter a heading of at most 200 characters.")
		}
		_, err := h.wiki.save(change{title: title, section: "new", heading: heading, text: sign(body), user: name,
			summary: "/* " + heading + " */ new request", create: true})
		return err
	case "reply":
		at, err := strconv.Atoi(form.Get("at"))
		if err != nil {
			return badPost("The form does not say which comment it replies to.")
		}
		return h.wiki.reply(title, base, at, sign(body), name)
	case "save":
		_, err := h.wiki.save(change{title: title, text: body, user: name,
			summary: text.Fold(form.Get("summary")), base: base, create: true})
		return err
	}
	return badPost("There is no such form.")
}

// sign adds a signature unless the text ends with one.
func sign(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, "~~~~") {
		return text
	}
	return text + " ~~~~"
}

// reply adds text below the comment that ends at an offset in a revision, after the existing replies. If that part of
// the page has changed since, it searches for the same comment in the newest revision.
func (w *Wiki) reply(title string, base int64, at int, text, user string) error {
	for _, rev := range []*Revision{w.revision(title, base), w.Page(title)} {
		if rev == nil {
			continue
		}
		target, ok := commentAt(rev.Text, at)
		if rev.ID != base {
			target, ok = sameComment(w.revision(title, base), at, rev.Text)
		}
		if !ok {
			continue
		}
		page, heading := place(rev.Text, target, text)
		_, err := w.save(change{title: title, text: page, user: user, summary: "/* " + heading + " */ Reply", base: rev.ID})
		if !errors.Is(err, errConflict) {
			return err
		}
	}
	return errConflict
}

// revision returns the page's revision with the given number, or nil if there is none.
func (w *Wiki) revision(title string, id int64) *Revision {
	for _, rev := range w.History(title) {
		if rev.ID == id {
			return rev
		}
	}
	return nil
}

// comments returns the positions where the signed comments on a page end.
func comments(text string) []commentEnd {
	var out []commentEnd
	render(text, renderOptions{reply: func(c commentEnd) string {
		out = append(out, c)
		return ""
	}})
	return out
}

func commentAt(text string, at int) (commentEnd, bool) {
	for _, c := range comments(text) {
		if c.offset == at {
			return c, true
		}
	}
	return commentEnd{}, false
}

// sameComment finds a comment from an old revision in newer text by its last line.
func sameComment(old *Revision, at int, text string) (commentEnd, bool) {
	if old == nil || at < 0 || at > len(old.Text) {
		return commentEnd{}, false
	}
	var found []commentEnd
	for _, c := range comments(text) {
		if lastLine(text[:c.offset]) == lastLine(old.Text[:at]) {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return commentEnd{}, false
	}
	return found[0], true
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// place returns the text of the page with a reply added below a comment, and the heading of the section that
// contains the comment.
func place(page string, c commentEnd, text string) (out, heading string) {
	r := &renderer{anchors: map[string]int{}}
	ls := r.split(r.prepare(page, 0), r.ends)
	prefix := strings.ReplaceAll(c.prefix, ";", ":") + ":"
	at, seen := c.offset, false
	for i := 0; i < len(ls); i++ {
		l := ls[i]
		switch {
		case !seen:
			seen = l.end == c.offset
			continue
		case strings.TrimSpace(l.text) == "":
			continue
		case len(listPrefix(l.text)) < len(prefix):
			i = len(ls)
			continue
		}
		if rest := l.text[len(listPrefix(l.text)):]; strings.HasPrefix(strings.TrimLeft(rest, " "), "{|") {
			if n := tableEnd(ls[i:]); n > 0 {
				i += n - 1
			}
		}
		at = ls[i].end
	}
	for _, hd := range headings(page) {
		if hd.end <= c.offset && !hd.hidden {
			heading = hd.text
		}
	}
	return page[:at] + "\n" + indent(text, prefix) + page[at:], heading
}

// indent adds the prefix to each line that is not inside a template or a literal tag. It drops blank lines.
func indent(text, prefix string) string {
	r := &renderer{anchors: map[string]int{}}
	r.prepare(text, 0)
	var out []string
	start := 0
	for _, end := range r.ends {
		if l := text[start:end]; strings.TrimSpace(l) != "" {
			out = append(out, prefix+l)
		}
		start = end + 1
	}
	return strings.Join(out, "\n")
}
