// Package httprr records and replays HTTP exchanges for any HTTP client. A [Recorder] is a transport that forwards
// requests and records the responses. A [Player] is a transport that answers from a recording and never uses the
// network.
//
// A recording is a text file with one line of JSON per exchange. Finished exchanges survive a crash, and a diff shows
// what changed:
//
//	{"httprr":1}
//	{"key":"5f0c…","request":{"method":"POST","path":"/v1/chat/completions","body":{…}},"response":{"status":200,"header":{…},"body":{…}}}
//
// Exchanges are found by key: a digest of the method, path, sorted query and body (JSON in canonical form), but not of
// the host and headers. Repeated requests are answered in the recorded order. A request that was not recorded, or that
// is repeated more often than it was recorded, fails with a [MissError].
//
// No secrets are written: only a few harmless headers are kept, and all text is scrubbed first. A test can check this
// for all recordings in a repository with [FindSecrets].
package httprr

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"unicode/utf8"
)

// version is the format version. It is in the first line of a file.
const version = 1

// maxBody is the maximum number of bytes recorded from a single request or response.
const maxBody = 32 << 20

// kept lists the response headers that are needed for a replay. All other headers, in particular cookies, are dropped.
var kept = []string{"Content-Type", "Retry-After", "Location"}

// exchange is one line of a recording.
type exchange struct {
	Key      string   `json:"key"`
	Request  request  `json:"request"`
	Response response `json:"response"`
}

type request struct {
	Method string `json:"method"`
	Path   string `json:"path"`           // with the query, sorted
	Body   *body  `json:"body,omitempty"` // for people reading the file; only the key is compared
}

type response struct {
	Status int         `json:"status,omitempty"`
	Header http.Header `json:"header,omitempty"`
	Body   *body       `json:"body,omitempty"`
	Error  string      `json:"error,omitempty"` // the transport's error, instead of a response
}

// body is the body of a request or response. It is written as JSON if it is JSON and this preserves it byte for byte;
// otherwise as a JSON string if it is text; otherwise as {"base64": "…"}.
type body struct{ data []byte }

// MarshalJSON encodes the body in the most readable form.
func (b body) MarshalJSON() ([]byte, error) {
	t := bytes.TrimSpace(b.data)
	if len(t) > 0 && (t[0] == '{' || t[0] == '[') && json.Valid(b.data) && !isBase64Form(t) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, b.data); err == nil {
			return compact.Bytes(), nil
		}
	}
	if utf8.Valid(b.data) {
		return json.Marshal(string(b.data))
	}
	return json.Marshal(map[string][]byte{"base64": b.data})
}

// isBase64Form reports whether JSON text could be mistaken for the encoding of a binary body.
func isBase64Form(data []byte) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(data, &m) == nil && len(m) == 1 && m["base64"] != nil
}

// UnmarshalJSON decodes any of these forms.
func (b *body) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		b.data = []byte(s)
		return nil
	}
	if isBase64Form(data) {
		var m map[string][]byte
		if err := json.Unmarshal(data, &m); err != nil {
			return err
		}
		b.data = m["base64"]
		return nil
	}
	b.data = bytes.Clone(data)
	return nil
}

// Recorder is a transport that records its inner transport's exchanges. It is safe for concurrent use.
type Recorder struct {
	next  http.RoundTripper
	scrub func(string) string
	mu    sync.Mutex
	file  *os.File
}

// Record creates the file at path and returns a transport that passes requests to next. The file must not exist yet, so
// that an earlier recording, which cost money, is not overwritten. scrub removes secrets from text (see
// politehttp.Scrubber) and must keep JSON valid. The caller must close the Recorder. After a crash, the file contains
// everything that was recorded before the crash.
func Record(path string, next http.RoundTripper, scrub func(string) string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording: %w", err)
	}
	if _, err := fmt.Fprintf(f, "{\"httprr\":%d}\n", version); err != nil {
		return nil, errors.Join(fmt.Errorf("recording: %w", err), f.Close())
	}
	return &Recorder{next: next, scrub: scrub, file: f}, nil
}

// Close closes the file.
func (r *Recorder) Close() error { return r.file.Close() }

// RoundTrip forwards the request and records the response or the transport's error. If writing fails, RoundTrip returns
// that error, because a recording with gaps is useless.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := readBody(req)
	if err != nil {
		return nil, err
	}
	x := exchange{Key: key(req, sent, r.scrub), Request: request{Method: req.Method, Path: r.scrub(path(req.URL))}}
	if len(sent) > 0 {
		x.Request.Body = &body{[]byte(r.scrub(string(sent)))}
	}
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		x.Response.Error = r.scrub(err.Error())
		return nil, errors.Join(err, r.write(x))
	}
	data, readErr := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	_ = resp.Body.Close() // the body was read; an error from Close does not matter
	x.Response.Status, x.Response.Header = resp.StatusCode, http.Header{}
	for _, h := range kept {
		if v := resp.Header.Get(h); v != "" {
			x.Response.Header.Set(h, r.scrub(v))
		}
	}
	if len(data) > 0 {
		x.Response.Body = &body{scrubBytes(data, r.scrub)}
	}
	if readErr != nil {
		x.Response.Error = r.scrub(readErr.Error())
	}
	if err := r.write(x); err != nil {
		return nil, err
	}
	resp.Body = &brokenBody{Reader: bytes.NewReader(data), err: readErr}
	return resp, nil
}

// scrubBytes scrubs text and leaves binary data unchanged.
func scrubBytes(data []byte, scrub func(string) string) []byte {
	if !utf8.Valid(data) {
		return data
	}
	return []byte(scrub(string(data)))
}

func (r *Recorder) write(x exchange) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line) // Encode ends the line
	enc.SetEscapeHTML(false)
	if err := enc.Encode(x); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(line.Bytes()); err != nil {
		return fmt.Errorf("recording: %w", err)
	}
	return nil
}

// brokenBody is a body that returns the data, followed by the error that ended the real body.
type brokenBody struct {
	*bytes.Reader
	err error
}

func (b *brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF && b.err != nil {
		err = b.err
	}
	return n, err
}

func (b *brokenBody) Close() error { return nil }

// readBody reads the body of the request and then restores it.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	data, err := io.ReadAll(io.LimitReader(req.Body, maxBody))
	if cerr := req.Body.Close(); err == nil {
		err = cerr
	}
	req.Body = io.NopCloser(bytes.NewReader(data))
	return data, err
}

// path returns a URL's path and sorted query.
func path(u *url.URL) string {
	if q := u.Query().Encode(); q != "" {
		return u.EscapedPath() + "?" + q
	}
	return u.EscapedPath()
}

// key returns the digest by which an exchange is looked up. It is computed from the scrubbed text, so that a replay
// with a different API key finds the exchange.
func key(req *http.Request, sent []byte, scrub func(string) string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n", req.Method, scrub(path(req.URL)))
	h.Write([]byte(scrub(string(canonical(sent)))))
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// canonical returns JSON with sorted members and without whitespace, and anything else unchanged.
func canonical(data []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil || dec.More() {
		return data
	}
	out, err := json.Marshal(v)
	if err != nil {
		return data
	}
	return out
}
