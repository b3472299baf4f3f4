//go:build integration

package integration

import (
	"strings"
	"testing"
)

// As in the query service, the view that a comment in the query requests is shown first. Nothing is loaded from other
// sites.
func TestDefaultViewsInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	for _, v := range []struct{ question, view, there string }{
		{"What do the flags of the Nordic countries look like?", "images", `.imagegrid a[href='https://commons.wikimedia.org/wiki/File:Flag%20of%20Sweden.svg']`},
		{"Show the populations of Europe's larger countries as boxes", "chart", `svg rect.tile`},
		{"Show the populations of Europe's larger countries as bubbles", "chart", `svg circle.tile`},
		{"How do area and population of Europe's countries compare?", "chart", `svg circle.dot`},
		{"How many people has each capital of Europe's countries?", "dimensions", `svg polyline.strand`},
		{"Which countries of Europe border which, as a tree?", "tree", `.branches li li`},
		{"Where are the mountains, in colors by continent?", "map", `.legend input`},
		{"When did each president of the United States begin?", "timeline", `.timeline li`},
	} {
		a.ask(p, v.question)
		p.until(answered)
		p.until(`document.querySelector("#other-view[data-shown=` + v.view + `] ` + v.there + `")`)
		if hidden := eval[bool](p, `document.querySelector("#table-view").hidden`); !hidden {
			t.Errorf("%s: the table is shown, too", v.view)
		}
		p.until(`document.querySelector("#result").scrollIntoView() ?? true`)
		name := "ask-default-" + v.view
		if v.view == "chart" {
			name += "-" + eval[string](p, `document.querySelector(".chart-kind select").value`)
		}
		a.view(p, name)
		if from := eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin))`); len(from) > 0 {
			t.Errorf("%s: loaded from elsewhere: %q", v.view, from)
		}
		if v.view == "images" || v.view == "map" || v.view == "dimensions" {
			a.inTheEditor(p, v.view, v.there)
		}
	}
}

// inTheEditor runs the displayed answer's query in the editor, where the comment that requests a view must have the
// same effect.
func (a *askSite) inTheEditor(p *tab, view, there string) {
	p.until(`document.querySelector("a[href^='/editor?from=']").click() ?? true`)
	p.until(`document.querySelector("#source")?.value.includes("#defaultView")`)
	p.until(complaints)
	p.until(`document.querySelector("#run").click() ?? true`)
	p.until(`document.querySelector("#editor") && document.querySelector("#other-view[data-shown=` + view + `] ` + there + `")`)
	if view == "images" {
		p.until(`[...document.querySelectorAll(".frame img")].filter(i => i.complete && i.naturalWidth === 330).length === 4`)
	}
	p.until(`document.querySelector("#result").scrollIntoView() ?? true`)
	a.view(p, "editor-"+view)
	p.until(`document.querySelector("#tab-table").click() ?? true`)
	p.until(`document.querySelector("#rows thead a").click() ?? true`)
	p.until(`location.pathname.startsWith("/editor/ran/") && document.querySelector("#source").value.includes("#defaultView")`)
}

// A question and its answer in a right-to-left language are shown in that direction, on a left-to-right page.
func TestArabicInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	for _, width := range []int64{1280, 390} {
		p := newTab(t, width, 800)
		p.open(a.base + "/")
		p.until(`document.querySelector("[name=q]")`)
		eval[bool](p, `(() => { document.querySelector("[name=q]").value = "ما هي أعلى الجبال في العالم؟"; document.querySelector("form button.primary").click(); return true; })()`)
		p.until(answered)
		for _, part := range []string{".question", ".answer", ".report", "#steps .step h3 span[dir]"} {
			if dir := eval[string](p, `getComputedStyle(document.querySelector("`+part+`")).direction`); dir != "rtl" {
				t.Errorf("%s reads %s", part, dir)
			}
		}
		if dir := eval[string](p, `getComputedStyle(document.querySelector("#query")).direction`); dir != "ltr" {
			t.Errorf("the query reads %s", dir)
		}
		p.scheme("dark")
		name := "ask-arabic"
		if width < 1000 {
			name += "-390"
		}
		a.view(p, name)
		p.scheme("dark")
		p.shot(a.shots + "/" + name + "-dark.png")
	}
}

// Text that strangers put in a graph remains plain text in every view: it never runs code, links elsewhere or loads
// anything.
func TestHostileAnswerInTheBrowser(t *testing.T) {
	t.Parallel()
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	a.ask(p, "What would a stranger write into the graph?")
	p.until(answered)
	id := eval[string](p, `document.querySelector("#asked").dataset.id`)
	if views := eval[string](p, `document.querySelector("#views").dataset.views`); views != "table map timeline images chart graph tree dimensions" {
		t.Errorf("the views are %s", views)
	}
	for _, step := range []string{"map", "timeline", "images", "chart:bar", "chart:line", "chart:area", "chart:scatter", "chart:bubble", "chart:treemap",
		"graph", "tree", "dimensions", "row/1", "missing?item=%3Cscript%3Etop.hacked%3D1%3C%2Fscript%3E"} {
		view, kind, _ := strings.Cut(step, ":")
		if strings.ContainsAny(view, "/?") {
			p.open(a.base + "/a/" + id + "/" + view)
		} else {
			p.open(a.base + "/a/" + id)
			p.until(answered)
			eval[bool](p, complaints)
			p.until(`document.querySelector("#tab-` + view + `").click() ?? true`)
			p.until(`document.querySelector("#other-view[data-shown=` + view + `]")`)
		}
		if kind != "" {
			p.until(`(() => { const s = document.querySelector(".chart-kind select"); s.value = ` + quote(kind) + `; s.dispatchEvent(new Event("change")); return document.querySelector(".chart svg"); })()`)
		}
		switch view {
		case "map": // open a mark's description
			p.until(`document.querySelector(".leaflet-container canvas")`)
			p.until(`(() => { const c = document.querySelector(".leaflet-container canvas").getBoundingClientRect(); for (let y = 8; y < c.height; y += 4) for (let x = 8; x < c.width; x += 4) { if (document.querySelector(".leaflet-popup")) return true; for (const kind of ["mousemove", "mousedown", "mouseup", "click"]) document.querySelector(".leaflet-container canvas").dispatchEvent(new MouseEvent(kind, {bubbles: true, clientX: c.left + x, clientY: c.top + y})); } return document.querySelector(".leaflet-popup"); })()`)
		case "images":
			p.until(`document.querySelectorAll(".frame.without").length === 2 && [...document.querySelectorAll(".frame img")].some(i => i.naturalWidth === 330)`)
		}
		if eval[bool](p, `"hacked" in window`) {
			t.Fatalf("%s: a script of a stranger ran", step)
		}
		if bad := eval[[]string](p, `[...document.querySelectorAll("main a, main area, main svg a")].map(e => e.getAttribute("href") ?? "").filter(h => !/^(https?:\/\/|\/|#|\?)/.test(h))`); len(bad) > 0 {
			t.Errorf("%s: links lead to %q", step, bad)
		}
		if n := eval[int](p, `document.querySelectorAll("main script, main img:not(.frame img), main iframe, main [onerror], main [onload], main object").length`); n > 0 {
			t.Errorf("%s: %d elements that the page does not have", step, n)
		}
		if found := eval[[]string](p, "window.problems ?? []"); len(found) > 0 {
			t.Errorf("%s: the browser complains: %q", step, found)
		}
		if from := eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin))`); len(from) > 0 {
			t.Errorf("%s: loaded from elsewhere: %q", step, from)
		}
	}
	// Even if a picture contained active content, opening it as a page would not run it.
	for _, row := range []string{"1", "2"} {
		p.open(a.base + "/a/" + id + "/picture/" + row + "/file")
		if text := eval[string](p, `document.body.innerText`); !strings.Contains(text, "cannot be shown") {
			t.Errorf("picture %s: %q", row, text)
		}
	}
	for _, file := range a.commons.files() {
		if strings.Contains(file, "<") {
			t.Errorf("asked for %q", file)
		}
	}
}
