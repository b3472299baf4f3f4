package mediawiki

import (
	"context"

	"cgt.name/pkg/go-mwclient/params"
)

// Preview is wikitext rendered by the wiki.
type Preview struct {
	HTML      string
	Links     []string // external links
	Templates []string // titles of the templates used
}

// Preview renders wikitext as if it were on the page, with signatures expanded. It saves nothing.
func (c *Client) Preview(ctx context.Context, title, text string) (*Preview, error) {
	if err := checkTitle("preview", title); err != nil {
		return nil, err
	}
	var out struct {
		Parse struct {
			Text      string   `json:"text"`
			Links     []string `json:"externallinks"`
			Templates []struct {
				Title string `json:"title"`
			} `json:"templates"`
		} `json:"parse"`
	}
	err := c.query(ctx, request{op: "preview", title: title, post: true, params: params.Values{
		"action": "parse", "title": title, "text": text, "contentmodel": "wikitext", "pst": "1",
		"prop": "text|templates|externallinks", "disablelimitreport": "1", "disableeditsection": "1"}}, &out)
	if err != nil {
		return nil, err
	}
	p := &Preview{HTML: out.Parse.Text, Links: out.Parse.Links}
	for _, t := range out.Parse.Templates {
		p.Templates = append(p.Templates, t.Title)
	}
	return p, nil
}
