package politehttp

import (
	"regexp"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "******"

// minSecret is the shortest string that is treated as a secret: masking shorter ones would riddle every text.
const minSecret = 4

// The forms in which secrets come back in error texts: a bearer token, a key with OpenAI's prefix (also half masked, as its error texts
// quote it), a key or password as a parameter of a URL or form or JSON member, a password before an @ in a URL.
var secretForms = []struct {
	re  *regexp.Regexp
	out string
}{
	{regexp.MustCompile(`(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/*=-]{8,}`), "$1 " + Mask},
	{regexp.MustCompile(`\bsk-[A-Za-z0-9_*-]{6,}`), Mask},
	{regexp.MustCompile(`(?i)((?:api[_-]?key|access[_-]?token|(?:client|consumer|access)[_-]?secret|(?:lg)?password|lgtoken)["']?\s*[=:]\s*["']?)[^\s"'&,;}\\]{4,}`), "$1" + Mask},
	{regexp.MustCompile(`(://[^/\s:@"\\]+:)[^/\s@"\\]+@`), "$1" + Mask + "@"},
}

// Scrub returns text with the given secrets, and everything that has a secret's form, replaced by [Mask]. JSON stays valid, unless one of the
// secrets holds a quote or a backslash.
func Scrub(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) >= minSecret {
			text = strings.ReplaceAll(text, s, Mask)
		}
	}
	for _, f := range secretForms {
		text = f.re.ReplaceAllString(text, f.out)
	}
	return text
}
