//go:build integration

package integration

import (
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset/datasettest"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
)

// The operator creates an account and assigns candidates to annotators. The account's owner logs in from another
// browser, judges a candidate, and cannot see the desk. The operator sees their progress.
func TestAnnotateFromASecondAccount(t *testing.T) {
	t.Parallel()
	g, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: func() uint64 { return 4 }})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "harvest")
	if _, err := datasettest.Write(t.Context(), dir, g); err != nil {
		t.Fatal(err)
	}
	b := newBureau(t, "--annotate", dir)
	if r, err := http.Get(b.url + "/annotate/"); err != nil || r.Request.URL.Path != "/login" {
		t.Fatalf("a stranger sees %v (%v)", r, err)
	} else {
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body.Close()
	}
	p := newTab(t, 1280, 800)
	b.login(p, operatorToken, "/operator/accounts")
	tokens := map[string]string{}
	for _, name := range []string{"Ada", "Ben"} {
		fill(p, `form.card input[name="name"]`, name)
		click(p, `form.card button[value="add"]`)
		p.until(`document.querySelector("code.token")`)
		tokens[name] = eval[string](p, `document.querySelector("code.token").textContent`)
	}
	b.view(p, "desk-accounts")
	p.open(b.url + "/annotate/work")
	p.until(`document.querySelectorAll('input[name="who"]').length === 2`)
	click(p, `form[action="/annotate/work"] button`)
	p.until(`document.querySelectorAll("tbody tr").length === 3`) // one row each for Ada, Ben, and the pair

	ada := newTab(t, 1280, 800)
	b.login(ada, tokens["Ada"], "/annotate/")
	ada.until(`document.querySelector('.boxes a[aria-current]').textContent.includes("Assigned to me")`)
	before := eval[int](ada, `document.querySelectorAll("a.row-link").length`)
	b.view(ada, "annotate-assigned")
	click(ada, "a.row-link")
	ada.until(`document.querySelector(".annotate")?.dataset.page === "item" && document.querySelector("#remarks").childElementCount > 0`)
	first := eval[string](ada, "location.href")
	exclude(ada, "1")
	// Either the next candidate or the list is shown.
	ada.until(`location.href !== "` + first + `" && document.readyState === "complete"`)
	ada.open(b.url + "/annotate/")
	ada.until(`document.querySelectorAll("a.row-link").length === ` + strconv.Itoa(before-1))
	ada.open(b.url + "/operator")
	ada.until(`document.body.innerText.includes("You are logged in as Ada")`)

	p.open(b.url + "/annotate/work")
	p.until(`[...document.querySelectorAll("tbody tr")].some(r => r.innerText.replace(/\s+/g, " ").startsWith("Ada ` +
		strconv.Itoa(before) + ` 1 ` + strconv.Itoa(before-1) + ` 1 "))`)
	b.view(p, "annotate-work")
	// Removing the account logs its owner out.
	p.open(b.url + "/operator/accounts")
	click(p, `tbody tr:first-child button[value="remove"]`)
	ada.open(b.url + "/annotate/")
	ada.until(`location.pathname === "/login"`)
	if strings.Contains(b.run("ledger", "list"), tokens["Ada"]) {
		t.Error("a token in the ledger's list")
	}
}
