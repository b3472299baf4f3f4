//go:build integration

package wiki_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mwclient "cgt.name/pkg/go-mwclient"
	"cgt.name/pkg/go-mwclient/params"

	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// TestRealWikiConforms runs the suite on the MediaWiki that tools/realwiki/start.sh created. Its settings come from the
// environment.
func TestRealWikiConforms(t *testing.T) {
	get := func(key string) string {
		v := os.Getenv(key)
		if v == "" {
			t.Fatalf(`%s is not set: run eval "$(tools/realwiki/start.sh)" with set -a first`, key)
		}
		return v
	}
	account := func(key string) login {
		user := get(key + "_USER")
		name, _, _ := strings.Cut(user, "@")
		return login{name, user, get(key + "_PASSWORD")}
	}
	conform(t, &site{api: get("WIKI_API"), run: fmt.Sprint(time.Now().Unix()), bot: account("WIKI"),
		alice: account("REALWIKI_ALICE"), bob: account("REALWIKI_BOB"),
		admin: account("REALWIKI_ADMIN")})
}

// TestRealWikiRefuses checks rejections that only a wiki with administrators can cause.
func TestRealWikiRefuses(t *testing.T) {
	get := func(key string) string {
		v := os.Getenv(key)
		if v == "" {
			t.Fatalf(`%s is not set: run eval "$(tools/realwiki/start.sh)" with set -a first`, key)
		}
		return v
	}
	s := &site{api: get("WIKI_API"), run: fmt.Sprint(time.Now().Unix()),
		alice: login{"Alice", get("REALWIKI_ALICE_USER"), get("REALWIKI_ALICE_PASSWORD")}, bob: login{"Bob",
			get("REALWIKI_BOB_USER"), get("REALWIKI_BOB_PASSWORD")}}
	admin, err := mwclient.New(s.api, "SpinachBotTest/1 (conformance suite)")
	if err != nil {
		t.Fatal(err)
	}
	if err := admin.Login(get("REALWIKI_ADMIN_USER"), get("REALWIKI_ADMIN_PASSWORD")); err != nil {
		t.Fatal(err)
	}
	do := func(p params.Values) {
		t.Helper()
		token, err := admin.GetToken(mwclient.CSRFToken)
		if err != nil {
			t.Fatal(err)
		}
		p["token"] = token
		if _, err := admin.Post(p); err != nil {
			t.Fatalf("%v: %v", p["action"], err)
		}
	}
	page := s.page(t, "refusals", "start")
	bob := s.client(t, s.bob)
	save := func(text string) error {
		_, err := bob.Save(context.Background(), mediawiki.Edit{Title: page.Title, Text: text, BaseRev: page.RevID})
		return err
	}

	wantKind(t, save("refused-by-spam-regex"), mediawiki.Refused, "spamprotectionmatch")

	do(params.Values{"action": "edit", "title": "MediaWiki:Spam-blacklist", "text": "evil-domain\\.example"})
	wantKind(t, save("see https://evil-domain.example/x"), mediawiki.Refused, "spamblacklist")

	readonly := filepath.Join(get("REALWIKI_DIR"), "readonly")
	if err := os.WriteFile(readonly, []byte("being moved"), 0o644); err != nil {
		t.Fatal(err)
	}
	err = save("while read-only")
	if err := os.Remove(readonly); err != nil {
		t.Fatal(err)
	}
	wantKind(t, err, mediawiki.Transient, "readonly")
	if !strings.Contains(err.Error(), "being moved") {
		t.Errorf("the reason is missing: %v", err)
	}

	do(params.Values{"action": "protect", "title": page.Title, "protections": "edit=sysop", "expiry": "infinite"})
	wantKind(t, save("on a protected page"), mediawiki.Blocked, "protectedpage")
	do(params.Values{"action": "protect", "title": page.Title, "protections": "", "expiry": "infinite"})

	do(params.Values{"action": "block", "user": "Bob", "reason": "a test", "expiry": "never"})
	wantKind(t, save("while blocked"), mediawiki.Blocked, "blocked")
	self, err := bob.Self(context.Background())
	do(params.Values{"action": "unblock", "user": "Bob"})
	if err != nil || !strings.Contains(self.Blocked, "Admin") || !strings.Contains(self.Blocked, "a test") {
		t.Errorf("self = %+v, %v", self, err)
	}

	if err := save("as always"); err != nil {
		t.Errorf("in the end: %v", err)
	}
	do(params.Values{"action": "delete", "title": page.Title, "reason": "a test"})
	wantKind(t, save("after the deletion"), mediawiki.Conflict, "missingtitle")
}
