package desk

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the previews' style
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/microcosm-cc/bluemonday"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// A preview is the wiki's HTML in a separate document, for a frame without permissions: no scripts, no forms, no
// requests (not even for images), no origin. This is enforced twice: [harmless] removes everything except plain
// structure, and the response's policy blocks anything it might have missed.

//go:embed preview.css
var previewStyle string

// previewPolicy allows a preview only its own style, identified by its hash, because a frame without an origin cannot
// load it from this server.
var previewPolicy = func() string {
	sum := sha256.Sum256([]byte(previewStyle))
	return "sandbox; default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
}()

// harmless keeps the structure of a wiki page: text, lists, tables, code. It removes link targets, which would lead out
// of the frame.
var harmless = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	elements := []string{"p", "br", "hr", "div", "span", "ul", "ol", "li", "dl", "dt", "dd", "b", "strong", "i", "em", "s",
		"del", "ins", "u", "small", "big", "sub", "sup", "code", "pre", "tt", "kbd", "samp", "var", "q", "blockquote", "cite",
		"h2", "h3", "h4", "h5", "h6", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "bdi", "abbr", "a"}
	p.AllowElements(elements...)
	p.AllowNoAttrs().OnElements("span", "a")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^[A-Za-z0-9 _-]{1,200}$`)).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[a-zA-Z-]{2,20}$`)).Globally()
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[0-9]{1,3}$`)).OnElements("td", "th")
	p.SkipElementsContent("style", "script", "iframe", "object", "svg", "math", "template", "noscript")
	return p
})

var framed = template.Must(template.New("").Parse(`<!doctype html>
<html lang="{{.Lang}}"{{with .Theme}} data-theme="{{.}}"{{end}}><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title><style>{{.Style}}</style>
</head><body>{{with .Problem}}<p class="problem">{{.}}</p>{{end}}{{.Body}}</body></html>
`))

const renderTime = 15 * time.Second

// preview responds with the wiki's rendering of a draft.
func (d *Desk) preview(w http.ResponseWriter, r *http.Request) error {
	e, err := d.Store.Entry(r.Context(), r.PathValue("key"))
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", previewPolicy)
	data := map[string]any{"Lang": layout.LanguageOf(r), "Title": d.Site.Say(r, "desk.preview"),
		"Style": template.CSS(previewStyle), "Theme": theme(r)} //nolint:gosec // a compile-time constant
	status := http.StatusOK
	switch {
	case e.Draft == nil:
		status, data["Problem"] = http.StatusNotFound, d.Site.Say(r, "desk.no_draft")
	default:
		body, err := d.rendered(r.Context(), e)
		if err != nil {
			d.Log.Warn("a preview failed", "entry", e.Key, "error", err)
			status, data["Problem"] = http.StatusBadGateway, d.Site.Say(r, "desk.no_preview")
		}
		data["Body"] = template.HTML(body) //nolint:gosec // harmless has sanitized it
	}
	var b strings.Builder
	if err := framed.Execute(&b, data); err != nil {
		return err
	}
	layout.Send(w, r, status, "text/html; charset=utf-8", []byte(b.String()))
	return nil
}

// theme returns the color theme that the reader chose.
func theme(r *http.Request) string {
	if c, err := r.Cookie("theme"); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// rendered returns the wiki's rendering of a draft, requesting it only once.
func (d *Desk) rendered(ctx context.Context, e *bot.Entry) (string, error) {
	name := e.Page + "\n" + e.Draft.Name()
	if body, ok := d.previews.get(name); ok {
		return body, nil
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	// The wiki would replace ~~~~ with the wrong signature, because the bot's account does not make this request.
	wiki := d.wiki(e)
	if wiki.Render == nil {
		return "", errors.New("the entry's wiki is not in the settings")
	}
	account := cmp.Or(wiki.Account, "SpinachBot")
	signature := "[[User:" + account + "|" + account + "]] " + d.Now().UTC().Format("15:04, 2 January 2006 (UTC)")
	_, title := bot.SplitPage(e.Page)
	html, err := wiki.Render(ctx, title, strings.ReplaceAll(e.Draft.Wikitext, "~~~~", signature))
	if err != nil {
		return "", err
	}
	body := harmless().Sanitize(html)
	d.previews.put(name, body)
	return body, nil
}

// previews caches the most recent renderings.
type previews struct {
	mu    sync.Mutex
	by    map[string]string
	order []string
}

const maxPreviews = 50

func (p *previews) get(name string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.by[name]
	return s, ok
}

func (p *previews) put(name, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = map[string]string{}
	}
	if _, ok := p.by[name]; !ok {
		p.order = append(p.order, name)
	}
	p.by[name] = body
	if len(p.order) > maxPreviews {
		delete(p.by, p.order[0])
		p.order = p.order[1:]
	}
}
