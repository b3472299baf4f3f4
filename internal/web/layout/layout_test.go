package layout

import (
	"compress/gzip"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

// A section with one page. In a real section, the templates, messages and static files are embedded.
func Example() {
	site := New(slog.New(slog.DiscardHandler))
	site.Section("runs", "/runs")
	site.Static("runs", fstest.MapFS{"runs.js": {Data: []byte("export {};")}})
	words := `{"runs.title": "Runs", "runs.count": {"one": "one run", "other": "{count} runs"}}`
	site.Words(fstest.MapFS{"en.json": {Data: []byte(words)}, "de.json": {Data: []byte(words)}, "fr.json": {
		Data: []byte(`{"runs.title": "Runs", "runs.count": {"one": "{count}", "other": "{count}"}}`)}})
	pages := site.Pages(fstest.MapFS{
		"_line.html": {Data: []byte(`{{define "line"}}<li dir="auto">{{.}}</li>{{end}}`)},
		"list.html": {Data: []byte(`{{define "main"}}<h1>{{.Title}}</h1><p>{{.T "runs.count" "count" (len .Data)}}</p>
<ul>{{range .Data}}{{template "line" .}}{{end}}</ul>{{end}}`)},
	})
	handler := func(w http.ResponseWriter, r *http.Request) {
		pages.Show(w, r, http.StatusOK, "list", Page{Title: site.Say(r, "runs.title"), Section: "runs",
			Scripts: []string{"runs/runs.js"}, Words: []string{"runs."}, Data: []string{"<b>one</b>", "two"}})
	}
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest(http.MethodGet, "/runs", nil))
	_, rest, _ := strings.Cut(w.Body.String(), "<main")
	_, rest, _ = strings.Cut(rest, "\n")
	rest, _, _ = strings.Cut(rest, "\n</main>")
	fmt.Println(rest)
	// Output:
	// <h1>Runs</h1><p>2 runs</p>
	// <ul><li dir="auto">&lt;b&gt;one&lt;/b&gt;</li><li dir="auto">two</li></ul>
}

func get(t *testing.T, h http.HandlerFunc, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h(w, r)
	return w
}

func TestLanguage(t *testing.T) {
	for _, tt := range []struct{ path, accept, cookie, want string }{
		{"/", "", "", "en"},
		{"/", "de-AT,de;q=0.9,en;q=0.8", "", "de"},
		{"/", "ja, fr-CA;q=0.5", "", "fr"},
		{"/", "ja", "", "en"},
		{"/", ";;;=", "", "en"},
		{"/", strings.Repeat("de,", 5000), "", "en"},
		{"/", "de", "fr", "fr"},
		{"/?lang=en", "de", "fr", "en"},
		{"/?lang=xx", "de", "<script>", "de"},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.path, nil)
		r.Header.Set("Accept-Language", tt.accept)
		if tt.cookie != "" {
			r.AddCookie(&http.Cookie{Name: "lang", Value: tt.cookie})
		}
		if got := LanguageOf(r); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// Every URL that a page links to is served, may be cached for a long time, and is compressed if the client accepts
// that.
func TestStatic(t *testing.T) {
	s := New(slog.New(slog.DiscardHandler))
	page := get(t, func(w http.ResponseWriter, r *http.Request) { s.Problem(w, r, 404, "no <i>") }, "/x?lang=de")
	if page.Code != 404 || !strings.Contains(page.Body.String(), "no &lt;i&gt;") ||
		!strings.Contains(page.Header().Get("Set-Cookie"), "lang=de") {
		t.Errorf("%d %v\n%s", page.Code, page.Header(), page.Body)
	}
	found := regexp.MustCompile(`"(/static/[^"]+)"`).FindAllStringSubmatch(page.Body.String(), -1)
	if len(found) < 2 {
		t.Fatal(page.Body)
	}
	for _, f := range found {
		plain, zipped := get(t, s.ServeStatic, f[1]), get(t, s.ServeStatic, f[1], "Accept-Encoding", "br, gzip")
		if plain.Code != 200 || !strings.Contains(plain.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", f[1], plain.Code, plain.Header())
		}
		body := zipped.Body.Bytes()
		if zipped.Header().Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(zipped.Body)
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != plain.Body.String() {
			t.Errorf("%s: differs when compressed", f[1])
		}
	}
	for _, path := range []string{"/static/", "/static/000000000000/layout/style.css", "/static/" + s.static.hash + "/../layout.go",
		"/static/" + s.static.hash + "/layout/"} {
		if w := get(t, s.ServeStatic, path); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	before := s.Address("layout/style.css")
	s.Static("other", fstest.MapFS{"a.js": {Data: []byte("1")}})
	if after := s.Address("layout/style.css"); after == before || get(t, s.ServeStatic, after).Code != 200 {
		t.Error("the addresses did not change with the files")
	}
}

func TestCompression(t *testing.T) {
	long := strings.Repeat("words ", 1000)
	for _, tt := range []struct {
		accept, body string
		zipped       bool
	}{{"gzip", long, true}, {"deflate, gzip;q=0.5", long, true}, {"*", long, true}, {"gzip;q=0", long, false},
		{"", long, false}, {"br", long, false}, {"gzip", "short", false}} {
		w := get(t, func(w http.ResponseWriter, r *http.Request) { Send(w, r, 200, "text/plain", []byte(tt.body)) }, "/",
			"Accept-Encoding", tt.accept)
		if zipped := w.Header().Get("Content-Encoding") == "gzip"; zipped != tt.zipped {
			t.Errorf("%+v: %v", tt, zipped)
		}
	}
}

// The links that change the language and the theme stay on this server and keep the other parameters.
func TestWith(t *testing.T) {
	for _, tt := range [][2]string{
		{"/ask?q=a%26b&lang=fr", "?lang=de&q=a%26b"}, {"//evil.example/x", "?lang=de"}, {"https://evil.example/", "?lang=de"},
		{"javascript:alert(1)", "?lang=de"}, {"/%zz", "?lang=de"}, {"/", "?lang=de"},
	} {
		if got := with(tt[0], "lang", "de"); got != tt[1] {
			t.Errorf("%s: %s, want %s", tt[0], got, tt[1])
		}
	}
}

// Text from readers, models and wikis remains plain text in a page, including in the messages for its scripts.
func TestNothingBecomesMarkup(t *testing.T) {
	evil := `</script><script>alert(1)</script>"'><img src=x onerror=alert(1)>`
	s := New(slog.New(slog.DiscardHandler))
	words := fmt.Sprintf(`{"x.a": %q, "x.b": "{name}"}`, evil)
	s.Words(fstest.MapFS{"en.json": {Data: []byte(words)}, "de.json": {Data: []byte(words)}, "fr.json": {Data: []byte(words)}})
	pages := s.Pages(fstest.MapFS{"p.html": {Data: []byte(
		`{{define "main"}}<a href="{{.Data}}" title="{{.Data}}">{{.T "x.b" "name" .Data}}</a>{{end}}`)}})
	w := get(t, func(w http.ResponseWriter, r *http.Request) {
		pages.Show(w, r, 200, "p", Page{Title: evil, Words: []string{"x."}, Data: "javascript:alert(1)" + evil})
	}, "/?theme=dark&x="+strings.ReplaceAll(evil, " ", "+"))
	body := w.Body.String()
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") ||
		strings.Contains(body, `href="javascript:`) || !strings.Contains(body, `data-theme="dark"`) {
		t.Error(body)
	}
	if csp := w.Header().Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || !strings.HasSuffix(csp, "trusted-types 'none'") {
		t.Error(csp)
	}
}
