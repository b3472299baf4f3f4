package testutil

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
)

// Echoes returns HTTP handlers, by name, that echo the request with its header and body, as various servers and proxies
// do.
func Echoes() map[string]http.HandlerFunc {
	object := func(dump string) string {
		// cannot fail: strings can always be encoded
		b, _ := json.Marshal(map[string]any{"error": map[string]any{"code": dump, "info": dump, "message": dump,
			"type": dump}})
		return string(b)
	}
	as := func(status int, kind string, body func(dump string) string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body(dump(r))))
		}
	}
	plain := func(dump string) string { return dump }
	return map[string]http.HandlerFunc{
		"server error":     as(500, "text/plain", plain),
		"refusal":          as(400, "text/plain", plain),
		"error object":     as(400, "application/json", object),
		"error object 200": as(200, "application/json", object),
		"text instead":     as(200, "text/plain", plain),
		"warning": as(200, "application/json", func(d string) string {
			return `{"warnings":{"main":` + strings.Replace(object(d), `"error"`, `"x"`, 1) + `}}`
		}),
		"cut": as(200, "application/json", func(d string) string { return strings.TrimSuffix(object(d), "}") }),
		"login reason": as(200, "application/json", func(d string) string {
			return strings.NewReplacer(`"error"`, `"login"`, `"code"`, `"result"`, `"info"`, `"reason"`, `"message"`,
				`"lgusername"`).Replace(object(d))
		}),
		"proxy's page": as(502, "text/html", func(d string) string { return "<pre>" + html.EscapeString(d) + "</pre>" }),
		"proxy's log":  as(403, "text/plain", func(d string) string { return base64.StdEncoding.EncodeToString([]byte(d)) }),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			d := dump(r)
			http.Redirect(w, r, "https://elsewhere.example/login?"+url.Values{"from": {d}}.Encode(), http.StatusFound)
		},
		"redirect's path": func(w http.ResponseWriter, r *http.Request) {
			d := dump(r)
			http.Redirect(w, r, "https://elsewhere.example/"+url.PathEscape(d), http.StatusFound)
		},
		"redirect to itself": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
		},
	}
}

// dump returns a request as text, with the important parts first because error messages are truncated.
func dump(r *http.Request) string {
	whole, err := httputil.DumpRequest(r, true)
	if err != nil {
		return err.Error()
	}
	_, body, _ := strings.Cut(string(whole), "\r\n\r\n")
	if form, err := url.ParseQuery(body); err == nil {
		body += " " + form.Get("lgpassword")
	}
	return r.Header.Get("Authorization") + " " + r.URL.String() + " " + body + " " + string(whole)
}

// leaked is the number of consecutive characters of a secret that count as a leak.
const leaked = 8

var base64Word = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)

// Leaks reports whether text contains part of one of the secrets, even escaped or in base64. It decodes the text
// instead of searching for encoded forms of a secret, so it shares no logic with the code that hides secrets.
func Leaks(text string, secrets ...string) bool {
	return leaks(text, secrets, 4) // the handlers do not nest encodings more deeply
}

func leaks(text string, secrets []string, depth int) bool {
	for _, s := range secrets {
		for i := 0; i+leaked <= len(s); i++ {
			if strings.Contains(text, s[i:i+leaked]) {
				return true
			}
		}
	}
	if depth == 0 {
		return false
	}
	unescaped := html.UnescapeString(strings.NewReplacer(`\/`, `/`, `\"`, `"`, `\u0026`, "&", `\u003c`, "<", `\u003e`,
		">").Replace(text))
	unescaped = percent.ReplaceAllStringFunc(unescaped, func(s string) string {
		if u, err := url.PathUnescape(s); err == nil {
			return u
		}
		return s
	})
	if unescaped != text && leaks(unescaped, secrets, depth-1) {
		return true
	}
	for _, w := range base64Word.FindAllString(text, -1) {
		w = strings.NewReplacer("-", "+", "_", "/").Replace(w)
		for skip := range 4 { // the match may start in the middle of a group of four characters
			part := w[skip:]
			if b, err := base64.RawStdEncoding.DecodeString(part[:len(part)/4*4]); err == nil && leaks(string(b), secrets,
				depth-1) {
				return true
			}
		}
	}
	return false
}

var percent = regexp.MustCompile(`(?:%[0-9A-Fa-f]{2})+`)
