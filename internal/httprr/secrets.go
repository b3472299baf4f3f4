package httprr

import (
	"fmt"
	"regexp"
	"strings"
)

// secretShapes matches secrets, which must not appear in any file in the repository. The patterns are deliberately
// separate from the scrubber's, so that a gap in one is not a gap in the other.
var secretShapes = []struct {
	what string
	re   *regexp.Regexp
}{
	{"an API key", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{16,}`)},
	{"an authorization", regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+[A-Za-z0-9._~+/-]{16,}=*`)},
	{"an authorization header", regexp.MustCompile(`(?i)"(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|openai-organization)"\s*:\s*[\["]+[^"*\]]+`)},
	{"an OAuth signature", regexp.MustCompile(`(?i)oauth_(?:signature|token|consumer_key)="?[A-Za-z0-9%+/]{16,}`)},
	{"a bot password", regexp.MustCompile(`\b[A-Za-z0-9_.-]+@[0-9a-w]{32,}\b`)},
	{"a bot password", regexp.MustCompile(`(?i)(?:lg)?password["']?\s*[=:]\s*["']?[0-9a-z]{16,}`)},
	{"a login token", regexp.MustCompile(`[0-9a-f]{32,}(?:\+|%2[bB])(?:\\{1,2}|%5[cC])`)},
	{"a GitHub token", regexp.MustCompile(`\bgh[pousr]_[A-Za-z0-9]{30,}`)},
	{"a private key", regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)},
	{"a password in an address", regexp.MustCompile(`[a-z]://[^/\s:@"]+:[^/\s@"*]{4,}@`)},
}

// FindSecrets searches for text that looks like a secret. It returns one line for each match, with the line number, the
// kind of secret, and its first few characters.
func FindSecrets(data []byte) []string {
	var out []string
	for i, line := range strings.Split(string(data), "\n") {
		for _, s := range secretShapes {
			if m := s.re.FindString(line); m != "" {
				out = append(out, fmt.Sprintf("line %d: looks like %s: %.8q…", i+1, s.what, m))
			}
		}
	}
	return out
}
