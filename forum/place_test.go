package forum

import (
	"errors"
	"strings"
	"testing"
)

// TestPlace answers the comment "T" on each page; "@" marks the reply's position and is followed by the reply's prefix.
func TestPlace(t *testing.T) {
	sign := func(s string) string { // "Name:" at the end of a line becomes a signature
		for _, n := range []string{"Ann", "Bob", "Cid", "Tim"} {
			s = strings.ReplaceAll(s, "~"+n, " [[User:"+n+"|"+n+"]] ([[User talk:"+n+
				"|talk]]) 10:00, 5 June 2024 (UTC)")
		}
		return s
	}
	for name, page := range map[string]string{
		"only comment":         "== H ==\nQuestion ~Tim\n@:",
		"blank line kept":      "== H ==\nQuestion ~Tim\n@:\n\n== I ==\nx ~Ann\n",
		"behind descendants":   "== H ==\nQ ~Ann\n:T ~Tim\n::a ~Ann\n:::b ~Bob\n@::\n:other ~Bob\n",
		"sibling stays behind": "== H ==\nT ~Tim\n:a ~Ann\n::b ~Bob\n@:\nNew top ~Cid\n",
		"bullets":              "== H ==\nQ ~Ann\n* T ~Tim\n@*:\n* other ~Bob\n",
		"neighbor's prefix":    "== H ==\nQ ~Ann\n* T ~Tim\n:: a ~Ann\n@::\n* other ~Bob\n",
		"numbered":             "== H ==\nQ ~Ann\n# T ~Tim\n@#:\n# other ~Bob\n",
		"deep":                 "== H ==\nQ ~Ann\n::::T ~Tim\n@:::::\n::x ~Bob\n",
		"outdent":              "== H ==\nQ ~Ann\n:T ~Tim\n::a ~Ann\n{{od|::}} goes on ~Bob\n:more ~Ann\n@:\n\n== I ==\n",
		"subsection":           "== H ==\nQ ~Ann\n=== S ===\nT ~Tim\n:a ~Bob\n@:\n=== R ===\nx ~Cid\n",
		"before a subsection":  "== H ==\nT ~Tim\n@:\n=== S ===\n:a ~Bob\n",
		"template in lines":    "== H ==\nT {{SPARQL|query=\nASK {}\n}} ~Tim\n:{{SPARQL|query=\nASK {}\n}}\n:yes ~Bob\n@:\nx ~Cid\n",
		"text behind":          "== H ==\nT ~Tim and more text\n@:\nb ~Bob\n",
		"two on a line":        "== H ==\nT ~Tim<br>U ~Bob\n@:\nx ~Cid\n",
		"folded descendants":   "== H ==\nT ~Tim\n{{cot}}\n:a ~Bob\n{{cob}}\n@:\nx ~Cid\n",
		"inside the fold":      "== H ==\n{{cot}}\nT ~Tim\n:a ~Bob\n@:\n{{cob}}\nx ~Cid\n",
		"after a closed part":  "== H ==\n{{archive top}}\nx ~Bob\n{{archive bottom}}\nT ~Tim\n@:\n",
		"table":                "== H ==\nT ~Tim\n:{| class=x\n| a\n|}\n:b ~Bob\n@:\nx ~Cid\n",
		"comment at the end":   "== H ==\nT ~Tim <!-- a\nb -->\n@:\nx ~Cid\n",
		"unsigned answer":      "== H ==\nT ~Tim\n:nobody signed this\n@:\n",
	} {
		t.Run(name, func(t *testing.T) {
			page = sign(page)
			k := strings.Index(page, "@")
			e := lineEnd(page, k)
			indent := page[k+1 : e]
			end := page[e:]
			before := page[:k-1] + end
			p := Parse("T", before, Options{})
			th := &p.Threads[0]
			target := ""
			for _, c := range th.Comments {
				if c.By("tim") {
					target = c.ID
				}
			}
			got, err := ReplyIndent(before, th, target)
			if err != nil {
				t.Fatal(err)
			}
			// the reply is one level below its target, except in the two cases in which the thread is outdented or has bullets
			if got != indent && name != "neighbor's prefix" && name != "sibling stays behind" {
				t.Errorf("indent %q, want %q", got, indent)
			}
			section, err := Place(before, th, target, got+"REPLY")
			if err != nil {
				t.Fatal(err)
			}
			want := page[:k] + got + "REPLY" + end
			if next := strings.Index(want, "\n== I"); next >= 0 {
				want = want[:next+1]
			}
			if section != want {
				t.Errorf("got\n%s\nwant\n%s", section, want)
			}
		})
	}
}

func TestPlaceRefuses(t *testing.T) {
	const s = " [[User:Tim]] 10:00, 5 June 2024 (UTC)\n"
	for name, c := range map[string]struct {
		page string
		want error
	}{
		"resolved":         {"== H ==\nT" + s + "{{Section resolved|1=~~~~}}\n", ErrClosed},
		"closed":           {"== H ==\n{{archive top}}\nT" + s + "{{archive bottom}}\n", ErrClosed},
		"closed for good":  {"== H ==\n{{hat|done}}\nT" + s, ErrClosed},
		"inside template":  {"== H ==\n{{hidden|content=\nT" + s + ":x" + s + "}}\n", ErrUnplaceable},
		"no own section":   {"{{x|\n== H ==\nT" + s + "}}\n", ErrUnplaceable},
		"after a comment":  {"<!-- x -->== H ==\nT" + s, ErrUnplaceable},
		"comment vanished": {"== H ==\nx [[User:Bob]] 10:00, 5 June 2024 (UTC)\n", ErrNoComment},
	} {
		p := Parse("T", c.page, Options{})
		if len(p.Threads) == 0 {
			t.Errorf("%s: no thread", name)
			continue
		}
		got, err := Place(c.page, &p.Threads[0], "c-Tim-20240605100000", ":x")
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %q, %v; want %v", name, got, err, c.want)
		}
	}
}

func TestPlaceUnderHeading(t *testing.T) {
	page := "== H ==\n\n== I ==\nx [[User:Bob]] 10:00, 5 June 2024 (UTC)\n== J ==\ny [[User:Bob]] 10:00, 6 June 2024 (UTC)"
	p := Parse("T", page, Options{})
	for i, want := range []string{"== H ==\n:x\n\n", "== I ==\nx [[User:Bob]] 10:00, 5 June 2024 (UTC)\n:x\n",
		"== J ==\ny [[User:Bob]] 10:00, 6 June 2024 (UTC)\n:x"} {
		if got, err := Place(page, &p.Threads[i], "", ":x"); err != nil || got != want {
			t.Errorf("thread %d: %q, %v; want %q", i, got, err, want)
		}
	}
}

func TestFindReply(t *testing.T) {
	page := "== H ==\nA <!-- spinachbot:k-1 --> [[User:Mallory]] 10:00, 5 June 2024 (UTC)\n:B<!-- spinachbot:k-1 --> [[User:SpinachBot]] 10:01, 5 June 2024 (UTC)\n"
	p := Parse("T", page, Options{})
	if _, c := FindReply(p, page, "k-1", "SpinachBot"); c == nil || !c.By("SpinachBot") {
		t.Errorf("found %+v", c)
	}
	if _, c := FindReply(p, page, "k-1", "Other"); c != nil {
		t.Errorf("someone else's %+v", c)
	}
	if _, c := FindReply(p, page, "k-2", ""); c != nil || FindMarker(page, "k-2") >= 0 || FindMarker(page, "") >= 0 {
		t.Errorf("found %+v for a marker that is not there", c)
	}
}

func TestDenied(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                false,
		"robots":                          false,
		"{{nobots}}":                      true,
		"{{Nobots}} x":                    true,
		"{{nobots|OtherBot}}":             false,
		"{{nobots|OtherBot, spinachBot}}": true,
		"{{bots|allow=none}}":             true,
		"{{bots|allow=all}}":              false,
		"{{bots|allow=SpinachBot}}":       false,
		"{{bots|allow=A,B}}":              true,
		"{{bots|deny=all}}":               true,
		"{{bots|deny=none}}":              false,
		"{{bots|deny=A,Spinach_Bot}}":     false,
		"{{bots|deny=A,SpinachBot}}":      true,
		"{{bots}}":                        false,
		"{{bots|optout=all}}":             false,
		"<nowiki>{{nobots}}</nowiki>":     false,
		"<!-- {{nobots}} -->":             false,
		"{{x|{{nobots}}}}":                true,
		"{{nobots":                        false,
	} {
		if got := Denied(text, "SpinachBot"); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
