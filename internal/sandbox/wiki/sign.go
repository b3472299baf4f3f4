package wiki

import (
	"net/netip"
	"strings"
	"time"
)

// expandSignatures expands signatures as MediaWiki does before saving: three tildes become the signature, four the
// signature and the time, and five the time. Comments and literal tags are left unchanged.
func expandSignatures(text, user string, now time.Time) string {
	if !strings.Contains(text, "~~~") {
		return text
	}
	var b strings.Builder
	at := 0
	for _, span := range append(literals(text), [2]int{len(text), len(text)}) {
		expandTildes(&b, text[at:span[0]], user, now)
		b.WriteString(text[span[0]:span[1]])
		at = span[1]
	}
	return b.String()
}

// expandTildes replaces runs of three to five tildes. In a longer run, the first five tildes are replaced first, and
// then the rest.
func expandTildes(b *strings.Builder, s, user string, now time.Time) {
	stamp := now.UTC().Format("15:04, 2 January 2006") + " (UTC)"
	for {
		i := strings.Index(s, "~~~")
		if i < 0 {
			b.WriteString(s)
			return
		}
		b.WriteString(s[:i])
		s = s[i:]
		n := min(5, len(s)-len(strings.TrimLeft(s, "~")))
		s = s[n:]
		switch n {
		case 3:
			b.WriteString(signature(user))
		case 4:
			b.WriteString(signature(user) + " " + stamp)
		default:
			b.WriteString(stamp)
		}
	}
}

// signature is MediaWiki's default signature.
func signature(user string) string {
	if _, err := netip.ParseAddr(user); err == nil {
		return "[[Special:Contributions/" + user + "|" + user + "]]"
	}
	return "[[User:" + user + "|" + user + "]] ([[User talk:" + user + "|talk]])"
}
