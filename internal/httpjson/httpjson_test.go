package httpjson

import (
	"net/http/httptest"
	"testing"
)

func TestWrite(t *testing.T) {
	w := httptest.NewRecorder()
	Write(w, 404, map[string]string{"error": "<none> & nothing"})
	if got := w.Body.String(); got != `{"error":"<none> & nothing"}`+"\n" || w.Code != 404 {
		t.Errorf("%d %s", w.Code, got)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("type %q", got)
	}
}
