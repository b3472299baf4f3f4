package wiki

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// namespaces contains the namespaces that this wiki recognizes, keyed by lower-case name.
var namespaces = map[string]struct {
	id   int
	name string
}{
	"": {0, ""}, "user": {2, "User"}, "user talk": {3, "User talk"}, "wikidata": {4, "Wikidata"},
	"project":       {4, "Wikidata"},
	"wikidata talk": {5, "Wikidata talk"}, "project talk": {5, "Wikidata talk"}, "template": {10, "Template"},
	"help":     {12, "Help"},
	"category": {14, "Category"}, "special": {-1, "Special"}, "property": {120, "Property"}, "talk": {1, "Talk"},
}

// normalize returns a title in MediaWiki's form: with spaces instead of underscores, MediaWiki's spelling of the
// namespace, and the first letter in upper case.
func normalize(title string) (string, error) {
	_, name, err := split(title)
	return name, err
}

// split is like normalize but also returns the namespace number.
func split(title string) (ns int, name string, err error) {
	t := strings.Join(strings.Fields(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(title), ":"), "_", " ")), " ")
	bad := t == "" || len(t) > 255 || !utf8.ValidString(t) || strings.ContainsFunc(t, func(r rune) bool {
		return strings.ContainsRune("#<>[]|{}", r) || unicode.IsControl(r) || r == unicode.ReplacementChar
	})
	if bad {
		return 0, "", fmt.Errorf("%w: %q", errInvalidTitle, title)
	}
	prefix, rest, found := strings.Cut(t, ":")
	if n, known := namespaces[strings.ToLower(strings.TrimSpace(prefix))]; found && known && n.name != "" {
		rest = strings.TrimSpace(rest)
		if rest == "" {
			return 0, "", fmt.Errorf("%w: %q", errInvalidTitle, title)
		}
		return n.id, n.name + ":" + upperFirst(rest), nil
	}
	return 0, upperFirst(t), nil
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// visitorName returns a visitor's name in normalized form. It follows MediaWiki's rules for user names, and rejects the
// names of accounts and network addresses.
func (w *Wiki) visitorName(s string) (string, error) {
	name := upperFirst(strings.Join(strings.Fields(strings.ReplaceAll(s, "_", " ")), " "))
	switch {
	case name == "":
		return "", fmt.Errorf("please enter a name to sign with")
	case utf8.RuneCountInString(name) > 40:
		return "", fmt.Errorf("the name is too long: 40 characters at most")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return strings.ContainsRune("#<>[]|{}@/:~=&'\"\\", r) || !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r)
	}):
		return "", fmt.Errorf("the name contains characters that a user name cannot have")
	}
	if _, err := netip.ParseAddr(name); err == nil {
		return "", fmt.Errorf("please sign with a name, not with a network address")
	}
	for _, a := range w.cfg.Accounts {
		if strings.EqualFold(a.Name, name) {
			return "", fmt.Errorf("%s is someone else's account", a.Name)
		}
	}
	return name, nil
}
