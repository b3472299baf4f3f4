package login

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

func escape(s string) string { return url.QueryEscape(s) }

func (d *Door) form(w http.ResponseWriter, r *http.Request) {
	to := guard.Local(r.URL.Query().Get("to"))
	if why := d.closed(); why != "" {
		d.refuse(w, r, http.StatusForbidden, why)
		return
	}
	_, ok, err := d.User(r)
	switch {
	case err != nil:
		d.failed(w, r, err)
	case ok:
		http.Redirect(w, r, to, http.StatusSeeOther)
	case plain(r):
		d.refuse(w, r, http.StatusForbidden, "login.https")
	default:
		d.ask(w, r, http.StatusOK, to, "")
	}
}

// refuse shows a page with a message and without the form.
func (d *Door) refuse(w http.ResponseWriter, r *http.Request, status int, key string, args ...any) {
	d.Site.Problem(w, r, status, d.Site.Say(r, key, args...))
}

// ask shows the form and, if key is not empty, a message about what went wrong.
func (d *Door) ask(w http.ResponseWriter, r *http.Request, status int, to, key string, args ...any) {
	problem := ""
	if key != "" {
		problem = d.Site.Say(r, key, args...)
	}
	d.pages.Show(w, r, status, "login", layout.Page{Title: d.Site.Say(r, "login.title"), Section: "operator",
		Data: map[string]string{"Problem": problem, "To": to}})
}

// plain reports whether a request came from another machine without encryption.
func plain(r *http.Request) bool { return secure(r) && !encrypted(r) }

// enter checks a token and sets the cookie.
func (d *Door) enter(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		status := http.StatusBadRequest
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			status = http.StatusRequestEntityTooLarge
		}
		d.ask(w, r, status, "/", "login.unreadable")
		return
	}
	to := guard.Local(r.PostForm.Get("to"))
	switch why := d.closed(); {
	case why != "":
		d.refuse(w, r, http.StatusForbidden, why)
		return
	case plain(r):
		d.refuse(w, r, http.StatusForbidden, "login.https")
		return
	}
	client := clientOf(r)
	done, wait := d.tries.begin(client)
	if wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)+1))
		d.ask(w, r, http.StatusTooManyRequests, to, "login.wait", "count", int(wait/time.Minute)+1)
		return
	}
	b, err := d.books.read(r.Context())
	if err != nil {
		done(true) // the attempt revealed nothing about the token
		d.failed(w, r, err)
		return
	}
	u, ok := d.who(b, strings.TrimSpace(r.PostForm.Get("token")))
	done(ok)
	if !ok {
		d.Log.Warn("a login failed", "client", client)
		d.ask(w, r, http.StatusUnauthorized, to, "login.wrong")
		return
	}
	value, err := d.issue(b, u)
	if err != nil {
		d.failed(w, r, err)
		return
	}
	d.Log.Info("login", "client", client, "name", u.Name)
	http.SetCookie(w, d.cookie(r, value, int(Lifetime/time.Second)))
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// leave ends all of the sender's logins.
func (d *Door) leave(w http.ResponseWriter, r *http.Request) {
	u, ok, err := d.User(r)
	if err == nil && ok && !u.Free {
		err = d.books.logout(r.Context(), u)
	}
	if err != nil {
		d.failed(w, r, err)
		return
	}
	http.SetCookie(w, d.cookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

func (d *Door) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName(secure(r)), Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		Secure: secure(r), SameSite: http.SameSiteStrictMode}
}

// failed shows a page saying that the store is unavailable. The error itself is only logged, since strangers may read
// the page.
func (d *Door) failed(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client is gone
	}
	d.Log.Error("reading or writing the accounts failed", "error", err)
	d.refuse(w, r, http.StatusServiceUnavailable, "login.failed")
}
