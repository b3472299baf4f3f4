package ask

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// gallery is a source of pictures that records which pictures were requested.
type gallery struct {
	mu    sync.Mutex
	asked []string
}

func (g *gallery) Get(_ context.Context, file string) (string, []byte, error) {
	g.mu.Lock()
	g.asked = append(g.asked, file)
	g.mu.Unlock()
	switch {
	case strings.HasPrefix(file, "Gone"):
		return "", nil, fmt.Errorf("none: %w", fs.ErrNotExist)
	case strings.HasPrefix(file, "Later"):
		return "", nil, errors.New("busy")
	case strings.HasPrefix(file, "Drawing"): // a fetcher must not return an SVG
		return "image/svg+xml", []byte("<svg><script>alert(1)</script></svg>"), nil
	}
	return "image/png", []byte("\x89PNG of " + file), nil
}

// pictured is a site with an answer that contains file names.
func pictured(t *testing.T, g Pictures) (*site, string) {
	t.Helper()
	file := func(name string) rdf.Term { return rdf.IRI(commonsFile + url.PathEscape(name)) }
	table := &kg.Table{Vars: []string{"item", "flag", "größe"}, Rows: [][]rdf.Term{
		{rdf.IRI(rdf.Entity + "Q34"), file("Flag of Sweden.svg"), file("B\u00fccher_100%.jpg")},
		{rdf.IRI(rdf.Entity + "Q35"), file("Gone.png"), rdf.IRI("http://169.254.169.254/latest")},
		{rdf.IRI(rdf.Entity + "Q33"), file("Later.png"), rdf.String(commonsFile + "x.png")},
		{rdf.IRI(rdf.Entity + "Q20"), file("Drawing.svg"), rdf.Term{}},
		{rdf.IRI(rdf.Entity + "Q21"), file(`../../x"><script>alert(1)</script>.png`), rdf.IRI("https://commons.wikimedia.org.evil.example/wiki/Special:FilePath/x.png")},
		{rdf.IRI(rdf.Entity + "Q22")},
	}}
	s := newSite(t, func(ctx context.Context, q agent.Question, rec agent.Recorder) (*agent.Outcome, error) {
		for _, e := range []event.Event{{Event: "start", Format: event.Format, Question: &q, Preset: "spinach"},
			{Event: "final", SPARQL: "SELECT ?item ?flag WHERE { ?item wdt:P41 ?flag }", Table: table, KG: "wikidata"}, {Event: "end"}} {
			if err := rec.Record(ctx, e); err != nil {
				return nil, err
			}
		}
		return &agent.Outcome{}, nil
	}, func(o *Options) { o.Pictures = g })
	id := s.ask("Which flags?")
	s.wait(id)
	return s, id
}

// A picture is requested by the position of its cell, and sent with headers that allow nothing but displaying it. Only
// files named in the stored result are fetched.
func TestPictures(t *testing.T) {
	g := &gallery{}
	s, id := pictured(t, g)
	if _, body := s.get("/a/" + id + "/rows?limit=1"); !strings.Contains(body, `"pictures":true`) {
		t.Error(body)
	}
	for path, want := range map[string]int{
		"1/flag":                        200,
		"1/" + url.PathEscape("größe"):  200,
		"2/flag":                        404, // does not exist
		"3/flag":                        503,
		"4/flag":                        404, // an SVG is never sent, even if the fetcher returns one
		"1/item":                        404, // not a file
		"2/" + url.PathEscape("größe"):  404, // a URL that does not identify a file
		"3/" + url.PathEscape("größe"):  404, // a plain string
		"5/" + url.PathEscape("größe"):  404, // a file on a different host
		"6/flag":                        404, // no value
		"7/flag":                        404, // no row
		"0/flag":                        404,
		"-1/flag":                       404,
		"1/nothing":                     404,
		"1/Flag%20of%20Norway.svg":      404, // a name that the result does not contain
		"1/..%2f..%2fetc%2fpasswd":      404,
		"99999999999999999999999/flag":  404,
		"1/flag?file=Flag_of_Norway.sv": 200, // the parameter is ignored
	} {
		resp, err := s.Client().Get(s.URL + "/a/" + id + "/picture/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != want {
			t.Errorf("%s: %s, want %d (%v)", path, resp.Status, want, err)
			continue
		}
		if want != http.StatusOK {
			if strings.Contains(string(body), "<script>alert") || strings.Contains(resp.Header.Get("Content-Type"), "svg") {
				t.Errorf("%s: %s", path, body)
			}
			continue
		}
		for name, value := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; sandbox", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "private, max-age=86400"} {
			if got := resp.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
		if !strings.HasPrefix(string(body), "\x89PNG of ") {
			t.Errorf("%s: %q", path, body)
		}
	}
	for _, asked := range g.asked {
		if !strings.HasPrefix(asked, "Flag of Sweden") && asked != "Bücher 100%.jpg" && asked != "Gone.png" && asked != "Later.png" && asked != "Drawing.svg" {
			t.Errorf("asked for %q", asked)
		}
	}
}

// Without a fetcher, no pictures are fetched, and the rows do not offer any.
func TestNoPictures(t *testing.T) {
	s, id := pictured(t, nil)
	if status, _ := s.get("/a/" + id + "/picture/1/flag"); status != http.StatusNotFound {
		t.Error(status)
	}
	if _, body := s.get("/a/" + id + "/rows"); strings.Contains(body, `"pictures"`) || !strings.Contains(body, "Flag of Sweden") {
		t.Error(body)
	}
}
