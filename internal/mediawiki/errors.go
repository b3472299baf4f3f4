package mediawiki

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Kind classifies the failure of a request. It determines what the caller must do.
type Kind int

const (
	// Transient means that nothing happened (lag, rate limit, read-only mode, network). Try again later, after
	// [Error].RetryAfter if that is not zero.
	Transient Kind = iota
	// Conflict means that nothing was saved because the section was edited, moved or removed after it was read. Read it
	// again and decide again.
	Conflict
	// Refused means that the wiki will not accept this edit or request, now or later (abuse filter, spam blacklist,
	// captcha, bad parameters). Never try to get around this.
	Refused
	// Blocked means that the account may not do this at all (blocked account, protected page, missing right, failed
	// login). Stop and tell the operator.
	Blocked
	// Unknown means that a save was sent but no usable response came back. The edit may have been saved, or may still be
	// saved. Check the page before doing anything else.
	Unknown
)

// String returns the name of the kind in lower case.
func (k Kind) String() string {
	switch k {
	case Transient:
		return "transient"
	case Conflict:
		return "conflict"
	case Refused:
		return "refused"
	case Blocked:
		return "blocked"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("kind %d", int(k))
}

// advice returns the last part of an error message, which tells the user what to do next.
func (k Kind) advice() string {
	switch k {
	case Conflict:
		return "read the page again"
	case Refused:
		return "it will not be sent again"
	case Blocked:
		return "check the account, its rights and WIKI_API"
	case Unknown:
		return "look at the page's history before sending again"
	}
	return "try later"
}

// Error is a failed request. Retrieve it with errors.As, or call [KindOf].
type Error struct {
	Op    string // "login", "read", "save", …
	Title string // the page, if any
	Kind  Kind   // determines what to do about it
	// MediaWiki's error code, an HTTP status such as "http-502", or one of our own codes: network, no-server, not-json,
	// continue, not-sent, answer
	Code       string
	Info       string        // the wiki's message on one line, truncated; untrusted text
	RetryAfter time.Duration // how long the wiki asked us to wait; 0 if it did not ask
	Err        error         // the cause, if it is a Go error (context.Canceled, a network error)
}

// Error returns a message that says what failed, why, and what to do next.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("wiki: ")
	b.WriteString(e.Op)
	if e.Title != "" {
		fmt.Fprintf(&b, " %q", e.Title)
	}
	b.WriteString(": ")
	b.WriteString(e.Code)
	if e.Info != "" {
		fmt.Fprintf(&b, " (%s)", e.Info)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	b.WriteString("; ")
	b.WriteString(e.Kind.advice())
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, ", in %v", e.RetryAfter)
	}
	return b.String()
}

// Unwrap returns the cause, so that errors.Is(err, context.Canceled) works.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error from this package; ok is false for any other error.
func KindOf(err error) (kind Kind, ok bool) {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind, true
	}
	return Transient, false
}

// CodeOf returns the code of an error from this package, or "" for any other error.
func CodeOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// noServer is the error code for a connection that was refused because no server is listening at the address.
const noServer = "no-server"

// unusable is the error code for a response that is too long, or whose JSON has an unexpected form.
const unusable = "answer"

// notJSON is the error code for a 200 response that is not complete JSON.
const notJSON = "not-json"

// apiError is the "error" object in a response with formatversion=2 and the default errorformat.
type apiError struct {
	Code           string `json:"code"`
	Info           string `json:"info"`
	ReadOnlyReason string `json:"readonlyreason"`
	AbuseFilter    *struct {
		ID          any      `json:"id"`
		Description string   `json:"description"`
		Actions     []string `json:"actions"`
	} `json:"abusefilter"`
	SpamBlacklist *struct {
		Matches []string `json:"matches"`
	} `json:"spamblacklist"`
}

// info returns the details from code-specific fields, followed by the message. The message comes last because a wiki
// can make it so long that it must be truncated.
func (e *apiError) info() string {
	s := ""
	if e.ReadOnlyReason != "" {
		s += "Reason: " + e.ReadOnlyReason + ". "
	}
	if e.AbuseFilter != nil {
		s += fmt.Sprintf("Filter %v, %s, actions %s. ", e.AbuseFilter.ID, e.AbuseFilter.Description,
			strings.Join(e.AbuseFilter.Actions, ", "))
	}
	if e.SpamBlacklist != nil {
		s += "Matches: " + strings.Join(e.SpamBlacklist.Matches, ", ") + ". "
	}
	return s + e.Info
}

// kinds maps MediaWiki's error codes to kinds. A code that ends in * is a prefix. Any other code
// is Refused: MediaWiki responded with an error, so nothing was saved, and there is no reason to expect that another
// attempt would succeed.
var kinds = map[string]Kind{
	"maxlag": Transient, "readonly": Transient, "ratelimited": Transient, "actionthrottledtext": Transient,
	"badtoken": Transient,

	// an earlier attempt with this token succeeded: the wiki accepts a token only once
	"discussiontools-formtoken-used": Unknown,

	"editconflict": Conflict, "nosuchsection": Conflict, "missingtitle": Conflict, "pagedeleted": Conflict,
	"articleexists": Conflict,
	"nosuchrevid":   Conflict,

	"blocked": Blocked, "autoblocked": Blocked, "globally-blocked": Blocked, "globalblocking-*": Blocked,
	"systemblocked": Blocked,
	"cantedit":      Blocked, "cantcreate": Blocked, "protectedpage": Blocked, "protectedtitle": Blocked,
	"cascadeprotected":    Blocked,
	"protectednamespace*": Blocked, "permissiondenied": Blocked, "noedit*": Blocked, "writeapidenied": Blocked,
	"readapidenied": Blocked,
	"badaccess-*":   Blocked, "confirmemail": Blocked, "mwoauth-*": Blocked, "notloggedin": Blocked,
	"assertuserfailed": Blocked, "assertbotfailed": Blocked, "assertnameduserfailed": Blocked,
}

// kindOfCode looks up a MediaWiki error code in kinds. If a save causes an internal error, the kind is Unknown, because
// the edit may have been saved before the error.
func kindOfCode(code string, save bool) Kind {
	if strings.HasPrefix(code, "internal_api_error") {
		if save {
			return Unknown
		}
		return Transient
	}
	if k, ok := kinds[code]; ok {
		return k
	}
	for pattern, k := range kinds {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok && strings.HasPrefix(code, prefix) {
			return k
		}
	}
	return Refused
}

// kindOfStatus returns the kind for an HTTP status other than 200.
func kindOfStatus(status int, save bool) Kind {
	switch {
	case status == 429:
		return Transient
	case status == 401 || status == 403 || status == 404 || status >= 300 && status < 400:
		return Blocked
	case status >= 400 && status < 500:
		return Refused
	case save:
		return Unknown
	}
	return Transient
}

// lostSession reports whether logging in again may help. The wiki sends these codes before it does anything, so the
// request can safely be sent again.
func lostSession(code string) bool {
	switch code {
	case "assertuserfailed", "assertnameduserfailed", "assertbotfailed", "notloggedin", "readapidenied":
		return true
	}
	return false
}

// text returns text from a server in a form that is safe to show: without secrets, on one line, and at most 300
// characters long.
func (c *Client) text(s string) string {
	const most = 64 << 10 // in bytes; far more than is shown
	return oneLine(c.scrub.Text(s[:min(len(s), most)]))
}

// oneLine removes control characters from s and returns it as one line of at most 300 characters.
func oneLine(s string) string {
	return text.Clip(text.OneLine(strings.ReplaceAll(s, "\uFFFD", " ")), 300)
}
