package sparql

import "strings"

// QueryPage is the URL of the Wikidata Query Service's page; the query is appended as the fragment.
const QueryPage = "https://query.wikidata.org/#"

// URL returns a link that opens the query on the query service's page. Decoding the link's fragment yields the query,
// byte for byte. Everything except letters, digits and - . _ is percent-encoded, so the link is safe in wikitext,
// Markdown and chats.
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
