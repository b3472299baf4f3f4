// Package httpjson answers HTTP requests with JSON.
package httpjson

import (
	"encoding/json"
	"net/http"
)

// Write responds with v as JSON. HTML characters are not escaped; browsers are told not to sniff a different type.
func Write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // the client may have disconnected
}
