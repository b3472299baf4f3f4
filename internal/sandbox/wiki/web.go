package wiki

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"html"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/httpjson"
)

//go:embed web
var webFiles embed.FS

var pageTemplate = template.Must(template.New("").Funcs(template.FuncMap{
	"path":  pagePath,
	"stamp": func(t time.Time) string { return t.UTC().Format("15:04, 2 January 2006") },
}).ParseFS(webFiles, "web/*.html"))

// security is the Content Security Policy for all pages. It allows nothing from other sites, no inline scripts or
// styles, and only forms that submit to this site.
const security = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/w/api.php":
		h.api(rw, r)
	case strings.HasPrefix(path, "/w/rest.php/v1/page/"):
		h.rest(rw, r)
	case path == "/" && h.Forum != "":
		http.Redirect(rw, r, pagePath(h.Forum), http.StatusFound)
	case strings.HasPrefix(path, "/wiki/"):
		h.page(rw, r)
	case path == "/query" && h.SPARQL != "":
		h.show(rw, http.StatusOK, "query.html", h.view("Query", rw, r))
	case strings.HasPrefix(path, "/static/"):
		h.static(rw, r, strings.TrimPrefix(path, "/static/"))
	default:
		h.problem(rw, r, http.StatusNotFound, "There is nothing here", "No page of this wiki has the address "+path+".", "")
	}
}

// static serves the style sheet and the scripts.
func (h *Handler) static(rw http.ResponseWriter, r *http.Request, name string) {
	const script = "text/javascript; charset=utf-8"
	types := map[string]string{"style.css": "text/css; charset=utf-8", "forum.js": script, "query.js": script}
	kind, ok := types[name]
	data, err := webFiles.ReadFile("web/" + name)
	if !ok || err != nil {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", kind)
	rw.Header().Set("X-Content-Type-Options", "nosniff")
	rw.Header().Set("Cache-Control", "max-age=60")
	_, _ = rw.Write(data)
}

// view contains the data for the templates.
type view struct {
	Site, Title, Forum, SPARQL, Endpoint string
	Body                                 template.HTML
	Page                                 *Revision // nil if missing
	Old                                  bool      // not the newest revision
	Current                              int64     // ID of the newest revision
	CanPost                              bool
	Contents                             []entry
	History                              []historyLine
	Text                                 string // contents of the text area
	Name, Token, Once                    string
	Message, Lead                        string
	Notice                               string
	Failed                               *failedForm // nil if no form was rejected
}

// failedForm is a form that was rejected. It is shown again, with the text that was typed.
type failedForm struct {
	status              int
	Action              string // reply, new or save
	At                  int    // for a reply: the offset of its comment in the newest revision
	Heading, Text, Name string
	Message             string // what to change
}

// entry is a line in the table of contents.
type entry struct {
	Text, Anchor string
	Resolved     bool
}

type historyLine struct {
	*Revision
	Delta int
}

// view returns the data that all pages need. It starts a session for the form tokens.
func (h *Handler) view(title string, rw http.ResponseWriter, r *http.Request) *view {
	v := &view{Site: h.wiki.cfg.SiteName, Title: title, Forum: h.Forum, SPARQL: h.SPARQL, Endpoint: h.SPARQL}
	if title == h.Forum {
		v.Notice = h.Notice
	}
	v.Token, v.Once = h.formToken(h.session(rw, r)), h.random()
	if c, err := r.Cookie("sandboxwiki_name"); err == nil {
		if name, err := url.QueryUnescape(c.Value); err == nil {
			v.Name, _ = h.wiki.visitorName(name)
		}
	}
	return v
}

// formToken returns the token that ties a form to its session.
func (h *Handler) formToken(s *session) string {
	m := hmac.New(sha256.New, []byte(h.formKey))
	m.Write([]byte(s.id))
	return hex.EncodeToString(m.Sum(nil))
}

func (h *Handler) validToken(s *session, token string) bool {
	return h.formKey != "" && s.id != "" && subtle.ConstantTimeCompare([]byte(h.formToken(s)), []byte(token)) == 1
}

func (h *Handler) show(rw http.ResponseWriter, status int, name string, v *view) {
	var b bytes.Buffer
	if err := pageTemplate.ExecuteTemplate(&b, name, v); err != nil {
		h.wiki.lg.Error("sandbox wiki: page", "template", name, "err", err)
		http.Error(rw, "The page could not be shown.", http.StatusInternalServerError)
		return
	}
	head := rw.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Content-Security-Policy", security)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cache-Control", "no-store")
	rw.WriteHeader(status)
	_, _ = rw.Write(b.Bytes())
}

// problem shows what went wrong, and the text that the visitor typed, which would otherwise be lost.
func (h *Handler) problem(rw http.ResponseWriter, r *http.Request, status int, lead, message, text string) {
	v := h.view(lead, rw, r)
	v.Lead, v.Message, v.Text = lead, message, text
	h.show(rw, status, "problem.html", v)
}

// page serves /wiki/TITLE: the page, its history and its wikitext. It also handles the forms submitted to it.
func (h *Handler) page(rw http.ResponseWriter, r *http.Request) {
	title, err := normalize(strings.TrimPrefix(r.URL.Path, "/wiki/"))
	if err != nil {
		h.problem(rw, r, http.StatusBadRequest, "No page can have this title", err.Error(), "")
		return
	}
	action := r.URL.Query().Get("action")
	if r.Method == http.MethodPost {
		h.post(rw, r, title, action)
		return
	}
	rev := h.wiki.Page(title)
	v := h.view(title, rw, r)
	v.Page = rev
	if rev != nil {
		v.Current = rev.ID
	}
	switch {
	case action == "revid":
		rw.Header().Set("Cache-Control", "no-store")
		answer := object{"revid": v.Current}
		if h.Status != nil {
			answer["status"] = h.Status()
		}
		httpjson.Write(rw, http.StatusOK, answer)
	case action == "raw" && rev != nil:
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		rw.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = rw.Write([]byte(rev.Text))
	case action == "history" && rev != nil:
		v.History = changes(h.wiki.History(title))
		h.show(rw, http.StatusOK, "history.html", v)
	case action == "edit":
		if rev != nil {
			v.Text = rev.Text
		}
		h.show(rw, http.StatusOK, "edit.html", v)
	default:
		h.read(rw, r, v)
	}
}

// changes returns a page's revisions, newest first, with the number of bytes that each added.
func changes(revs []*Revision) []historyLine {
	var out []historyLine
	for i, rev := range revs {
		before := 0
		if i > 0 {
			before = len(revs[i-1].Text)
		}
		out = append(out, historyLine{rev, len(rev.Text) - before})
	}
	slices.Reverse(out)
	return out
}

// read shows a page. Only the newest revision of a forum page is shown with forms.
func (h *Handler) read(rw http.ResponseWriter, r *http.Request, v *view) {
	if old := r.URL.Query().Get("oldid"); old != "" {
		for _, rev := range h.wiki.History(v.Title) {
			if strconv.FormatInt(rev.ID, 10) == old && rev.ID != v.Current && !rev.Hidden.Text {
				v.Page, v.Old = rev, true
			}
		}
	}
	if v.Page == nil {
		h.show(rw, http.StatusNotFound, "page.html", v)
		return
	}
	ns, _, _ := split(v.Title)
	v.CanPost = !v.Old && (ns == 4 || ns%2 == 1)
	o := renderOptions{queryURL: h.QueryURL, exists: h.exists, isBot: h.isBot}
	if v.CanPost {
		o.reply = func(c commentEnd) string { return h.replyForm(v, c) }
	}
	v.Body = template.HTML(render(v.Page.Text, o).html) // render escapes everything that it does not build
	for _, hd := range headings(v.Page.Text) {
		if hd.level == 2 && !hd.hidden {
			v.Contents = append(v.Contents, h.entry(v.Page.Text, hd))
		}
	}
	status := http.StatusOK
	if v.Failed != nil {
		status = v.Failed.status
	}
	h.show(rw, status, "page.html", v)
}

func (h *Handler) entry(text string, hd heading) entry {
	plain := html.UnescapeString(stripTags.ReplaceAllString(render(hd.text, renderOptions{}).html, ""))
	plain = strings.Join(strings.Fields(plain), " ")
	e := entry{Text: plain, Anchor: strings.ReplaceAll(plain, " ", "_")}
	section := text[hd.end:]
	if n := strings.Index(section, "\n== "); n >= 0 {
		section = section[:n]
	}
	e.Resolved = strings.Contains(strings.ToLower(section), "{{section resolved")
	return e
}

func (h *Handler) isBot(user string) bool {
	for _, a := range h.wiki.cfg.Accounts {
		if a.Name == user {
			return slices.Contains(a.Groups, "bot")
		}
	}
	return false
}

// replyForm returns the form below a comment, with a follow-up to try.
func (h *Handler) replyForm(v *view, c commentEnd) string {
	form := struct {
		*view
		At     int
		Anchor string
		Failed *failedForm
		Try    *FollowUp
	}{view: v, At: c.offset, Anchor: anchor(v.Page.Text, c.offset), Try: h.followUp(v.Page.Text, c)}
	if f := v.Failed; f != nil && f.Action == "reply" && f.At == c.offset {
		form.Failed = f
	}
	var b bytes.Buffer
	err := pageTemplate.ExecuteTemplate(&b, "reply", form)
	if err != nil {
		h.wiki.lg.Error("sandbox wiki: reply form", "err", err)
		return ""
	}
	return b.String()
}

// followUp returns the follow-up that a visitor can try under a comment. It returns nil if the comment is not a bot's,
// or if the follow-up has already been posted.
func (h *Handler) followUp(page string, c commentEnd) *FollowUp {
	if !h.isBot(c.user) {
		return nil
	}
	for i, f := range h.FollowUps {
		if strings.HasPrefix(c.heading, f.Heading) && !strings.Contains(page, f.Text) {
			return &h.FollowUps[i]
		}
	}
	return nil
}

// anchor returns a comment's anchor, which stays the same as long as the comment's last line does.
func anchor(page string, at int) string {
	sum := sha256.Sum256([]byte(lastLine(page[:at])))
	return "c-" + hex.EncodeToString(sum[:6])
}

// rest serves a page as HTML at the URL where MediaWiki's REST API serves Parsoid's HTML.
func (h *Handler) rest(rw http.ResponseWriter, r *http.Request) {
	part := strings.TrimPrefix(r.URL.EscapedPath(), "/w/rest.php/v1/page/")
	name, ok := strings.CutSuffix(part, "/html")
	title, err := url.PathUnescape(name)
	var rev *Revision
	if ok && err == nil && !strings.Contains(name, "/") {
		rev = h.wiki.Page(title)
	}
	if rev == nil {
		httpjson.Write(rw, http.StatusNotFound, object{"httpCode": 404, "httpReason": "Not Found",
			"errorKey": "rest-nonexistent-title"})
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Content-Security-Policy", security)
	rw.Header().Set("ETag", `"`+strconv.FormatInt(rev.ID, 10)+`"`)
	doc := render(rev.Text, renderOptions{queryURL: h.QueryURL})
	id := strconv.FormatInt(rev.ID, 10)
	_, _ = rw.Write([]byte("<!DOCTYPE html>\n<html about=\"/wiki/Special:Redirect/revision/" + id +
		"\"><head><meta charset=\"utf-8\"/><title>" +
		html.EscapeString(rev.Page) + "</title></head><body>" + doc.html + "</body></html>"))
}

func (h *Handler) exists(title string) bool { return h.wiki.Page(title) != nil }
