package mediawiki

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// A page has been moved if the move is in the wiki's log, with or without a redirect. A redirect created by hand is not
// a move.
func TestStatesOfMovedPages(t *testing.T) {
	info := map[string]string{
		"Talk:A":         `{"ns":1,"title":"Talk:A","lastrevid":1}`,
		"Talk:By hand":   `{"ns":1,"title":"Talk:By hand","lastrevid":2,"redirect":true}`,
		"Talk:Moved":     `{"ns":1,"title":"Talk:Moved","lastrevid":3,"redirect":true}`,
		"Talk:No trace":  `{"ns":1,"title":"Talk:No trace","missing":true}`,
		"Talk:Gone":      `{"ns":1,"title":"Talk:Gone","missing":true}`,
		"Project:Target": `{"ns":4,"title":"Project:Target","lastrevid":9}`,
	}
	moved := map[string]bool{"Talk:Moved": true, "Talk:No trace": true, "Talk:A": true}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("list") == "logevents" {
			events := ""
			if moved[r.FormValue("letitle")] {
				events = `{"params":{"target_ns":4,"target_title":"Project:Target"}}`
			}
			fmt.Fprintf(w, `{"query":{"logevents":[%s]}}`, events)
			return
		}
		if r.FormValue("titles") == "Project:Target" {
			fmt.Fprintf(w, `{"query":{"pages":[%s]}}`, info["Project:Target"])
			return
		}
		fmt.Fprintf(w, `{"query":{"pages":[%s,%s,%s,%s,%s]}}`, info["Talk:A"], info["Talk:By hand"], info["Talk:Moved"],
			info["Talk:No trace"], info["Talk:Gone"])
	}))
	defer srv.Close()
	c, err := New(slog.New(slog.DiscardHandler), Config{API: srv.URL + "/w/api.php", Anonymous: true,
		UserAgent: "Test/1 (test@example.org)"}, nil, politehttp.NewManualClock(start))
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.States(context.Background(), []string{"Talk:A", "Talk:By hand", "Talk:Moved", "Talk:No trace", "Talk:Gone"})
	if err != nil {
		t.Fatal(err)
	}
	want := []PageState{
		{Title: "Talk:A", Namespace: 1, RevID: 1},
		{Title: "Talk:By hand", Namespace: 1, RevID: 2, redirect: true},
		{Title: "Talk:Moved", Namespace: 4, RevID: 9, MovedTo: "Project:Target"},
		{Title: "Talk:No trace", Namespace: 4, RevID: 9, MovedTo: "Project:Target"},
		{Title: "Talk:Gone", Namespace: 1, Missing: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
