package mediawiki

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// The error codes and formats are copied from responses of DiscussionTools on MediaWiki 1.43.
func TestAnswer(t *testing.T) {
	for body, want := range map[string]struct {
		kind  Kind
		ok    bool
		tools bool // the result of NoTools
	}{
		`{"discussiontoolsedit":{"result":"success","nocontent":true,"newrevid":13}}`:                              {ok: true},
		`{"error":{"code":"discussiontools-formtoken-used","info":"Comment already posted."}}`:                     {kind: Unknown},
		`{"error":{"code":"discussiontools-commentname-notfound","info":"not found"}}`:                             {kind: Refused, tools: true},
		`{"error":{"code":"discussiontools-commentname-ambiguous","info":"two"}}`:                                  {kind: Refused, tools: true},
		`{"error":{"code":"badvalue","info":"Unrecognized value for parameter \"action\": discussiontoolsedit."}}`: {kind: Refused, tools: true},
		`{"error":{"code":"spamprotectionmatch","info":"refused"}}`:                                                {kind: Refused},
		`{"error":{"code":"editconflict","info":"conflict"}}`:                                                      {kind: Conflict},
		`{"error":{"code":"protectedpage","info":"protected"}}`:                                                    {kind: Blocked},
		`{"discussiontoolsedit":{"result":"error","edit":{"captcha":{"type":"image"},"result":"Failure"}}}`:        {kind: Blocked},
		`{"discussiontoolsedit":{"result":"success"}}`:                                                             {kind: Unknown},
		`{}`:        {kind: Unknown},
		`<html>503`: {kind: Unknown},
	} {
		p := &played{edit: []http.HandlerFunc{says(200, body)}}
		c, _, _ := open(t, p)
		s, err := c.Answer(t.Context(), Answer{Title: "T", Name: "c-A-20261122221600", Text: "Yes. --~~~~", Summary: "s", Token: "0123456789abcdef"})
		var e *Error
		switch {
		case want.ok && (err != nil || s.RevID != 13):
			t.Errorf("%s: %+v, %v", body, s, err)
		case !want.ok && (!errors.As(err, &e) || e.Kind != want.kind || NoTools(err) != want.tools):
			t.Errorf("%s: %v, no tools %v; want %+v", body, err, NoTools(err), want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is not one line", err)
		}
		if n := len(p.form); n == 0 || len(p.form[n-1]["formtoken"]) == 0 || p.form[n-1]["token"] == nil {
			t.Errorf("%s: sent %v", body, p.form)
		}
	}
}
