// Package login controls access to the pages that are not public. There is one operator, who has a token from the
// settings, and there are accounts that the operator creates for annotators, each with its own token.
//
// A login sets a cookie, signed with a key kept in the store. The cookie is bound to the token: changing the token,
// removing the account or logging out invalidates its cookies, in every process that uses the same store. Tokens are
// compared in constant time, and only a hash of an account's token is stored. After several failures, the client has to
// wait, and after many failures, everyone does, so that tokens cannot be guessed.
//
// Package guard rejects cross-site requests before they reach this package.
package login

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/web/guard"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

//go:embed page words
var files embed.FS

func folder(name string) fs.FS {
	f, err := fs.Sub(files, name)
	if err != nil {
		panic(err) // the folders are embedded in the program
	}
	return f
}

// Notes stores small values by key; internal/store implements it.
type Notes interface {
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Put(ctx context.Context, key string, value []byte) error
}

// Options configures a [Door].
type Options struct {
	Log    *slog.Logger
	Notes  Notes
	Token  string // the operator's token; if empty, see Local
	Name   string // the operator's name, for the record; "operator" if empty
	Now    func() time.Time
	Random io.Reader
	// Local reports whether only this machine can reach the server. If it is true and Token is empty, anyone who
	// reaches the server is the operator.
	Local bool
	Site  *layout.Site // the frame of the pages
}

// User is the sender of a request.
type User struct {
	Name     string
	Operator bool
	Free     bool // no login was required
}

// Lifetime is the duration of a login.
const Lifetime = 7 * 24 * time.Hour

// MinToken is the minimum number of characters in a token.
const MinToken = 16

// maxForm limits the size of a login form.
const maxForm = 4 << 10

// Door lets users in. It is safe for concurrent use.
type Door struct {
	Options
	tries tries
	books books
	pages *layout.Pages
}

// New returns a door. It returns an error if the operator's token is so short that it could be guessed.
func New(o Options) (*Door, error) {
	if o.Token != "" && len(o.Token) < MinToken {
		return nil, fmt.Errorf("OPERATOR_TOKEN has %d characters; it must have at least %d and be unguessable: "+
			"create one with openssl rand -hex 24", len(o.Token), MinToken)
	}
	if o.Name == "" {
		o.Name = "operator"
	}
	o.Site.Words(folder("words"))
	d := &Door{Options: o, books: books{notes: o.Notes, random: o.Random}, pages: o.Site.Pages(folder("page"))}
	d.tries.now = o.Now
	return d, nil
}

// Handler serves /login and /logout.
func (d *Door) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login", d.form)
	mux.HandleFunc("POST /login", d.enter)
	mux.HandleFunc("POST /logout", d.leave)
	return mux
}

// user is the context key of a [User].
type user struct{}

// Of returns the sender of the request with this context. If neither [Door.Operator] nor [Door.Anybody] handled the
// request, it returns the zero User.
func Of(ctx context.Context) User {
	u, _ := ctx.Value(user{}).(User)
	return u
}

// Operator admits only the operator.
func (d *Door) Operator(next http.Handler) http.Handler {
	return d.only(next, func(u User) bool { return u.Operator })
}

// Anybody admits any logged-in user.
func (d *Door) Anybody(next http.Handler) http.Handler {
	return d.only(next, func(User) bool { return true })
}

func (d *Door) only(next http.Handler, may func(User) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := d.closed(); why != "" {
			d.refuse(w, r, http.StatusForbidden, why)
			return
		}
		u, ok, err := d.User(r)
		switch {
		case err != nil:
			d.failed(w, r, err)
		case !ok && (r.Method == http.MethodGet || r.Method == http.MethodHead):
			http.Redirect(w, r, "/login?to="+escape(r.URL.RequestURI()), http.StatusSeeOther)
		case !ok:
			d.ask(w, r, http.StatusUnauthorized, "/", "login.over")
		case !may(u):
			d.refuse(w, r, http.StatusForbidden, "login.operator_only", "name", u.Name)
		default:
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), user{}, u)))
		}
	})
}

// closed returns the key of the message that explains why no one can log in, or "".
func (d *Door) closed() string {
	if d.Token != "" || d.Local {
		return ""
	}
	return "login.no_token"
}

// User returns the sender of a request. ok is false for a stranger.
func (d *Door) User(r *http.Request) (u User, ok bool, err error) {
	if d.Token == "" && d.Local {
		if fromHere(r) {
			return User{Name: d.Name, Operator: true, Free: true}, true, nil
		}
		return User{}, false, nil
	}
	b, err := d.books.read(r.Context())
	if err != nil {
		return User{}, false, err
	}
	for _, c := range r.Cookies() { // another site in the same domain may have set a cookie with the same name
		if c.Name != cookieName(secure(r)) {
			continue
		}
		if u, ok := d.check(b, c.Value); ok {
			return u, true, nil
		}
	}
	return User{}, false, nil
}

// fromHere reports whether a request comes from this machine and not through a self-declared proxy.
func fromHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	return err == nil && guard.Loopback(host)
}

// secure reports whether the browser used or must use HTTPS: only loopback names are exempt.
func secure(r *http.Request) bool {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return encrypted(r) || !guard.Loopback(host)
}

func encrypted(r *http.Request) bool {
	return r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

// cookieName returns the cookie's name. Its prefix makes browsers prevent other hosts in the same domain from setting
// it.
func cookieName(secure bool) string {
	if secure {
		return "__Host-spinachbot"
	}
	return "spinachbot"
}

// session is the contents of a cookie.
type session struct {
	Name     string `json:"n"`
	Operator bool   `json:"o,omitempty"`
	Issued   int64  `json:"i"` // Unix seconds
}

func (d *Door) issue(b *book, u User) (string, error) {
	text, err := json.Marshal(session{u.Name, u.Operator, d.Now().Unix()})
	if err != nil {
		return "", err
	}
	key, ok := d.keyOf(b, u)
	if !ok {
		return "", errors.New("the account no longer exists")
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	return body + "." + base64.RawURLEncoding.EncodeToString(mac(key, body)), nil
}

// check parses and verifies a cookie's value.
func (d *Door) check(b *book, value string) (User, bool) {
	body, given, ok := strings.Cut(value, ".")
	if !ok {
		return User{}, false
	}
	text, err1 := base64.RawURLEncoding.DecodeString(body)
	sum, err2 := base64.RawURLEncoding.DecodeString(given)
	var s session
	if err1 != nil || err2 != nil || json.Unmarshal(text, &s) != nil {
		return User{}, false
	}
	u := User{Name: s.Name, Operator: s.Operator}
	key, ok := d.keyOf(b, u)
	if !ok || !hmac.Equal(sum, mac(key, body)) {
		return User{}, false
	}
	age := d.Now().Sub(time.Unix(s.Issued, 0))
	return u, age >= -time.Minute && age < Lifetime
}

// keyOf returns the key for signing a user's cookies. It changes with the token and on every logout.
func (d *Door) keyOf(b *book, u User) ([]byte, bool) {
	if u.Operator {
		hash := sha256.Sum256([]byte(d.Token))
		return mac(b.Secret, fmt.Sprintf("operator %x %d", hash, b.Logouts)), d.Token != "" && u.Name == d.Name
	}
	a := b.account(u.Name)
	if a == nil {
		return nil, false
	}
	return mac(b.Secret, fmt.Sprintf("account %x %d %s", a.Hash, a.Logouts, a.Name)), true
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// who returns the user with the given token. It takes the same time for every user.
func (d *Door) who(b *book, token string) (User, bool) {
	given := sha256.Sum256([]byte(token))
	var found User
	ok := false
	own := sha256.Sum256([]byte(d.Token))
	if subtle.ConstantTimeCompare(given[:], own[:])&btoi(d.Token != "") == 1 {
		found, ok = User{Name: d.Name, Operator: true}, true
	}
	for i := range b.Accounts {
		if subtle.ConstantTimeCompare(given[:], b.Accounts[i].Hash) == 1 {
			found, ok = User{Name: b.Accounts[i].Name}, true
		}
	}
	return found, ok
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
