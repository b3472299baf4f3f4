package sparql

import (
	"fmt"
	"net/url"
	"strings"
)

// QueryPage is the address of the Wikidata Query Service's page; a query follows as its fragment.
const QueryPage = "https://query.wikidata.org/#"

// URL returns the link that opens the query on the query service's page. It decodes to the same text, byte for byte; only letters, digits and - . _ stand
// unencoded in it, so that it is safe in wikitext, in Markdown and in chats.
func URL(query string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	b.Grow(len(QueryPage) + len(query)*2)
	b.WriteString(QueryPage)
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c < 0x80 && class[c]&cName != 0 || c == '.' {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// FromURL returns the query of a link to a query page: its fragment (query.wikidata.org/#…, embed.html#…), or its parameter query.
func FromURL(link string) (string, error) {
	if _, fragment, ok := strings.Cut(link, "#"); ok {
		q, err := url.PathUnescape(fragment)
		if err != nil {
			return "", fmt.Errorf("the link's query is not properly encoded: %w", err)
		}
		return q, nil
	}
	u, err := url.Parse(link)
	if err != nil {
		return "", fmt.Errorf("no link: %w", err)
	}
	if q := u.Query().Get("query"); q != "" {
		return q, nil
	}
	return "", fmt.Errorf("the link holds no query: neither a fragment nor a parameter named query")
}
