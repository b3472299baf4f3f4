package wiki

import (
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/httpjson"
)

// maxBody is the maximum size of a request: MediaWiki's largest page, form-encoded.
const maxBody = 8 << 20

// maxPage is the maximum size of a page's wikitext, like MediaWiki's $wgMaxArticleSize.
const maxPage = 2 << 20

// Handler serves the wiki: the API under /w/api.php, HTML like Parsoid's under /w/rest.php, and pages under /wiki/.
// Create it with [NewHandler].
type Handler struct {
	// Extra contains additional API actions by name, such as wbsearchentities. Each handler receives the whole request.
	Extra map[string]http.HandlerFunc
	// Forum is the page to which "/" redirects.
	Forum string
	// QueryURL is the part of a "Try it!" link before the percent-encoded query, such as "/query#" or
	// "https://query.wikidata.org/#".
	QueryURL string
	// SPARQL is the endpoint that the /query page uses. If it is empty, that page does not exist.
	SPARQL string
	// Notice is shown at the top of the forum page.
	Notice string
	// FollowUps are offered below a bot's comment. A visitor can post one with a single click.
	FollowUps []FollowUp
	// Status returns what the bot is doing, or "" if unknown. It may be nil.
	Status func() string
	// Lag is the replication lag in seconds. A request whose maxlag is smaller is rejected.
	Lag int

	wiki *Wiki

	mu       sync.Mutex
	sessions map[string]*session
	formKey  string // key that signs the forms on the pages
}

// FollowUp is a comment that a visitor may try.
type FollowUp struct {
	Heading string // the thread's heading, or the start of it
	Author  string
	Text    string
}

// session is an API client, identified by its cookie.
type session struct {
	id      string   // the cookie's value; "" if no random bytes are available
	account *Account // nil if anonymous
	secret  string   // secret from which the API's tokens are derived
	used    time.Time
	once    map[string]bool // forms that have already been submitted
}

// maxSessions is the maximum number of sessions kept. If there are more, the least recently used ones are dropped.
const maxSessions = 1000

// NewHandler returns a handler with the defaults: no extra actions, no endpoint, and the real service for "Try it!".
func NewHandler(w *Wiki) *Handler {
	h := &Handler{wiki: w, QueryURL: "https://query.wikidata.org/#", sessions: map[string]*session{}}
	h.formKey = h.random()
	return h
}

// random returns 16 random bytes in hexadecimal.
func (h *Handler) random() string {
	b := make([]byte, 16)
	if _, err := io.ReadFull(h.wiki.cfg.Random, b); err != nil {
		h.wiki.lg.Error("sandbox wiki: no randomness", "err", err)
		return ""
	}
	return hex.EncodeToString(b)
}

// call is one request to the API.
type call struct {
	h    *Handler
	form map[string][]string
	post bool
	s    *session
	warn []string

	account *Account // the session's account when the request arrived; nil if anonymous
	secret  string
}

func (c *call) has(name string) bool { return len(c.form[name]) > 0 }

func (c *call) get(name string) string {
	if v := c.form[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// list splits a parameter at its pipes, or at U+001F if it starts with that character.
func (c *call) list(name string) []string {
	v := c.get(name)
	switch {
	case v == "":
		return nil
	case v[0] == '\x1f':
		return strings.Split(v[1:], "\x1f")
	}
	return strings.Split(v, "|")
}

func (c *call) wants(name, value string) bool { return slices.Contains(c.list(name), value) }

// object is a JSON object in a response.
type object = map[string]any

// failure is an error in MediaWiki's format.
type failure struct {
	code, info string
	more       object
	retryAfter int
}

func fail(code, info string) *failure { return &failure{code: code, info: info} }

// api handles requests to /w/api.php.
func (h *Handler) api(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Cache-Control", "private, must-revalidate, max-age=0")
	r.Body = http.MaxBytesReader(rw, r.Body, maxBody)
	if err := r.ParseMultipartForm(maxBody); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		httpjson.Write(rw, http.StatusBadRequest, object{"error": object{"code": "badrequest",
			"info": "The request could not be read."}})
		return
	}
	action := r.Form.Get("action")
	if extra := h.Extra[action]; extra != nil {
		extra(rw, r)
		return
	}
	c := &call{h: h, form: r.Form, post: r.Method == http.MethodPost, s: h.session(rw, r)}
	h.mu.Lock()
	c.account, c.secret = c.s.account, c.s.secret
	h.mu.Unlock()
	answer, f := c.run(action)
	if f != nil {
		e := object{"code": f.code, "info": f.info}
		for k, v := range f.more {
			e[k] = v
		}
		answer = object{"error": e}
		rw.Header().Set("MediaWiki-API-Error", f.code)
		if f.retryAfter > 0 {
			rw.Header().Set("Retry-After", strconv.Itoa(f.retryAfter))
		}
		if f.code == "maxlag" {
			rw.Header().Set("X-Database-Lag", strconv.Itoa(h.Lag))
		}
	}
	if len(c.warn) > 0 {
		answer["warnings"] = object{"main": object{"warnings": strings.Join(c.warn, "\n")}}
	}
	if c.has("curtimestamp") {
		answer["curtimestamp"] = stamp(h.wiki.cfg.Now())
	}
	httpjson.Write(rw, http.StatusOK, answer)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// run performs the checks that apply to every request, in MediaWiki's order, and calls the action.
func (c *call) run(action string) (object, *failure) {
	if format := c.get("format"); format != "json" {
		c.warn = append(c.warn, "This wiki answers in JSON only.")
	}
	actions := map[string]func() (object, *failure){"query": c.query, "login": c.login, "logout": c.logout, "edit": c.edit,
		"parse":          c.parse,
		"revisiondelete": c.revisionDelete, "echomarkread": c.markRead}
	do := actions[action]
	if do == nil {
		return nil, fail("badvalue", `Unrecognized value for parameter "action": `+strconv.Quote(action)+".")
	}
	if f := c.assert(); f != nil {
		return nil, f
	}
	if action == "edit" || action == "login" || action == "revisiondelete" || action == "echomarkread" {
		if !c.post {
			return nil, fail("mustbeposted", `The "`+action+`" module requires a POST request.`)
		}
	}
	if action == "edit" || action == "revisiondelete" || action == "echomarkread" {
		if f := c.checkToken(); f != nil {
			return nil, f
		}
	}
	if c.has("maxlag") {
		limit, err := strconv.Atoi(c.get("maxlag"))
		if err != nil {
			return nil, fail("badinteger", `Invalid value for integer parameter "maxlag".`)
		}
		if c.h.Lag > limit {
			f := fail("maxlag", "Waiting for the database: "+strconv.Itoa(c.h.Lag)+" seconds lagged.")
			f.more, f.retryAfter = object{"host": "sandbox", "lag": c.h.Lag, "type": "db"}, 5
			return nil, f
		}
	}
	return do()
}

// assert checks assert and assertuser (https://www.mediawiki.org/wiki/API:Assert).
func (c *call) assert() *failure {
	a := c.account
	switch c.get("assert") {
	case "user":
		if a == nil {
			return fail("assertuserfailed", "You are no longer logged in, so the action could not be completed.")
		}
	case "bot":
		if a == nil || !slices.Contains(a.Groups, "bot") {
			return fail("assertbotfailed", `You do not have the "bot" right, so the action could not be completed.`)
		}
	case "anon":
		if a != nil {
			return fail("assertanonfailed", "You are no longer logged out, so the action could not be completed.")
		}
	}
	if want := c.get("assertuser"); want != "" {
		if got := c.name(); upperFirst(strings.ReplaceAll(want, "_", " ")) != got {
			return fail("assertnameduserfailed", `You are no longer logged in as "`+want+
				`", so the action could not be completed.`)
		}
	}
	return nil
}

// name returns the user's name, or the loopback address if the user is anonymous.
func (c *call) name() string {
	if c.account == nil {
		return "127.0.0.1"
	}
	return c.account.Name
}

// token returns the session's token. Without a login, it is the same for everyone.
func (c *call) token() string {
	if c.account == nil {
		return `+\`
	}
	return c.secret + `+\`
}

func (c *call) checkToken() *failure {
	if !c.has("token") {
		return fail("missingparam", `The "token" parameter must be set.`)
	}
	if subtle.ConstantTimeCompare([]byte(c.get("token")), []byte(c.token())) != 1 {
		return fail("badtoken", "Invalid CSRF token.")
	}
	return nil
}

const cookieName = "sandboxwiki_session"

// session returns the client's session, identified by its cookie, or starts a new one.
func (h *Handler) session(rw http.ResponseWriter, r *http.Request) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.wiki.cfg.Now()
	if c, err := r.Cookie(cookieName); err == nil && h.sessions[c.Value] != nil {
		s := h.sessions[c.Value]
		s.used = now
		return s
	}
	if len(h.sessions) >= maxSessions {
		oldest := ""
		for id, s := range h.sessions {
			if oldest == "" || s.used.Before(h.sessions[oldest].used) {
				oldest = id
			}
		}
		delete(h.sessions, oldest)
	}
	id, s := h.random(), &session{secret: h.random(), used: now}
	if id == "" || s.secret == "" {
		return s // not stored: without random bytes, no one can log in or post
	}
	s.id = id
	h.sessions[id] = s
	http.SetCookie(rw, &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true,
		SameSite: http.SameSiteLaxMode})
	return s
}

// login implements action=login with a bot password.
func (c *call) login() (object, *failure) {
	result := func(o object) (object, *failure) { return object{"login": o}, nil }
	if !c.has("lgtoken") {
		return result(object{"result": "NeedToken", "token": c.secret + `+\`})
	}
	if c.get("lgtoken") != c.secret+`+\` {
		return result(object{"result": "WrongToken"})
	}
	for i := range c.h.wiki.cfg.Accounts {
		a := &c.h.wiki.cfg.Accounts[i]
		name := a.Login
		if name == "" {
			name = a.Name
		}
		same := subtle.ConstantTimeCompare([]byte(a.Password), []byte(c.get("lgpassword"))) == 1
		if a.Password != "" && same && upperFirst(c.get("lgname")) == name {
			c.h.mu.Lock()
			c.s.account = a
			c.s.secret = c.h.random()
			c.h.mu.Unlock()
			return result(object{"result": "Success", "lguserid": i + 1, "lgusername": a.Name})
		}
	}
	return result(object{"result": "Failed", "reason": "Incorrect username or password entered.\nPlease try again."})
}

func (c *call) logout() (object, *failure) {
	c.h.mu.Lock()
	defer c.h.mu.Unlock()
	c.s.account = nil
	return object{}, nil
}
