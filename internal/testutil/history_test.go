package testutil

import (
	"slices"
	"strings"
	"testing"
)

// A correct history passes the check, and each planted fault is found.
func TestCheckHistory(t *testing.T) {
	const stamp = "12:05, 20 November 2026 (UTC)"
	bot := func(n string) string { return "\n:Reply " + n + ". [[User:Bot|Bot]] ([[User talk:Bot|talk]]) " + stamp }
	ask := func(h string) string { return "\n\n== " + h + " ==\nWhich? [[User:Alice|Alice]] " + stamp }
	start := "Intro" + ask("Cats")
	one := start + bot("1")
	two := one + ask("Dogs")
	three := two + bot("2")
	good := []Revision{{"Alice", start}, {"Bot", one}, {"Bob", two}, {"Bot", three}}
	want := map[string]int{"Cats": 1, "Dogs": 1}
	for name, c := range map[string]struct {
		history []Revision
		finds   string
	}{
		"good":    {good, ""},
		"missing": {good[:3], `0 replies were posted under "Dogs", want 1`},
		"double":  {append(slices.Clone(good), Revision{"Bot", three + bot("2")}), `2 replies were posted under "Dogs", want 1`},
		"double, removed at once": {append(slices.Clone(good), Revision{"Bot", three + bot("2")}, Revision{"Alice", three}),
			`2 replies were posted under "Dogs", want 1`},
		"two at once": {[]Revision{{"Alice", start}, {"Bob", start + ask("Dogs")}, {"Bot", start + ask("Dogs") + bot("1") + bot("2")}},
			"revision 3 adds 2 replies"},
		"someone's words changed": {[]Revision{{"Alice", start}, {"Bot", strings.Replace(one, "Which", "What", 1)}},
			"revision 2 changes more than it adds"},
		"elsewhere": {append(slices.Clone(good), Revision{"Carol", three + ask("News")},
			Revision{"Bot", three + ask("News") + bot("3")}), `revision 6 adds a reply under "News", where no one asked`},
	} {
		got := CheckHistory("Bot", want, c.history)
		if c.finds == "" && got != nil || c.finds != "" && !slices.Contains(got, c.finds) {
			t.Errorf("%s: %q, want %q", name, got, c.finds)
		}
	}
}
