// Package layout provides the frame that all of the server's pages share: header, style, languages, static files and
// response headers. A page is a template with data; everything that this package adds to it is in the page's language
// and safe to show.
//
//	layout.go     a site, its sections, a page
//	language.go   the reader's language and theme
//	static.go     static files, whose URLs change when a file does
//	compress.go   compressed responses
//	words/        the frame's messages in each language
//	static/       the style sheet and the script that pages build on
//
// A package that provides pages has a folder with one template per page, each of which defines "main", and files whose
// names start with an underscore, which all pages may use. See the example for [Site.Pages].
package layout

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/guard"
)

//go:embed static words all:page
var own embed.FS

// sections lists the sections that the header may link to, in this order. A site shows the sections that were added to
// it.
var sections = []string{"ask", "editor", "runs", "operator", "annotate"}

// Site is the frame that one server's pages share. Methods that add something must be called before the server starts;
// the others are safe for concurrent use.
type Site struct {
	Log *slog.Logger

	static   *static
	words    *words
	sections map[string]string
}

// New returns a site without sections.
func New(lg *slog.Logger) *Site {
	s := &Site{Log: lg, static: newStatic(), words: newWords(), sections: map[string]string{}}
	s.Static("layout", sub(own, "static"))
	s.Words(sub(own, "words"))
	return s
}

// Section adds a link to the header. name is ask, editor, runs, operator or annotate.
func (s *Site) Section(name, address string) {
	if !slices.Contains(sections, name) {
		panic("layout: no section is called " + name)
	}
	s.sections[name] = address
}

// Static serves the files in a folder, each at the [Site.Address] of name/file. A script may import another of the
// site's scripts by its relative path, such as ../layout/page.js.
func (s *Site) Static(name string, files fs.FS) { s.static.add(name, files) }

// Words adds messages, with one file per language, such as de.json. All files must have the same keys.
func (s *Site) Words(files fs.FS) { s.words.add(files) }

// Address returns the URL at which a static file is served, such as "/static/3f9a…/ask/ask.js".
func (s *Site) Address(file string) string { return s.static.address(file) }

// Page describes a page in a section.
type Page struct {
	Title   string
	Section string   // section whose link in the header is highlighted
	Styles  []string // static files besides the frame's style sheet
	Scripts []string // static files that are modules
	Wide    bool     // as wide as the window, for tables
	Refresh int      // seconds until a browser without scripts reloads the page; never if 0
	// key prefixes of the messages that scripts need
	Words []string
	// TrustedTypes is the name of the only Trusted Types policy that the page's scripts may create, or ""
	TrustedTypes string
	Frames       bool // the page has frames that show pages from this server
	Data         any
}

// View is the data passed to a template: the page, and what depends on the reader.
type View struct {
	*Page
	Lang  string // the page's language code
	Dir   string // ltr or rtl
	Theme string // light, dark, or "" for the browser's setting
	Path  string // path of the request, with its query

	site *Site
}

// T returns a message in the page's language. args alternate between names and values: {{$.T "ask.rows" "count"
// .Rows}}.
func (v *View) T(key string, args ...any) string { return v.site.words.text(v.Lang, key, args) }

// Asset returns the URL of a static file.
func (v *View) Asset(file string) string { return v.site.Address(file) }

// Number formats n with the language's separators.
func (v *View) Number(n int) string { return v.site.words.texts(v.Lang).Number(n) }

// Date formats a date in the usual way for the language.
func (v *View) Date(at time.Time) string { return v.site.words.texts(v.Lang).Date(at) }

// Languages returns the languages that the reader can choose.
func (v *View) Languages() []Language { return Languages }

// With returns the URL of this page with one parameter changed, for links that change the language or the theme.
func (v *View) With(name, value string) string { return with(v.Path, name, value) }

// Link is a section in the header.
type Link struct {
	Name, Address string
	Here          bool
}

// Links returns the header's links.
func (v *View) Links() []Link {
	var out []Link
	for _, name := range sections {
		if address, ok := v.site.sections[name]; ok {
			out = append(out, Link{name, address, name == v.Section})
		}
	}
	return out
}

// Looks returns the available color themes.
func (v *View) Looks() []Link {
	var out []Link
	for _, name := range []string{"auto", "light", "dark"} {
		out = append(out, Link{Name: name, Here: name == v.Theme || name == "auto" && v.Theme == ""})
	}
	return out
}

// ScriptWords returns the messages that the page's scripts need.
func (v *View) ScriptWords() map[string]any { return v.site.words.some(v.Lang, v.Words) }

var functions = template.FuncMap{
	"stamp":   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
	"iso":     func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"clean":   text.Clean,
	"clip":    func(n int, s string) string { return text.Clip(text.OneLine(text.Clean(s)), n) },
	"percent": func(f float64) string { return fmt.Sprintf("%.0f%%", 100*f) },
	"usd":     func(f float64) string { return fmt.Sprintf("$%.4f", f) },
	"join":    strings.Join,
	"dict":    dict,
	"add":     func(a, b int) int { return a + b },
}

// dict combines several values for a template that takes only one. pairs alternates between names and values.
func dict(pairs ...any) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	return m
}

// Pages contains a section's templates.
type Pages struct {
	site  *Site
	pages map[string]*template.Template
}

// Pages parses the templates in files. It panics if a template is invalid, since templates are part of the program.
func (s *Site) Pages(files fs.FS) *Pages {
	frame := template.Must(template.New("").Funcs(functions).ParseFS(own, "page/*.html"))
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		panic(err)
	}
	var shared, pages []string
	for _, n := range names {
		if strings.HasPrefix(n, "_") {
			shared = append(shared, n)
		} else {
			pages = append(pages, n)
		}
	}
	if len(shared) > 0 {
		template.Must(frame.ParseFS(files, shared...))
	}
	out := &Pages{site: s, pages: map[string]*template.Template{}}
	for _, n := range pages {
		t := template.Must(frame.Clone())
		out.pages[strings.TrimSuffix(n, path.Ext(n))] = template.Must(t.ParseFS(files, n))
	}
	return out
}

// Show responds with the page that the named template produces; the name does not include ".html".
func (p *Pages) Show(w http.ResponseWriter, r *http.Request, status int, name string, page Page) {
	t, ok := p.pages[name]
	if !ok {
		panic("layout: there is no page " + name)
	}
	p.site.show(w, r, status, t, &page)
}

// Say returns a message in the language of a request.
func (s *Site) Say(r *http.Request, key string, args ...any) string {
	return s.words.text(LanguageOf(r), key, args)
}

// Problem responds with a page that explains what is wrong; text must be in the reader's language.
func (s *Site) Problem(w http.ResponseWriter, r *http.Request, status int, text string) {
	t := template.Must(template.New("").Funcs(functions).ParseFS(own, "page/*.html"))
	s.show(w, r, status, t, &Page{Title: s.Say(r, "frame.problem"), Data: text})
}

func (s *Site) show(w http.ResponseWriter, r *http.Request, status int, t *template.Template, page *Page) {
	keepChoices(w, r)
	v := &View{Page: page, Lang: LanguageOf(r), Theme: themeOf(r), Path: r.URL.RequestURI(), site: s}
	v.Dir = DirectionOf(v.Lang)
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "frame", v); err != nil {
		s.Log.Error("a page cannot be shown", "path", r.URL.Path, "error", err)
		http.Error(w, "This page cannot be shown because of a bug in the program; its log has details.",
			http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	policy := guard.PolicyWith(page.TrustedTypes)
	if page.Frames {
		policy = "frame-src 'self'; " + policy
	}
	h.Set("Content-Security-Policy", policy)
	h.Add("Vary", "Accept-Language, Cookie")
	write(w, r, status, b.Bytes())
}

func sub(f fs.FS, dir string) fs.FS {
	out, err := fs.Sub(f, dir)
	if err != nil {
		panic(err)
	}
	return out
}
