package bot

import (
	"net/url"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Link returns the address of the reply if the wiki has reported one, else of the entry's thread, on the wiki with the
// given address of api.php: /wiki/PAGE where api.php is in /w/, as on Wikimedia's wikis, else index.php next to
// api.php. Without an address it returns "".
func (e *Entry) Link(api string) string {
	if api == "" {
		return ""
	}
	_, title := SplitPage(e.Page)
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
	anchor := strings.ReplaceAll(text.OneLine(e.Heading), " ", "_")
	if _, id, ok := strings.Cut(e.Anchor, "#"); ok { // of the reply itself
		anchor = id
	}
	return base + page + "#" + (&url.URL{Fragment: anchor}).EscapedFragment()
}
