package remote

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

const (
	longestMessage = 600            // maximum length of a message in characters
	tailBytes      = 256 << 10      // how many bytes at the end of a broken result are searched for a stack trace
	DefaultAfter   = time.Minute    // wait after a 429 that does not specify one
	defaultBan     = 24 * time.Hour // length of a query service ban that has no end time
	unknownBan     = time.Hour      // length of the ban after a 403 with neither a reason nor an end time
)

// queryFailure returns the failure that a response with status 300 or above describes. The failure may be shown to
// users.
func queryFailure(query string, a Answer, now time.Time) *kg.Error {
	switch a.Status {
	case http.StatusTooManyRequests:
		if text, ok := qleverText(a.Body); ok {
			// this is how QLever reports that its time limit was exceeded
			return &kg.Error{Kind: kg.Timeout, Message: cmp.Or(Tidy(text), "the service's time limit passed")}
		}
		return Throttled(a, now)
	case http.StatusForbidden:
		return Forbidden(a, now)
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return kg.Errorf(kg.Timeout, "the service gave up waiting for the result")
	case http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge:
		return kg.Errorf(kg.QueryFailed, "the query is too long for the service")
	}
	if a.Status < 400 {
		return kg.Errorf(kg.Down, "the endpoint redirects to another address (status %d); correct its address", a.Status)
	}
	if e := qleverFailure(a.Body); e != nil {
		return e
	}
	text := withoutEcho(string(a.Body), query)
	if e := exceptionFailure(text); e != nil {
		return e
	}
	if a.Status >= 500 {
		e := kg.Errorf(kg.Down, "the service answered with status %d", a.Status)
		if after, ok := politehttp.RetryAfter(a.Header, now); ok {
			e.RetryAfter = after
		}
		return e
	}
	msg := fmt.Sprintf("the service refused the query with status %d", a.Status)
	if !looksLikeHTML(text) && strings.TrimSpace(text) != "" {
		msg += ": " + Tidy(text)
	}
	return &kg.Error{Kind: kg.QueryFailed, Message: msg}
}

// downResult returns what the retry policy needs to know about a failure of kind Down.
func downResult(e *kg.Error) politehttp.Result {
	r := politehttp.Result{Status: http.StatusServiceUnavailable, Header: http.Header{}}
	if e.RetryAfter > 0 {
		r.Header.Set("Retry-After", strconv.FormatFloat(e.RetryAfter.Seconds(), 'f', 3, 64))
	}
	return r
}

// brokenResult explains why a response with status 200 is not a complete result: it ends with a stack trace or is cut
// off.
func brokenResult(query string, body []byte) *kg.Error {
	tail := string(body[max(0, len(body)-tailBytes):])
	// In JSON, a line cannot start with a class name, so this search never matches data.
	if i := max(strings.LastIndex(tail, "\njava.util.concurrent."), strings.LastIndex(tail, "\nSPARQL-QUERY: ")); i >= 0 {
		if e := exceptionFailure(withoutEcho(tail[i+1:], query)); e != nil {
			if e.Kind == kg.Timeout {
				e.Message = "the service's time limit passed while it was sending the result"
			}
			return e
		}
	}
	if trace := bytes.LastIndex(body, []byte("\n\tat ")); trace >= 0 && isTimeout(tail) {
		return kg.Errorf(kg.Timeout, "the service's time limit passed while it was sending the result")
	}
	if looksLikeHTML(tail) {
		return kg.Errorf(kg.Down, "the service answered with a web page instead of a result")
	}
	return kg.Errorf(kg.Down, "the result broke off after %d bytes", len(body))
}

// Throttled interprets a 429 response, which has a Retry-After header and the text "Too Many Requests - Please retry in
// N seconds."
func Throttled(a Answer, now time.Time) *kg.Error {
	after, ok := politehttp.RetryAfter(a.Header, now)
	if m := retryIn.FindSubmatch(a.Body); !ok && m != nil {
		after, ok = politehttp.ParseRetryAfter(string(m[1]), now)
	}
	if !ok {
		after = DefaultAfter
	}
	return &kg.Error{Kind: kg.RateLimited, RetryAfter: after, Message: fmt.Sprintf("the service wants us to wait %s",
		after.Round(time.Second))}
}

var (
	retryIn     = regexp.MustCompile(`retry in (\d+) seconds`)
	bannedUntil = regexp.MustCompile(`banned until ([0-9T:.+-]+Z?)`)
)

// Forbidden interprets a 403 response: a ban with its end time, a missing User-Agent, or an unknown reason, which is
// treated as a short ban.
func Forbidden(a Answer, now time.Time) *kg.Error {
	text := string(a.Body)
	if strings.Contains(text, "identify your user agent") {
		return kg.Errorf(kg.QueryFailed, "the service does not accept our User-Agent; set CONTACT")
	}
	e := &kg.Error{Kind: kg.Banned, RetryAfter: unknownBan, Message: "the service forbids us to ask (403)"}
	if strings.Contains(text, "banned") {
		e.RetryAfter, e.Message = defaultBan, "the service has banned us for not respecting its limits"
	}
	if after, ok := politehttp.RetryAfter(a.Header, now); ok && after > 0 {
		e.RetryAfter = after
	}
	if m := bannedUntil.FindStringSubmatch(text); m != nil {
		if t, err := time.Parse(time.RFC3339, m[1]); err == nil && t.After(now) {
			e.RetryAfter = t.Sub(now)
		}
	}
	return e
}

const echoStart = "SPARQL-QUERY: queryStr="

// withoutEcho removes the query that the service repeats before its error message.
func withoutEcho(text, query string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	query = strings.ReplaceAll(query, "\r\n", "\n")
	i := strings.Index(text, echoStart)
	if i < 0 {
		return text
	}
	rest := text[i+len(echoStart):]
	if after, ok := strings.CutPrefix(rest, query); ok {
		return strings.TrimLeft(after, "\n")
	}
	if after, ok := strings.CutPrefix(rest, strings.TrimSpace(query)); ok {
		return strings.TrimLeft(after, "\n")
	}
	// The echo can differ from the query that we sent, so look for the exception, which starts with the name of the
	// outermost class.
	if j := strings.LastIndex(rest, "\njava.util.concurrent."); j >= 0 {
		return rest[j+1:]
	}
	return ""
}

var (
	classNames = regexp.MustCompile(`^(?:[A-Za-z_$][\w$]*(?:\.[\w$]+)+:?\s*)+`)
	exception  = regexp.MustCompile(`^[a-z][\w$]*(?:\.[\w$]+)*\.[A-Z][\w$]*(?:Exception|Error|OutOfMemory)\b`)
	position   = regexp.MustCompile(`(?i)\bline:?\s*(\d+),?\s*column:?\s*(\d+)`)
	frame      = regexp.MustCompile(`\n\s+at |\nCaused by: |\n\t\.\.\. `)
)

// exceptionFailure parses the text of a Java exception, without the echo of the query: its kind, the innermost message
// before the first stack frame, and the position that the message contains. It returns nil if the text is not an
// exception.
func exceptionFailure(text string) *kg.Error {
	text = strings.TrimLeft(text, "\n ")
	if !exception.MatchString(text) {
		return nil
	}
	if loc := frame.FindStringIndex(text); loc != nil {
		text = text[:loc[0]]
	}
	names := classNames.FindString(text)
	msg := strings.TrimSpace(text[len(names):])
	e := &kg.Error{Kind: kg.QueryFailed}
	switch {
	case isTimeout(names) || strings.Contains(msg, "deadline is expired"):
		return kg.Errorf(kg.Timeout, "the query ran longer than the service allows")
	case strings.Contains(names, "OutOfMemory") || strings.Contains(names, "StackOverflow"):
		return kg.Errorf(kg.TooGreedy, "the query took more memory than the service allows")
	case strings.Contains(names, "MalformedQueryException"):
		e.Kind = kg.SyntaxError
	case strings.Contains(msg, "is not allowed") && strings.Contains(msg, "Service"):
		e.Kind = kg.Refused
	}
	if m := position.FindStringSubmatch(msg); m != nil && e.Kind == kg.SyntaxError {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
	}
	if e.Message = Tidy(msg); e.Message == "" {
		e.Message = Tidy(lastName(names))
	}
	return e
}

// lastName returns the unqualified name of the innermost class.
func lastName(names string) string {
	names = strings.TrimRight(names, ": \n")
	return names[strings.LastIndexByte(names, '.')+1:]
}

func isTimeout(s string) bool {
	return strings.Contains(s, "TimeoutException") || strings.Contains(s, "deadline is expired")
}

// qleverError is QLever's error body.
type qleverError struct {
	Exception string `json:"exception"`
	Metadata  struct {
		Line           int `json:"line"`
		PositionInLine int `json:"positionInLine"`
	} `json:"metadata"`
}

func qleverText(body []byte) (string, bool) {
	var q qleverError
	err := json.Unmarshal(body, &q)
	return q.Exception, err == nil && q.Exception != ""
}

func qleverFailure(body []byte) *kg.Error {
	var q qleverError
	if json.Unmarshal(body, &q) != nil || q.Exception == "" {
		return nil
	}
	e := &kg.Error{Kind: kg.QueryFailed, Message: cmp.Or(Tidy(q.Exception), "the service refused the query")}
	if q.Metadata.Line > 0 {
		e.Kind, e.Line, e.Column = kg.SyntaxError, q.Metadata.Line, q.Metadata.PositionInLine+1
	}
	return e
}

// Tidy returns s as a single line of printable characters with bounded length.
func Tidy(s string) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > longestMessage {
		s = string(r[:longestMessage]) + " …"
	}
	return s
}

func looksLikeHTML(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s[:min(len(s), 200)]))
	return strings.HasPrefix(s, "<!doctype") || strings.HasPrefix(s, "<html")
}
