package parsoid

import (
	"net/url"
	"strings"

	dom "golang.org/x/net/html"
)

func (u *unparser) link(n *dom.Node) {
	rel, href := attr(n, "rel"), attr(n, "href")
	switch {
	case hasWord(rel, "mw:WikiLink/Interwiki"):
		u.wikiLink(n, attr(n, "title"))
	case hasWord(rel, "mw:WikiLink"):
		u.wikiLink(n, pageOf(href))
	case hasWord(rel, "mw:ExtLink"):
		class, shown := attr(n, "class"), content(n)
		switch {
		case hasWord(class, "mw-magiclink"):
			u.children(n)
		case hasWord(class, "free") || class == "" && shown == href:
			u.put(shown)
		case shown == "":
			u.put("[" + linkEscape.Replace(href) + "]")
		default:
			u.put("[" + linkEscape.Replace(href) + " ")
			u.children(n)
			u.put("]")
		}
	case hasWord(attr(n, "class"), "mw-selflink"):
		u.wikiLink(n, u.title)
	case strings.HasPrefix(href, "./"): // in older versions
		u.wikiLink(n, pageOf(href))
	default:
		u.children(n)
	}
}

func (u *unparser) wikiLink(n *dom.Node, target string) {
	target = strings.Map(func(r rune) rune {
		if strings.ContainsRune("[]{}|<>\n", r) { // titles cannot contain these characters
			return -1
		}
		return r
	}, target)
	u.put("[[")
	if ns, _, ok := strings.Cut(strings.ToLower(target), ":"); ok &&
		(ns == "file" || ns == "image" || ns == "category") {
		u.put(":")
	}
	u.put(target + "|")
	u.children(n)
	u.put("]]")
}

// linkEscape escapes characters that would end a URL in square brackets.
var linkEscape = strings.NewReplacer(" ", "%20", "[", "%5B", "]", "%5D", "<", "%3C", ">", "%3E", `"`, "%22", "\n",
	"%0A", "|", "%7C", "''", "%27%27", "{{", "%7B%7B", "}}", "%7D%7D")

// pageOf returns the title of a relative link's target: for "./User:A_b%3F?action=edit#x", it returns "User:A b?#x".
func pageOf(href string) string {
	href = strings.TrimPrefix(href, "./")
	page, fragment, anchor := strings.Cut(href, "#")
	page, _, _ = strings.Cut(page, "?")
	if t, err := url.PathUnescape(page); err == nil {
		page = t
	}
	page = strings.ReplaceAll(page, "_", " ")
	if anchor {
		page += "#" + fragment
	}
	return page
}

// property writes page properties: categories and magic words such as __NOTOC__.
func (u *unparser) property(n *dom.Node) {
	if rel := attr(n, "rel"); rel == "mw:PageProp/Category" {
		page, _, _ := strings.Cut(pageOf(attr(n, "href")), "#")
		u.put("[[" + strings.NewReplacer("[", "", "]", "").Replace(page) + "]]")
	} else if word, ok := strings.CutPrefix(attr(n, "property"), "mw:PageProp/"); ok && word != "" &&
		strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz") == "" {
		u.put("__" + strings.ToUpper(word) + "__")
	}
}
