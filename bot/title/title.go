// Package title derives facts from a page's title alone: whether the bot answers on the page, and the page's URL.
package title

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/text"
)

// OwnTalk reports whether a title is that of an account's talk page, with any namespace name that package forum
// supports.
func OwnTalk(title, account string) bool {
	ns, name, _ := strings.Cut(title, ":")
	switch strings.ToLower(ns) {
	case "user talk", "benutzer diskussion", "discussion utilisateur":
		return forum.UserName(name) == forum.UserName(account)
	}
	return false
}

// Listed reports whether a list of pages includes the page with the given title and namespace. An entry in the list is
// "talk" for all talk pages, a namespace number, a title, or a title prefix followed by "*".
func Listed(list []string, title string, namespace int) bool {
	for _, want := range list {
		prefix, any := strings.CutSuffix(want, "*")
		switch n, err := strconv.Atoi(want); {
		case err == nil:
			if namespace == n {
				return true
			}
		case want == "talk":
			if namespace > 0 && namespace%2 == 1 {
				return true
			}
		case any && strings.HasPrefix(title, prefix), title == want:
			return true
		}
	}
	return false
}

// Archived returns a reason to skip a page whose title shows that it is an archive, and "" for any other page.
func Archived(title string) string {
	for _, part := range strings.Split(title, "/")[1:] {
		if strings.HasPrefix(strings.ToLower(part), "archiv") {
			return "an archive page"
		}
	}
	return ""
}

// Link returns the URL of a section or comment on a page of the wiki whose api.php has the given URL. The URL's path is
// /wiki/PAGE if api.php is in /w/, as on Wikimedia's wikis, and otherwise index.php in the same folder as api.php. If
// api is empty, Link returns "".
func Link(api, title, anchor string) string {
	if api == "" {
		return ""
	}
	base := strings.TrimSuffix(api, "api.php")
	if root, ok := strings.CutSuffix(base, "/w/"); ok {
		base = root + "/wiki/"
	} else {
		base += "index.php?title="
	}
	page := strings.NewReplacer("%3A", ":", "%2F", "/").Replace(url.PathEscape(strings.ReplaceAll(title, " ", "_")))
	if strings.HasSuffix(base, "=") {
		page = strings.ReplaceAll(page, "&", "%26")
	}
	fragment := &url.URL{Fragment: strings.ReplaceAll(text.OneLine(anchor), " ", "_")}
	return base + page + "#" + fragment.EscapedFragment()
}
