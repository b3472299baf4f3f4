package forum

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Options describes how a wiki differs from others. An empty list means Wikidata's list.
type Options struct {
	// QueryTemplates are the templates that contain a SPARQL query in the query or sparql parameter or in the first
	// unnamed parameter.
	QueryTemplates []string
	// ResolvedTemplates are the templates that, anywhere in a discussion, mark it as closed.
	ResolvedTemplates []string
	// UserNamespaces are additional names for the user and user talk namespaces. The English, German and French names
	// are built in.
	UserNamespaces []string
	// ShortLinks are the host names of link shorteners, such as "w.wiki". Links to these hosts are reported as queries
	// of kind link with no SPARQL; the caller must resolve them. By default, no links are reported. The links remain in
	// the comment's text.
	ShortLinks []string
	// Wikitext is the wikitext of the same revision, for [ParseHTML]; empty if it is not available.
	Wikitext string
}

var (
	defaultQueryTemplates = []string{"SPARQL", "SPARQL2", "SPARQL3", "SPARQL4", "SPARQL5", "SPARQL Inline",
		"SPARQL inline", "Wdquery", "Wdq query", "Wikidata list",
		"Complex constraint", "Query page", "SPARQL query", "Wikidata query"}
	defaultResolvedTemplates = []string{"Section resolved", "Resolved", "Discussion resolved", "Erledigt"}

	queryParams = []string{"query", "sparql", "1"}
	// userNamespaces are the names of the user and user talk namespaces; contributions, those of that special page.
	userNamespaces = []string{"User", "User talk", "Benutzer", "Benutzer Diskussion", "Benutzerin",
		"Utilisateur", "Utilisatrice", "Discussion utilisateur"}
	contributions = []string{"Special:Contributions", "Special:Contribs", "Spezial:Beiträge",
		"Spécial:Contributions"}

	unsignedTemplates = []string{"Unsigned", "Unsigned2", "UnsignedIP", "UnsignedIP2", "Unsigned IP", "Unsigned IP2",
		"Unsigned ip", "Unsigned-anon", "Unsigned-ip", "Xsign",
		"Xsigned", "Unsign", "Unsigned by", "Unsigned user", "Nosign", "Unsig", "Nicht signiert", "Unsigniert",
		"Non signé", "Nonsigné"}
	outdentTemplates = []string{"Outdent", "Od", "Unindent", "Outdent2", "Od2", "Oi", "Dedent", "Deindent",
		"Reset indent", "Noindent"}
	pingTemplates = []string{"Ping", "Reply to", "Replyto", "Reply", "Re", "U", "User", "User link", "Userlink",
		"Mention", "Notify", "Yo", "@", "Hello", "Ul", "Ping user"}
	// wrapTemplates are templates that show their first argument, which may contain signatures.
	wrapTemplates = []string{"Small", "Smaller", "Nowrap", "Nobr", "Nobold", "S", "Strike", "Del", "Strikethrough",
		"Big", "Larger"}
	// closedStart and closedEnd are the templates around a closed or archived part of a discussion; foldStart and
	// foldEnd are the templates around a collapsed part that is not closed.
	closedStart = []string{"Archive top", "Atop", "Discussion top", "Hidden archive top", "Hat", "Closed",
		"Archivetop", "Rfc top", "Afd top"}
	closedEnd = []string{"Archive bottom", "Abot", "Discussion bottom", "Hidden archive bottom", "Hab",
		"Archivebottom", "Rfc bottom", "Afd bottom"}
	foldStart    = []string{"Cot", "Collapse top", "Hidden begin", "Hidden top", "Collapse begin"}
	foldEnd      = []string{"Cob", "Collapse bottom", "Hidden end", "Hidden bottom", "Collapse end"}
	botTemplates = []string{"Bots", "Nobots"}
	// blockStart and blockEnd enclose a conversation with the bot; blockReply is the template at the end of each of the
	// previous bot's replies.
	blockStart = []string{"Spinachbot top"}
	blockEnd   = []string{"Spinachbot bottom"}
	blockReply = []string{"Spinachbot response end"}
)

type role uint32

const (
	queryTemplate role = 1 << iota
	resolvedTemplate
	unsignedTemplate
	outdentTemplate
	pingTemplate
	wrapTemplate
	closedStartTemplate
	closedEndTemplate
	foldStartTemplate
	foldEndTemplate
	botTemplate
	queryParam
	userNamespace
	contributionsPage
	blockStartTemplate
	blockEndTemplate
	blockReplyTemplate
	stamped // the template contains a timestamp; does not depend on its name
	// Structural templates occur between comments, not inside them.
	structural = resolvedTemplate | closedStartTemplate | closedEndTemplate | foldStartTemplate | foldEndTemplate |
		botTemplate | blockStartTemplate | blockEndTemplate | blockReplyTemplate
)

// names contains the Options in a form that allows fast lookup, and caches the lookups for one page.
type names struct {
	roles      map[string]role // by canonical name
	shortLinks map[string]bool // hosts, in lowercase
	asked      map[string]name
	users      map[string]userLink // by link target
	shown      map[string]string   // user names, by spelling in arguments
	tokenized  []token             // scratch
}

// name contains a template's canonical name and role.
type name struct {
	canonical string
	role      role
}

type userLink struct {
	user string
	page bool
}

// of returns the canonical form and the role of the given name.
func (n *names) of(written string) name {
	if k, ok := n.asked[written]; ok {
		return k
	}
	c := wikitext.CanonicalName(written)
	k := name{c, n.roles[c]}
	n.asked[written] = k
	return k
}

func (n *names) roleOf(t *wikitext.Node) role { return n.of(t.Name).role }

// is reports whether a name, as written, has any of the roles in r.
func (n *names) is(written string, r role) bool { return n.of(written).role&r != 0 }

var wikidataRoles = rolesOf(Options{})

func rolesOf(o Options) map[string]role {
	m := map[string]role{}
	for _, l := range []struct {
		r               role
		list, otherwise []string
	}{
		{queryTemplate, o.QueryTemplates, defaultQueryTemplates}, {queryParam, nil, queryParams},
		{resolvedTemplate, o.ResolvedTemplates, defaultResolvedTemplates},
		{userNamespace, nil, userNamespaces}, {contributionsPage, nil, contributions},
		{unsignedTemplate, nil, unsignedTemplates}, {outdentTemplate, nil, outdentTemplates},
		{pingTemplate, nil, pingTemplates}, {wrapTemplate, nil, wrapTemplates},
		{closedStartTemplate, nil, closedStart}, {closedEndTemplate, nil, closedEnd},
		{foldStartTemplate, nil, foldStart}, {foldEndTemplate, nil, foldEnd}, {botTemplate, nil, botTemplates},
		{blockStartTemplate, nil, blockStart}, {blockEndTemplate, nil, blockEnd},
		{blockReplyTemplate, nil, blockReply},
	} {
		if len(l.list) == 0 {
			l.list = l.otherwise
		}
		for _, s := range l.list {
			m[wikitext.CanonicalName(s)] |= l.r
		}
	}
	for _, s := range o.UserNamespaces {
		m[wikitext.CanonicalName(s)] |= userNamespace
	}
	return m
}

func newNames(o Options) *names {
	n := &names{roles: wikidataRoles, asked: map[string]name{}, users: map[string]userLink{},
		shown: map[string]string{}}
	if len(o.QueryTemplates)+len(o.ResolvedTemplates)+len(o.UserNamespaces) > 0 {
		n.roles = rolesOf(o)
	}
	if len(o.ShortLinks) > 0 {
		n.shortLinks = map[string]bool{}
	}
	for _, host := range o.ShortLinks {
		n.shortLinks[strings.ToLower(strings.TrimSpace(host))] = true
	}
	return n
}
