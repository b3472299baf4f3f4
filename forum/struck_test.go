package forum_test

import (
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

func TestStruckOut(t *testing.T) {
	for text, want := range map[string]bool{
		":<s>@Ann: It is the cat.<!-- spinachbot:sb-1 -->\n:Query</s> --~~~~": true,
		"::<del class=\"x\">@Ann: It is.</del>":                               true,
		"* {{Strike|1=@Ann: It is.}}":                                         true,
		":@Ann: It is the <s>dog</s> cat.":                                    false,
		":<small>@Ann</small>":                                                false,
		":{{Small|@Ann}}":                                                     false,
		"":                                                                    false,
	} {
		if got := forum.StruckOut(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
