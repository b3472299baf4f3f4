package mediawiki

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"cgt.name/pkg/go-mwclient/params"
)

// Preview is a text as the wiki would show it.
type Preview struct {
	HTML      string
	Links     []string // external links
	Templates []string // titles of the templates used
}

// Preview renders a text as if it stood on the page, signatures expanded, and saves nothing.
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
	err := c.query(ctx, request{op: "preview", title: title, post: true, params: params.Values{"action": "parse", "title": title, "text": text,
		"contentmodel": "wikitext", "pst": "1", "prop": "text|templates|externallinks", "disablelimitreport": "1", "disableeditsection": "1"}}, &out)
	if err != nil {
		return nil, err
	}
	p := &Preview{HTML: out.Parse.Text, Links: out.Parse.Links}
	for _, t := range out.Parse.Templates {
		p.Templates = append(p.Templates, t.Title)
	}
	return p, nil
}

// HTML gives a page's newest revision as Parsoid HTML (https://www.mediawiki.org/wiki/API:REST_API/Reference#Get_HTML), from the rest.php beside api.php.
func (c *Client) HTML(ctx context.Context, title string) (string, error) {
	if err := checkTitle("html", title); err != nil {
		return "", err
	}
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return "", &Error{Op: "html", Title: title, Code: "not-sent", Err: ctx.Err()}
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	// A slash inside the title must be %2F, else the router looks for another path.
	at := strings.TrimSuffix(c.cfg.API, "api.php") + "rest.php/v1/page/" + url.PathEscape(strings.ReplaceAll(title, " ", "_")) + "/html"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return "", &Error{Op: "html", Title: title, Kind: Refused, Code: "not-sent", Err: err}
	}
	x := &exchange{ctx: ctx, next: c.base}
	resp, err := (&http.Client{Transport: x, CheckRedirect: noRedirect}).Do(r)
	if err != nil {
		return "", c.noAnswer(ctx, request{op: "html", title: title}, x)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(oneLine(string(body)))
	}
	if err != nil {
		kind := kindOfStatus(resp.StatusCode, false)
		if resp.StatusCode == http.StatusNotFound {
			kind = Refused // there is no such page
		}
		return "", &Error{Op: "html", Title: title, Kind: kind, Code: fmt.Sprintf("http-%d", resp.StatusCode), Err: err}
	}
	return string(body), nil
}
