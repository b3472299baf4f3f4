package wiki

import "strings"

// parse implements action=parse, which renders wikitext or a page's newest revision as HTML.
func (c *call) parse() (object, *failure) {
	title, text, page := c.get("title"), c.get("text"), c.get("page")
	out := object{}
	switch {
	case page != "":
		rev := c.h.wiki.Page(page)
		if rev == nil {
			return nil, fail("missingtitle", "The page you specified doesn't exist.")
		}
		title, text = rev.Page, rev.Text
		out["revid"], out["pageid"] = rev.ID, c.h.wiki.History(title)[0].ID
	case !c.has("text"):
		return nil, fail("missingparam", `One of the parameters "page" and "text" is required.`)
	case title == "":
		title = "API"
	}
	if c.has("pst") {
		text = strings.TrimRight(expandSignatures(text, c.name(), c.h.wiki.cfg.Now()), " \t\n")
	}
	doc := render(text, renderOptions{queryURL: c.h.QueryURL, exists: c.h.exists})
	out["title"], out["text"] = title, `<div class="mw-parser-output">`+doc.html+"</div>"
	templates := []object{}
	for _, t := range doc.templates {
		templates = append(templates, object{"ns": 10, "title": "Template:" + t, "exists": true})
	}
	out["templates"], out["externallinks"] = templates, doc.links
	return object{"parse": out}, nil
}
