package politehttp

import (
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
)

// Mask replaces a secret in text.
const Mask = "******"

// minSecret is the minimum length of a secret that is masked. Masking shorter ones would garble all text.
const minSecret = 4

// minFragment is the minimum length of a base64 fragment that is searched for.
const minFragment = 6

// secretForms match text that looks like a secret even if no such secret is configured: a bearer token; a key with
// OpenAI's prefix, even if partly masked, as OpenAI's error messages quote it; a key or password as a URL or form
// parameter or as a JSON member; OAuth header parameters; a cookie; a password before the @ of a URL.
var secretForms = []struct {
	re  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/*=-]{8,}`), "$1 " + Mask},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_*-]{6,}`), Mask},
	{regexp.MustCompile(`(?i)((?:api[_-]?key|access[_-]?token|(?:client|consumer|access)[_-]?secret|(?:lg)?password|lgtoken)["']?\s*[=:]\s*["']?)` +
		`[^\s"'&,;}\\]{4,}`), "$1" + Mask},
	{regexp.MustCompile(`(?i)(oauth_(?:signature|token|consumer_key)(?:=|%3d)(?:\\?"|%22|&#34;|&quot;)?)[^\s"'&,;}\\]{4,}`), "$1" + Mask},
	{regexp.MustCompile(`(?i)\b((?:set-)?cookie["']?\s*:\s*\[?\s*["']?)[^\r\n"\]\\]{4,}`), "$1" + Mask},
	{regexp.MustCompile(`(://[^/\s:@"\\]+:)[^/\s@"\\]+@`), "$1" + Mask + "@"},
}

// Scrubber removes secrets from text, in every form in which they are sent: unchanged, escaped for a URL (one or more
// times, with a space as %20 or +), for JSON or for HTML, and inside base64, as in basic authentication. It also
// removes text that looks like a secret. A nil Scrubber removes only text that looks like a secret. A Scrubber is safe
// for concurrent use.
type Scrubber struct{ secrets []*regexp.Regexp }

// NewScrubber returns a scrubber for the given secrets. It ignores secrets shorter than 4 bytes.
func NewScrubber(secrets ...string) *Scrubber {
	s := &Scrubber{}
	seen := map[string]bool{}
	for _, secret := range secrets {
		if len(secret) < minSecret || seen[secret] {
			continue
		}
		seen[secret] = true
		forms := []string{escapedForms(secret)}
		escaped := url.QueryEscape(secret)
		for _, v := range slices.Compact([]string{secret, escaped, strings.ReplaceAll(escaped, "+", "%20")}) {
			for _, f := range base64Fragments(v) {
				forms = append(forms, escapedForms(f))
			}
		}
		s.secrets = append(s.secrets, regexp.MustCompile(strings.Join(forms, "|")))
	}
	return s
}

// Text returns text with every secret replaced by [Mask]. JSON stays valid, unless one of the secrets contains a quote
// or a backslash.
func (s *Scrubber) Text(text string) string {
	if s != nil {
		for _, re := range s.secrets {
			text = re.ReplaceAllString(text, Mask)
		}
	}
	for _, f := range secretForms {
		text = f.re.ReplaceAllString(text, f.out)
	}
	return text
}

// Error returns an error whose text is the scrubbed text of err. errors.Is and errors.As work on it as they do on err.
// If the text contains no secret, Error returns err itself.
func (s *Scrubber) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	clean := s.Text(text)
	if clean == text {
		return err
	}
	return &scrubbed{text: clean, err: err}
}

type scrubbed struct {
	text string
	err  error
}

func (e *scrubbed) Error() string        { return e.text }
func (e *scrubbed) Is(target error) bool { return errors.Is(e.err, target) }
func (e *scrubbed) As(target any) bool   { return errors.As(e.err, target) }

// Scrub returns text with the given secrets, and text that looks like a secret, replaced by [Mask]. See [Scrubber].
func Scrub(text string, secrets ...string) string { return NewScrubber(secrets...).Text(text) }

// escapedForms returns a pattern that matches secret with any of its characters escaped. Letters and digits are matched
// unchanged, since encoders do not escape them.
func escapedForms(secret string) string {
	var b strings.Builder
	for _, r := range secret {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			b.WriteRune(r)
			continue
		}
		b.WriteString("(?:" + strings.Join(runeForms(r), "|") + ")")
	}
	return b.String()
}

// runeForms returns patterns for a character: unchanged, possibly after backslashes; escaped one or more times in a
// URL; as \u in JSON; and in HTML.
func runeForms(r rune) []string {
	var inURL, inJSON strings.Builder
	for _, c := range []byte(string(r)) {
		fmt.Fprintf(&inURL, `%%(?:25)*%02x`, c)
	}
	for _, u := range utf16.Encode([]rune{r}) {
		fmt.Fprintf(&inJSON, `\\+u%04x`, u)
	}
	forms := []string{
		`\\*` + regexp.QuoteMeta(string(r)), "(?i:" + inURL.String() + ")", "(?i:" + inJSON.String() + ")",
		fmt.Sprintf("&#0*%d;", r), fmt.Sprintf("(?i:&#x0*%x;)", r),
	}
	if e := html.EscapeString(string(r)); e != string(r) {
		forms = append(forms, regexp.QuoteMeta(e))
	}
	if r == ' ' {
		forms = append(forms, `\+`, `(?i:%(?:25)*2b)`) // a plus sign escaped by a second encoder
	}
	return forms
}

// base64Fragments returns the base64 encoding of secret for each offset (mod 3) at which it can start within a longer
// text, without the characters that also depend on the surrounding text.
func base64Fragments(secret string) []string {
	var out []string
	for offset := range 3 {
		data := append(make([]byte, offset), secret...)
		whole := base64.StdEncoding.EncodeToString(data[:len(data)/3*3])
		rest := base64.RawStdEncoding.EncodeToString(data[len(data)/3*3:])
		fragment := whole + rest[:max(len(rest)-1, 0)]
		fragment = fragment[min(len(fragment), (offset*8+5)/6):]
		if len(fragment) < minFragment {
			continue
		}
		out = append(out, fragment)
		if safe := strings.NewReplacer("+", "-", "/", "_").Replace(fragment); safe != fragment {
			out = append(out, safe)
		}
	}
	return out
}

// secretParameter is the name of a URL parameter whose value is a secret.
var secretParameter = regexp.MustCompile(`(?i)key|token|secret|passw|pwd|auth|sig|credential|session`)

// longValue is the minimum length at which the value of a URL parameter is treated as a secret, regardless of the
// parameter's name.
const longValue = 16

// URLSecrets returns the secrets in a URL: its password, and the values of parameters that look like keys.
func URLSecrets(address string) []string {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	var out []string
	if p, ok := u.User.Password(); ok {
		out = append(out, p)
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if secretParameter.MatchString(name) || len(v) >= longValue {
				out = append(out, v)
			}
		}
	}
	return out
}

// ShownURL returns a URL in a form that anyone may see: without its user name, password, fragment and parameter values.
// The URL need not be well-formed.
func ShownURL(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		user := u.User != nil
		u.User = nil
		if u.RawQuery != "" {
			u.RawQuery = maskedQuery(u.RawQuery)
		}
		u.Fragment, u.RawFragment = "", ""
		if user {
			return strings.Replace(u.String(), "://", "://"+Mask+"@", 1)
		}
		return u.String()
	}
	shown, query, hasQuery := strings.Cut(address, "?")
	shown, _, _ = strings.Cut(shown, "#")
	scheme, rest, ok := strings.Cut(shown, "://")
	if !ok {
		scheme, rest = "", shown
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = Mask + "@" + rest[i+1:]
	}
	if ok {
		rest = scheme + "://" + rest
	}
	if hasQuery {
		rest += "?" + maskedQuery(query)
	}
	return rest
}

func maskedQuery(query string) string {
	parts := strings.Split(query, "&")
	for i, p := range parts {
		name, _, has := strings.Cut(p, "=")
		if !has || strings.ContainsAny(name, "@#") {
			name = ""
		}
		parts[i] = name + "=" + Mask
	}
	return strings.Join(parts, "&")
}
