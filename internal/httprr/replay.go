package httprr

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
)

// MissError means that a recording does not contain a request, or contains it fewer times than it was made.
type MissError struct {
	File         string
	Method, Path string
	Key          string
	Times        int // how many times the file contains the request
}

// Error describes what is missing and how to fix it.
func (e *MissError) Error() string {
	if e.Times > 0 {
		return fmt.Sprintf("%s contains %s %s (key %s) only %d times: record it again", e.File, e.Method, e.Path, e.Key, e.Times)
	}
	return fmt.Sprintf("%s does not contain %s %s (key %s): the request changed; record it again", e.File, e.Method, e.Path,
		e.Key)
}

// Permanent reports that retrying the request will not help. It is called by politehttp's retry policy.
func (e *MissError) Permanent() bool { return true }

// Player is a transport that answers from a recording. It is safe for concurrent use.
type Player struct {
	name  string
	scrub func(string) string
	mu    sync.Mutex
	byKey map[string][]response
	used  map[string]int
}

// Replay reads the recording at path. scrub must be the function that was used for recording; only the secrets may
// differ.
func Replay(path string, scrub func(string) string) (*Player, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the recording cannot be read: %w", err)
	}
	defer func() { _ = f.Close() }() // a close error does not matter after reading
	p, err := ReplayFrom(path, f, scrub)
	return p, err
}

// ReplayFrom is like [Replay] but reads the recording from r. name appears in its errors. An incomplete last line, as
// left by a crash, is dropped.
func ReplayFrom(name string, r io.Reader, scrub func(string) string) (*Player, error) {
	p := &Player{name: name, scrub: scrub, byKey: map[string][]response{}, used: map[string]int{}}
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("replaying %s: %w", name, err)
		}
		torn := err == io.EOF
		if len(bytes.TrimSpace(line)) > 0 {
			if perr := p.line(n, line); perr != nil && !torn {
				return nil, fmt.Errorf("replaying %s, line %d: %w", name, n, perr)
			} else if perr != nil && n == 1 {
				return nil, fmt.Errorf("replaying %s: %w", name, perr)
			}
		} else if n == 1 {
			return nil, fmt.Errorf("replaying %s: the file is empty", name)
		}
		if torn {
			return p, nil
		}
	}
}

func (p *Player) line(n int, line []byte) error {
	if n == 1 {
		var head struct {
			V int `json:"httprr"`
		}
		if err := json.Unmarshal(line, &head); err != nil || head.V != version {
			return fmt.Errorf("not a recording of version %d", version)
		}
		return nil
	}
	var x exchange
	if err := json.Unmarshal(line, &x); err != nil {
		return err
	}
	if x.Key == "" || (x.Response.Status == 0 && x.Response.Error == "") {
		return errors.New("not an exchange")
	}
	p.byKey[x.Key] = append(p.byKey[x.Key], x.Response)
	return nil
}

// RoundTrip answers from the recording.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	sent, err := readBody(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	k := key(req, sent, p.scrub)
	p.mu.Lock()
	n, all := p.used[k], p.byKey[k]
	if n < len(all) {
		p.used[k]++
	}
	p.mu.Unlock()
	if n >= len(all) {
		return nil, &MissError{File: p.name, Method: req.Method, Path: p.scrub(path(req.URL)), Key: k, Times: len(all)}
	}
	rec := all[n]
	if rec.Status == 0 {
		return nil, errors.New(rec.Error)
	}
	var data []byte
	if rec.Body != nil {
		data = rec.Body.data
	}
	b := &brokenBody{Reader: bytes.NewReader(data)}
	if rec.Error != "" {
		b.err = errors.New(rec.Error)
	}
	header := rec.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", rec.Status, http.StatusText(rec.Status)), StatusCode: rec.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: b, ContentLength: int64(len(data)), Request: req,
	}, nil
}

// Unused returns the sorted keys of the exchanges that were not requested. If there are any, the replay took a
// different path than the recording.
func (p *Player) Unused() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for k, all := range p.byKey {
		if p.used[k] < len(all) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}
