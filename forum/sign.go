package forum

import (
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// sign finds the signatures in a line.
func (p *parser) sign(l *line, pending []line) {
	low := max(l.text, l.table)
	nodes := p.nodesIn(l.text, l.end)
	term := strings.HasSuffix(l.prefix, ";")
	l.sigs = p.sigs[:0]
	for i := low; ; {
		st, ok := nextStamp(p.text[:l.end], i)
		for len(nodes) > 0 && (!ok || nodes[0].Start < st.start) {
			p.nodeSignature(l, nodes[0], &low)
			nodes = nodes[1:]
		}
		if !ok {
			break
		}
		i = st.end
		if st.start < low || p.quoted(st.start) || term && !defines(p.text[low:st.start]) {
			continue
		}
		user, from, ok := p.n.signer(p.text[low:st.start])
		from += low
		if k := len(pending) - 1; !ok && len(l.sigs) == 0 && k >= 0 && l.prefix == "" && pending[k].prefix == "" &&
			pending[k].end+1 == l.start {
			user, from, ok = p.n.signer(p.text[pending[k].text:st.start]) // a signature that is split across two lines
			from += pending[k].text
		}
		if !ok || user == "" {
			continue
		}
		at := st.time
		l.sigs = append(l.sigs, sig{user, &at, from, st.end})
		low = st.end
	}
	if len(l.sigs) == 0 {
		p.substituted(l)
	}
	p.sigs = l.sigs
}

// defines reports whether the text of a term in a definition list includes the start of its definition: a colon outside
// of links, tags and URLs (MediaWiki, BlockLevelPass::findColonNoLinks).
func defines(s string) bool {
	for i := 0; i < len(s); {
		switch {
		case s[i] == ':' && !strings.HasPrefix(s[i:], "://"):
			return true
		case s[i] == '<':
			if k := strings.IndexByte(s[i:], '>'); k > 0 {
				i += k
			}
		case strings.HasPrefix(s[i:], "[["):
			if e := linkEnd(s, i); e > 0 {
				i = e
				continue
			}
		}
		i++
	}
	return false
}

// nodeSignature handles an opaque node in a line: an unsigned template is a signature; a block or a query limits how
// far a later signature extends back.
func (p *parser) nodeSignature(l *line, n *wikitext.Node, low *int) {
	switch n.Kind {
	case wikitext.Tag:
		*low = max(*low, n.End)
	case wikitext.Template:
		if p.query(n) {
			*low = max(*low, n.End)
		}
		if p.is(n, unsignedTemplate) {
			user, at := p.unsigned(n)
			if k := len(l.sigs) - 1; k >= 0 && l.sigs[k].user == user && user != "" {
				return // signed both by hand and by template
			}
			l.sigs = append(l.sigs, sig{user, at, n.Start, n.End})
			*low = n.End
			return
		}
		if p.is(n, stamped) {
			*low = max(*low, n.End)
		}
	}
}

// unsigned parses {{unsigned|NAME|TIME}}, {{unsigned2|TIME|NAME}} and similar templates. An argument that can be parsed
// as a date is the time, and the first remaining argument is the user.
func (p *parser) unsigned(n *wikitext.Node) (user string, at *time.Time) {
	for _, a := range n.Args {
		v := strings.TrimSpace(wikitext.StripComments(a.Value.In(p.text)))
		if v == "" {
			continue
		}
		if t, ok := anyDate(v); ok {
			if at == nil {
				at = &t
			}
			continue
		}
		if user == "" && !strings.Contains(v, "(UTC)") {
			if strings.HasPrefix(v, "[[") {
				if end := linkEnd(v, 0); end > 0 {
					target, _ := splitLink(v[2 : end-2])
					user, _ = p.n.userOf(target)
				}
				continue
			}
			name := v
			if u, _ := p.n.userOf(v); u != "" {
				name = u
			}
			if looksLikeDate(v) {
				continue
			}
			user = p.n.userName(name)
		}
	}
	return user, at
}

// looksLikeDate reports whether a string is a date in a format that cannot be parsed, such as "15:38:33", rather than a
// name.
func looksLikeDate(s string) bool {
	digits, colons := 0, 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == ':' || c == '.':
			colons++
		}
	}
	return digits >= 4 && colons > 0 && digits+colons == len(s) && strings.Count(s, ".") != 3
}

// substituted adds the signature left by a substituted unsigned template: <small>… unsigned comment added by
// [[User:X|X]] … 10:15</small><!-- Template:Unsigned -->.
func (p *parser) substituted(l *line) {
	for _, n := range p.nodesIn(l.text, l.end) {
		if n.Kind != wikitext.Comment || !strings.Contains(strings.ToLower(p.text[n.Start:n.End]),
			"template:unsigned") {
			continue
		}
		user, from, ok := p.n.signer(p.text[l.text:n.Start])
		if !ok || user == "" {
			continue
		}
		s := sig{user: user, start: l.text + from, end: n.End}
		rest := p.text[s.start:n.Start]
		if k := strings.LastIndex(rest, "]]"); k >= 0 {
			if t, ok := anyDate(rest[k+2:]); ok {
				s.time = &t
			}
		}
		l.sigs = append(l.sigs, s)
		return
	}
}

// OnlySignature reports whether a string consists only of a user's signature, that is, links to the user's own pages,
// parentheses around them, and a timestamp.
func OnlySignature(s, user string, opt Options) bool {
	s = strings.TrimSpace(s)
	at, ok := nextStamp(s, 0)
	if !ok || at.end != len(s) || !strings.HasPrefix(s, "[[") {
		return false
	}
	n := newNames(opt)
	for _, t := range n.tokens(s[:at.start]) {
		part := s[t.start:t.end]
		if who, _ := n.tokenOf(part, t.kind); t.kind == '[' && who == UserName(user) {
			continue
		}
		if t.kind != 't' || strings.Trim(part, " ()\u200e\u200f") != "" {
			return false
		}
	}
	return true
}
