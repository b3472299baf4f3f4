package forum

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Denied reports whether {{bots}} or {{nobots}} on a page (or in a section) asks the account to stay away. The rules
// are those of Template:Bots and of Pywikibot's botMayEdit: {{nobots}} denies all, {{nobots|A,B}} those listed;
// {{bots|allow=all}}, {{bots|allow=none}}, {{bots|allow=A,B}} (nobody else), {{bots|deny=all}}, {{bots|deny=none}},
// {{bots|deny=A,B}}. Templates inside nowiki and comments do not count, and neither do malformed ones.
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

// denies reads one such template. An empty account asks whether it denies anybody at all.
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

// listed reports whether an account is in a list separated by commas. For no account in particular the answer is
// anybody.
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
