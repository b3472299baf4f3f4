//go:build integration

package integration

import (
	"testing"
)

// The view that a query's line asks for is the first one that is seen, as in the query service; pictures are links, and
// nothing is loaded from their site.
func TestDefaultViewsInTheBrowser(t *testing.T) {
	a := newAskSite(t)
	p := newTab(t, 1280, 900)
	for _, v := range []struct{ question, view, there string }{
		{"What do the flags of the Nordic countries look like?", "images", `.imagegrid a[href='https://commons.wikimedia.org/wiki/File:Flag%20of%20Sweden.svg']`},
		{"When did each president of the United States begin?", "timeline", `.timeline li`},
	} {
		a.ask(p, v.question)
		p.until(answered)
		p.until(`document.querySelector("#other-view[data-shown=` + v.view + `] ` + v.there + `")`)
		if hidden := eval[bool](p, `document.querySelector("#table-view").hidden`); !hidden {
			t.Errorf("%s: the table is shown, too", v.view)
		}
		p.until(`document.querySelector("#result").scrollIntoView() ?? true`)
		a.view(p, "ask-default-"+v.view)
		if from := eval[[]string](p, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin))`); len(from) > 0 {
			t.Errorf("%s: loaded from elsewhere: %q", v.view, from)
		}
	}
}

// A question and its answer in a language that is written from right to left read so, on a page that does not.
func TestArabicInTheBrowser(t *testing.T) {
	a := newAskSite(t)
	for _, width := range []int64{1280, 390} {
		p := newTab(t, width, 800)
		p.open(a.base + "/")
		p.until(`document.querySelector("[name=q]")`)
		eval[bool](p, `(() => { document.querySelector("[name=q]").value = "ما هي أعلى الجبال في العالم؟"; document.querySelector("form button.primary").click(); return true; })()`)
		p.until(answered)
		for _, part := range []string{".question", ".report", "#steps .step h3 span[dir]"} {
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
