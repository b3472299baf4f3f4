package mediawiki

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	mwclient "cgt.name/pkg/go-mwclient"
	"cgt.name/pkg/go-mwclient/params"
)

// This file keeps requests that arrive too late from doing anything. A save of unknown outcome may still be on its way:
// held up in a proxy, it begins minutes after the caller has looked at the page and saved again. So a client that
// remembers its session ([Config].Session) ends it on the wiki after such a save, and at its first login ends the one
// of the process before, which may have been killed in the middle of a save. A wiki does nothing for a request of a
// session that has ended: every request asserts an account. What began before the end reads the page before anything
// that the client reads later, so it meets the conflicts that the wiki looks for.

// endSession ends the session that the client, or the one before it, began last, where it is remembered. An error means
// that nothing may be begun in a new one: it is not known whether the old one has ended.
func (c *Client) endSession(ctx context.Context) error {
	if c.cfg.Session == "" || c.cfg.Password == "" {
		return nil
	}
	raw, err := os.ReadFile(c.cfg.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var kept map[string]string
	if err != nil || json.Unmarshal(raw, &kept) != nil || len(kept) == 0 {
		c.lg.Warn("the last session cannot be read, so it is not ended", "file", c.cfg.Session, "err", err)
		return nil
	}
	old, err := mwclient.New(c.cfg.API, c.cfg.UserAgent)
	if err != nil {
		return err
	}
	var cookies []*http.Cookie
	for name, value := range kept {
		cookies = append(cookies, &http.Cookie{Name: name, Value: value})
	}
	old.LoadCookies(cookies)
	var a answer
	err = c.send(ctx, request{op: "login", anon: true, in: old, params: params.Values{"action": "query", "meta": "tokens",
		"type": "csrf"}}, &a)
	if err != nil {
		return err
	}
	if token := a.Query.Tokens.CSRF; len(token) > len(`+\`) { // else it has ended
		var out struct{}
		err = c.send(ctx, request{op: "login", anon: true, post: true, in: old, params: params.Values{"action": "logout",
			"token": token}}, &out)
	}
	var e *Error
	switch {
	case errors.As(err, &e) && e.Kind == Transient:
		return err
	case err != nil:
		c.lg.Warn("the wiki does not end the last session", "err", err)
	}
	if err := os.Remove(c.cfg.Session); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.lg.Warn("the last session is still remembered", "file", c.cfg.Session, "err", err)
	}
	return nil
}

// keepSession remembers the session that a login began, before anything is done in it.
func (c *Client) keepSession() error {
	if c.cfg.Session == "" || c.cfg.Password == "" {
		return nil
	}
	mw := c.library()
	kept := map[string]string{}
	for _, cookie := range mw.DumpCookies() {
		kept[cookie.Name] = cookie.Value
	}
	raw, err := json.Marshal(kept)
	if err == nil {
		err = writeSecret(c.cfg.Session, raw)
	}
	if err != nil {
		return &Error{Op: "login", Kind: Transient, Code: "session", Info: "the session cannot be remembered", Err: err}
	}
	return nil
}

// writeSecret replaces a file that nobody else may read, as a whole or not at all.
func writeSecret(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".session-*") // readable by its owner only
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
