package bot_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
)

// topics records its requests and returns the given answers in order.
type topics struct {
	asked []string
	ids   []string
}

func (p *topics) Follow(_ context.Context, title, heading, name, parent string) (string, error) {
	p.asked = append(p.asked, strings.Join([]string{title, heading, name, parent}, " "))
	id := p.ids[0]
	p.ids = p.ids[1:]
	if id == "" {
		return "", errors.New("the wiki is busy")
	}
	return id, nil
}

func TestFollowsItsTopics(t *testing.T) {
	w, inbox := called(t, "")
	p := &topics{ids: []string{"", "c-SpinachBot-20261120120100-Ann-20261120120100"}}
	w.cfg.Topics = p
	inbox.call(chat, "Cats", ping, "Ann")
	w.round()
	w.round() // reads the page, which now has the reply
	if got := w.entries()[0].Anchor; got != "" {
		t.Errorf("after a failure the link is %q", got)
	}
	w.under("", "Something else.", "Bob")
	w.round()
	w.under("", "More.", "Bob")
	w.round()
	if got, want := w.entries()[0].Anchor, chat+"#c-SpinachBot-20261120120100-Ann-20261120120100"; got != want {
		t.Errorf("the link is %q, want %q", got, want)
	}
	want := chat + " Cats c-SpinachBot-20261120120100 c-Ann-20261120120100"
	if !slices.Equal(p.asked, []string{want, want}) {
		t.Errorf("asked for %q, want %q twice", p.asked, want)
	}
}
