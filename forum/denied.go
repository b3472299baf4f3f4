package forum

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Denied reports whether {{bots}} or {{nobots}} on a page (or in a section) bans the account. The rules are the same as
// for Template:Bots and Pywikibot's botMayEdit: {{nobots}} denies all accounts, {{nobots|A,B}} the listed ones;
// {{bots|allow=all}}, {{bots|allow=none}}, {{bots|allow=A,B}} (no one else), {{bots|deny=all}}, {{bots|deny=none}},
// {{bots|deny=A,B}}. Malformed templates and templates in nowiki or HTML comments are ignored.
func Denied(text, account string) bool {
	low := strings.ToLower(text)
	if !strings.Contains(low, "bots") {
		return false
	}
	names := newNames(Options{})
	doc := wikitext.Preprocess(text, wikitext.Options{})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		if n.Kind == wikitext.Template && names.is(n.Name, botTemplate) && denies(n, text, account) {
			return true
		}
	}
	return false
}

// Welcomed reports whether {{bots|allow=…}} in text names the account, inviting it to the page.
func Welcomed(text, account string) bool {
	if account == "" || !strings.Contains(strings.ToLower(text), "bots") {
		return false
	}
	names := newNames(Options{})
	doc := wikitext.Preprocess(text, wikitext.Options{})
	for i := range doc.Nodes {
		n := &doc.Nodes[i]
		if n.Kind == wikitext.Template && names.is(n.Name, botTemplate) && wikitext.CanonicalName(n.Name) == "bots" {
			if a, ok := n.Arg(text, "allow"); ok && word(a.Value.In(text), account) {
				return true
			}
		}
	}
	return false
}

// Uses reports whether text uses any of the templates, whose names must be in lowercase. Templates in nowiki or HTML
// comments are ignored.
func Uses(text string, names ...string) bool {
	if !strings.Contains(text, "{{") {
		return false
	}
	doc := wikitext.Preprocess(text, wikitext.Options{})
	return slices.ContainsFunc(doc.Nodes, func(n wikitext.Node) bool {
		return n.Kind == wikitext.Template && slices.Contains(names, wikitext.CanonicalName(n.Name))
	})
}

// Lists reports whether a page, such as a list of users, links to a user's user page or talk page. Links in nowiki or
// HTML comments are ignored.
func Lists(text, user string) bool {
	if user = UserName(user); user == "" {
		return false
	}
	n := newNames(Options{})
	doc := wikitext.Preprocess(text, wikitext.Options{})
	pos := 0
	links := func(to int) bool {
		for ; pos < to; pos += 2 {
			k := strings.Index(text[pos:to], "[[")
			if k < 0 {
				break
			}
			pos += k
			if e := linkEnd(text[:to], pos); e > 0 {
				target, _ := splitLink(text[pos+2 : e-2])
				if u, page := n.userOf(target); page && UserName(u) == user {
					return true
				}
			}
		}
		return false
	}
	for i := range doc.Nodes {
		d := &doc.Nodes[i]
		if d.Kind != wikitext.Comment && d.Kind != wikitext.Tag {
			continue
		}
		if links(d.Start) {
			return true
		}
		pos = max(pos, d.End)
	}
	return links(len(text))
}

// redirect matches the text of a redirect. Its keyword depends on the wiki's language.
var redirect = regexp.MustCompile(`^\s*#\pL+\s*:?\s*\[\[([^\]|#]+)`)

// RenamedTo returns the new name of a renamed account, given the text of its user page or talk page. After an account
// is renamed, that page redirects to the corresponding page for the new name. For any other page, RenamedTo returns "".
func RenamedTo(text string) string {
	m := redirect.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	user, page := newNames(Options{}).userOf(m[1])
	if !page {
		return ""
	}
	return UserName(user)
}

// Head returns the part of the page before the first thread.
func Head(text string) string {
	if p := Parse("", text, Options{}); len(p.Threads) > 0 {
		return text[:p.Threads[0].Start]
	}
	return text
}

// denies reports whether a template denies an account or, if account is empty, whether it denies any account.
func denies(n *wikitext.Node, text, account string) bool {
	if wikitext.CanonicalName(n.Name) == "nobots" {
		list, ok := n.Arg(text, "1")
		return !ok || strings.TrimSpace(list.Value.In(text)) == "" || listed(list.Value.In(text), account, true)
	}
	if a, ok := n.Arg(text, "allow"); ok {
		v := a.Value.In(text)
		return !listed(v, account, false) && !word(v, "all") || word(v, "none")
	}
	if d, ok := n.Arg(text, "deny"); ok {
		v := d.Value.In(text)
		return word(v, "all") || !word(v, "none") && listed(v, account, true)
	}
	return false
}

// listed reports whether an account is in a comma-separated list. If account is empty, it returns anybody.
func listed(list, account string, anybody bool) bool {
	if account == "" {
		return anybody
	}
	return word(list, account)
}

func word(list, w string) bool {
	for _, s := range strings.Split(wikitext.StripComments(list), ",") {
		if strings.EqualFold(UserName(s), UserName(w)) {
			return true
		}
	}
	return false
}
