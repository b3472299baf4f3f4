package forum

import (
	"strings"

	"github.com/spinachbot/spinachbot/internal/wikitext"
)

// Options name what differs from wiki to wiki. An empty list means the default, which is Wikidata's.
type Options struct {
	// QueryTemplates hold a SPARQL query in one of QueryParams.
	QueryTemplates []string
	QueryParams    []string
	// ResolvedTemplates say that people have closed the discussion, wherever in it they stand.
	ResolvedTemplates []string
	// UserNamespaces are the names of the user and user talk namespaces, Contributions those of the special page.
	UserNamespaces []string
	Contributions  []string
	// ShortLinks are hosts of link shorteners, such as "w.wiki". Links to them are reported as queries of kind link without a text, for the caller to resolve; by default
	// none are. They stay in the comment's text.
	ShortLinks []string
	// Wikitext is for [ParseHTML]: the wikitext of the same revision, empty when it is not at hand.
	Wikitext string
}

var (
	defaultQueryTemplates = []string{"SPARQL", "SPARQL2", "SPARQL3", "SPARQL4", "SPARQL5", "SPARQL Inline", "SPARQL inline", "Wdquery", "Wdq query", "Wikidata list",
		"Complex constraint", "Query page", "SPARQL query", "Wikidata query"}
	defaultQueryParams       = []string{"query", "sparql", "1"}
	defaultResolvedTemplates = []string{"Section resolved", "Resolved", "Discussion resolved", "Erledigt"}
	defaultUserNamespaces    = []string{"User", "User talk", "Benutzer", "Benutzer Diskussion", "Benutzerin", "Utilisateur", "Utilisatrice", "Discussion utilisateur"}
	defaultContributions     = []string{"Special:Contributions", "Special:Contribs", "Spezial:Beiträge", "Spécial:Contributions"}

	unsignedTemplates = []string{"Unsigned", "Unsigned2", "UnsignedIP", "UnsignedIP2", "Unsigned IP", "Unsigned IP2", "Unsigned ip", "Unsigned-anon", "Unsigned-ip", "Xsign",
		"Xsigned", "Unsign", "Unsigned by", "Unsigned user", "Nosign", "Unsig", "Nicht signiert", "Unsigniert", "Non signé", "Nonsigné"}
	outdentTemplates = []string{"Outdent", "Od", "Unindent", "Outdent2", "Od2", "Oi", "Dedent", "Deindent", "Reset indent", "Noindent"}
	pingTemplates    = []string{"Ping", "Reply to", "Replyto", "Reply", "Re", "U", "User", "User link", "Userlink", "Mention", "Notify", "Yo", "@", "Hello", "Ul", "Ping user"}
	// wrapTemplates show their first argument; signatures stand inside them now and then.
	wrapTemplates = []string{"Small", "Smaller", "Nowrap", "Nobr", "Nobold", "S", "Strike", "Del", "Strikethrough", "Big", "Larger"}
	// closedStart and closedEnd are the templates around a closed or archived part of a discussion; foldStart and foldEnd fold a part without closing it.
	closedStart  = []string{"Archive top", "Atop", "Discussion top", "Hidden archive top", "Hat", "Closed", "Archivetop", "Rfc top", "Afd top"}
	closedEnd    = []string{"Archive bottom", "Abot", "Discussion bottom", "Hidden archive bottom", "Hab", "Archivebottom", "Rfc bottom", "Afd bottom"}
	foldStart    = []string{"Cot", "Collapse top", "Hidden begin", "Hidden top", "Collapse begin"}
	foldEnd      = []string{"Cob", "Collapse bottom", "Hidden end", "Hidden bottom", "Collapse end"}
	botTemplates = []string{"Bots", "Nobots"}
)

// names is Options made ready for look-ups.
type names struct {
	query, params, resolved, unsigned, outdent, ping, wrap, closedStart, closedEnd, foldStart, foldEnd, bots map[string]bool
	users, contributions                                                                                     map[string]bool
	shortLinks                                                                                               map[string]bool // hosts, lower case
}

func set(list, otherwise []string) map[string]bool {
	if len(list) == 0 {
		list = otherwise
	}
	m := make(map[string]bool, len(list))
	for _, s := range list {
		m[wikitext.CanonicalName(s)] = true
	}
	return m
}

func newNames(o Options) *names {
	short := make(map[string]bool, len(o.ShortLinks))
	for _, host := range o.ShortLinks {
		short[strings.ToLower(strings.TrimSpace(host))] = true
	}
	return &names{
		shortLinks: short,
		query:      set(o.QueryTemplates, defaultQueryTemplates), params: set(o.QueryParams, defaultQueryParams),
		resolved: set(o.ResolvedTemplates, defaultResolvedTemplates),
		users:    set(o.UserNamespaces, defaultUserNamespaces), contributions: set(o.Contributions, defaultContributions),
		unsigned: set(nil, unsignedTemplates), outdent: set(nil, outdentTemplates), ping: set(nil, pingTemplates), wrap: set(nil, wrapTemplates),
		closedStart: set(nil, closedStart), closedEnd: set(nil, closedEnd), foldStart: set(nil, foldStart), foldEnd: set(nil, foldEnd), bots: set(nil, botTemplates),
	}
}

// structural reports whether a template stands between comments rather than in one.
func (n *names) structural(name string) bool {
	c := wikitext.CanonicalName(name)
	return n.resolved[c] || n.closedStart[c] || n.closedEnd[c] || n.foldStart[c] || n.foldEnd[c] || n.bots[c]
}
