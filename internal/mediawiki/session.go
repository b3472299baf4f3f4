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

// The code in this file keeps requests that arrive too late from having an effect. A save with an unknown outcome may
// still be in transit: if a proxy delays it, it may start minutes after the caller has checked the page and saved
// again. So a client that stores its session ([Config].Session) ends the session on the wiki after such a save. At its
// first login, it also ends the session of the previous process, which may have been killed in the middle of a save.
// The wiki rejects requests in a session that has ended, since every request asserts an account. For a save that
// started before its session ended, the wiki will have read the page before the client reads it again, so the wiki's
// own conflict check works.

// endSession ends the stored session, which is the last one that this client or its predecessor started. An error means
// that the old session may still be alive, so no new session may be used.
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
		c.lg.Warn("the last session cannot be read, so it was not ended", "file", c.cfg.Session, "err", err)
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
	if token := a.Query.Tokens.CSRF; len(token) > len(`+\`) { // otherwise the session has ended
		var out struct{}
		err = c.send(ctx, request{op: "login", anon: true, post: true, in: old, params: params.Values{"action": "logout",
			"token": token}}, &out)
	}
	var e *Error
	switch {
	case errors.As(err, &e) && e.Kind == Transient:
		return err
	case err != nil:
		c.lg.Warn("the wiki did not end the last session", "err", err)
	}
	if err := os.Remove(c.cfg.Session); err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.lg.Warn("the last session cannot be removed from the file", "file", c.cfg.Session, "err", err)
	}
	return nil
}

// keepSession stores the session started by a login, before the session is used.
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
		return &Error{Op: "login", Kind: Transient, Code: "session", Info: "the session cannot be stored", Err: err}
	}
	return nil
}

// writeSecret atomically replaces a file that only its owner may read.
func writeSecret(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".session-*") // readable only by its owner
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
