//go:build integration

package wiki_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRealWikiConforms runs the suite against the MediaWiki that tools/realwiki/start.sh made; its settings come from the environment.
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
	conform(t, &site{api: get("WIKI_API"), run: fmt.Sprint(time.Now().Unix()), bot: account("WIKI"), alice: account("REALWIKI_ALICE"), bob: account("REALWIKI_BOB")})
}
