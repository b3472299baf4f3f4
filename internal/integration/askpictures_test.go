//go:build integration

package integration

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// commons imitates Wikimedia Commons: each file's address returns a small bitmap.
type commons struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // names of the requested files
}

// crosses lists flags with a cross, such as the Nordic flags. Each is defined by the colors of the field, the cross,
// and the inner cross, if any.
var crosses = map[string][3]color.RGBA{
	"Flag of Sweden.svg":  {{0, 106, 167, 255}, {254, 204, 2, 255}},
	"Flag of Finland.svg": {{255, 255, 255, 255}, {0, 47, 108, 255}},
	"Flag of Denmark.svg": {{200, 16, 46, 255}, {255, 255, 255, 255}},
	"Flag of Norway.svg":  {{186, 12, 47, 255}, {255, 255, 255, 255}, {0, 32, 91, 255}},
}

func newCommons(t *testing.T) *commons {
	t.Helper()
	c := &commons{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /wiki/Special:FilePath/{name}", func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		c.mu.Lock()
		c.asked = append(c.asked, name)
		c.mu.Unlock()
		if strings.HasPrefix(name, "Active") { // something that a stranger may have uploaded or a broken server may send
			w.Header().Set("Content-Type", "image/png")
			_, _ = w.Write([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="parent.hacked=1"><script>parent.hacked=1</script></svg>`))
			return
		}
		http.Redirect(w, r, "/thumb/"+strings.ReplaceAll(strings.TrimSpace(name), " ", "_"), http.StatusFound)
	})
	mux.HandleFunc("GET /thumb/{name}", func(w http.ResponseWriter, r *http.Request) {
		cross, ok := crosses[strings.ReplaceAll(r.PathValue("name"), "_", " ")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		m := image.NewRGBA(image.Rect(0, 0, 330, 220))
		paint := func(c color.RGBA, thick int) {
			draw.Draw(m, image.Rect(110-thick, 0, 110+thick, 220), image.NewUniform(c), image.Point{}, draw.Src)
			draw.Draw(m, image.Rect(0, 110-thick, 330, 110+thick), image.NewUniform(c), image.Point{}, draw.Src)
		}
		draw.Draw(m, m.Bounds(), image.NewUniform(cross[0]), image.Point{}, draw.Src)
		if paint(cross[1], 24); cross[2].A > 0 {
			paint(cross[2], 12)
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, m)
	})
	c.Server = httptest.NewServer(mux)
	t.Cleanup(c.Close)
	return c
}

func (c *commons) files() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

// The image grid loads its pictures only from this server. Each file in the result is requested from the picture
// service once, and only if the grid is opened.
func TestPicturesInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	a.ask(p, "How many people live in the larger countries of Europe?")
	p.until(answered)
	if asked := a.commons.files(); len(asked) > 0 {
		t.Errorf("without a grid, asked for %q", asked)
	}
	a.ask(p, "What do the flags of the Nordic countries look like?")
	p.until(answered)
	p.until(complaints)
	p.until(`document.querySelectorAll("#other-view[data-shown=images] .frame img").length === 4`)
	p.until(`[...document.querySelectorAll(".frame img")].every(i => i.complete && i.naturalWidth === 330)`)
	if alt := eval[[]string](p, `[...document.querySelectorAll(".frame img")].map(i => i.alt)`); strings.Join(alt, ", ") != "Flag of Denmark, Flag of Sweden, Flag of Finland, Flag of Norway" {
		t.Errorf("the pictures have the names %q", alt)
	}
	p.until(`document.querySelector("#result").scrollIntoView() ?? true`)
	a.view(p, "ask-images")
	if from := eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin))`); len(from) > 0 {
		t.Errorf("loaded from elsewhere: %q", from)
	}
	if found := eval[[]string](p, "window.problems"); len(found) > 0 {
		t.Errorf("the browser complains: %q", found)
	}
	eval[bool](p, `(location.reload(), true)`)
	p.until(`[...document.querySelectorAll(".frame img")].filter(i => i.complete && i.naturalWidth === 330).length === 4`)
	if asked := a.commons.files(); len(asked) != 4 {
		t.Errorf("asked for %q", asked)
	}
	p.scheme("dark")
	p.shot(a.shots + "/ask-images-dark.png")
	small := newTab(t, 390, 800)
	small.open(eval[string](p, "location.href"))
	small.until(`[...document.querySelectorAll(".frame img")].some(i => i.complete && i.naturalWidth === 330)`)
	small.until(`document.querySelector("#result").scrollIntoView() ?? true`)
	a.view(small, "ask-images-390")
}
