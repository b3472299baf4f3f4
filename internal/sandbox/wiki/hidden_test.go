package wiki

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Hidden parts stay hidden after the wiki is reopened, and its pages do not show them.
func TestHide(t *testing.T) {
	cfg := Config{File: filepath.Join(t.TempDir(), "wiki"), Now: time.Now, Random: rand.Reader}
	open := func() *Wiki {
		t.Helper()
		w, err := Open(slog.New(slog.DiscardHandler), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	for _, text := range []string{"first words", "second words", "third words"} {
		if _, err := w.save(change{title: "Wikidata:Page", text: text, user: "Secretive", summary: "said " + text,
			create: true}); err != nil {
			t.Fatal(err)
		}
	}
	all := Hidden{User: true, Summary: true, Text: true, Suppressed: true}
	if err := w.Hide(3, all); !errors.Is(err, errCurrent) {
		t.Errorf("the newest text was hidden: %v", err)
	}
	if err := w.Hide(4, all); !errors.Is(err, errMissing) {
		t.Errorf("a revision that is not there: %v", err)
	}
	if err := w.Hide(1, Hidden{Summary: true}); err != nil {
		t.Fatal(err)
	}
	if err := w.Hide(2, all); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w = open()
	defer w.Close()
	revs := w.History("Wikidata:Page")
	if len(revs) != 3 || revs[0].Hidden != (Hidden{Summary: true}) || revs[1].Hidden != all ||
		revs[2].Hidden != (Hidden{}) {
		t.Fatalf("after reopening: %+v", revs)
	}
	if _, err := w.save(change{title: "Wikidata:Page", text: "fourth", user: "Bob", create: true}); err != nil ||
		w.Page("Wikidata:Page").ID != 4 {
		t.Errorf("saving after reopening: %v", err)
	}
	srv := httptest.NewServer(NewHandler(w))
	defer srv.Close()
	for path, secrets := range map[string][]string{
		"/wiki/Wikidata:Page?action=history": {"said first", "said second"},
		"/wiki/Wikidata:Page?oldid=2":        {"second words"},
	} {
		resp, err := srv.Client().Get(srv.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		_ = resp.Write(&b)
		resp.Body.Close()
		for _, s := range secrets {
			if strings.Contains(b.String(), s) {
				t.Errorf("%s shows %q", path, s)
			}
		}
		if strings.Contains(path, "history") && strings.Count(b.String(), "Secretive") != 4 { // two revisions, one link each
			t.Errorf("%s: the author is shown %d times", path, strings.Count(b.String(), "Secretive"))
		}
	}
}
