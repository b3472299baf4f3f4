package testutil

import (
	"net/http/httptest"
	"net/url"
	"testing"
)

// TestEchoesLeak checks the test helpers themselves: every echo repeats the password, and Leaks finds it.
func TestEchoesLeak(t *testing.T) {
	const password = "pa$$/wörd&mit<allem>"
	for name, h := range Echoes() {
		r := httptest.NewRequest("GET", "/?key="+url.QueryEscape(password), nil)
		r.SetBasicAuth("user", password)
		w := httptest.NewRecorder()
		h(w, r)
		if answer := w.Header().Get("Location") + " " + w.Body.String(); !Leaks(answer, password) {
			t.Errorf("%s: no leak in %s", name, answer)
		}
	}
	if Leaks("nothing to see at https://example.org/?a=b%20c and dXNlcg==", password) {
		t.Error("a leak where there is none")
	}
}
