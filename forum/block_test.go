package forum_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/forum"
)

const (
	annAt = "[[User:Ann|Ann]] ([[User talk:Ann|talk]]) 10:00, 1 March 2026 (UTC)"
	bobAt = "[[User:Bob|Bob]] ([[User talk:Bob|talk]]) 10:05, 1 March 2026 (UTC)"
)

func TestBlocks(t *testing.T) {
	tests := []struct {
		name, text string
		want       [][]string // the text of the comments in each block, innermost block first
	}{
		{"one", "{{spinachbot top}}\nHow many? " + annAt + "\n{{spinachbot bottom}}\nAfter. " + bobAt,
			[][]string{{"How many?"}}},
		{"on one line, other spelling", "{{SpinachBot_top}} How many? " + annAt + " {{Template:SpinachBot bottom}}",
			[][]string{{"How many?"}}},
		{"two", "{{spinachbot top}}\nOne? " + annAt + "\n{{spinachbot bottom}}\nBetween. " + bobAt +
			"\n{{spinachbot top}}\nTwo? " + annAt + "\n{{spinachbot bottom}}", [][]string{{"One?"}, {"Two?"}}},
		{"nested", "{{spinachbot top}}\nOuter? " + annAt + "\n{{spinachbot top}}\nInner? " + bobAt +
			"\n{{spinachbot bottom}}\n{{spinachbot bottom}}", [][]string{{"Inner?"}, {"Outer?"}}},
		{"one marker too many shifts nothing", "{{spinachbot bottom}}\nBefore. " + bobAt +
			"\n{{spinachbot top}}\nOne? " + annAt + "\n{{spinachbot bottom}}", [][]string{{"One?"}}},
		{"never closed", "{{spinachbot top}}\nOne? " + annAt + "\nTwo. " + bobAt, nil},
		{"shown, not used", "<nowiki>{{spinachbot top}}</nowiki>\nOne? " + annAt + "\n<!-- {{spinachbot bottom}} -->", nil},
		{"unsigned", "{{spinachbot top}}\nHow many?\n{{spinachbot bottom}}\nAfter. " + bobAt, [][]string{{"How many?"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "== H ==\n" + tt.text + "\n== Next ==\nThe end {{spinachbot bottom}} " + bobAt + "\n"
			p := forum.Parse("Talk:X", text, forum.Options{})
			var got [][]string
			for _, b := range forum.Blocks(text, &p.Threads[0]) {
				var in []string
				for _, i := range b.Comments {
					in = append(in, p.Threads[0].Comments[i].Text)
				}
				got = append(got, in)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestPlaceInBlock(t *testing.T) {
	tests := []struct{ name, before, after string }{
		{"before the marker", "{{spinachbot top}}\nQ? " + annAt, "\n{{spinachbot bottom}}\n:Later. " + bobAt},
		{"behind what was said in it", "{{spinachbot top}}\nQ? " + annAt + "\n:Add this. " + bobAt,
			"\n{{spinachbot bottom}}\n"},
		{"markers on the line", "{{spinachbot top}} Q? " + annAt + " \n", "{{spinachbot bottom}}\n:Later. " + bobAt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "== H ==\n" + strings.TrimSuffix(tt.before, "\n") + tt.after + "\n"
			p := forum.Parse("Talk:X", text, forum.Options{})
			th := &p.Threads[0]
			got, err := forum.PlaceInBlock(text, th, th.Comments[0].ID, ":Reply")
			want := "== H ==\n" + strings.TrimSuffix(tt.before, "\n") + "\n:Reply" + tt.after + "\n"
			if strings.HasSuffix(tt.before, "\n") {
				want = "== H ==\n" + tt.before + ":Reply\n" + tt.after + "\n"
			}
			if err != nil || got != want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
	text := "== H ==\nQ? " + annAt + "\n"
	p := forum.Parse("Talk:X", text, forum.Options{})
	if _, err := forum.PlaceInBlock(text, &p.Threads[0], p.Threads[0].Comments[0].ID, ":R"); !errors.Is(err,
		forum.ErrNoComment) {
		t.Errorf("without a block: %v", err)
	}
}
