package mediawiki

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cgt.name/pkg/go-mwclient/params"
)

// loggedIn makes sure that the account's name is known, and logs in if necessary. It does not wait.
func (c *Client) loggedIn(ctx context.Context) error {
	if c.Account() != "" || c.cfg.Anonymous {
		return nil
	}
	select {
	case <-c.door:
		defer func() { c.door <- struct{}{} }()
	case <-ctx.Done():
		return &Error{Op: "login", Kind: Transient, Code: "not-sent", Err: ctx.Err()}
	}
	if c.Account() != "" { // another caller has since logged in
		return nil
	}
	name := ""
	if c.cfg.Password != "" {
		if err := c.endSession(ctx); err != nil {
			return err
		}
		if err := c.login(ctx, &name); err != nil {
			return err
		}
		if err := c.keepSession(); err != nil {
			return err
		}
	} else {
		var a answer
		if err := c.send(ctx, request{op: "login", params: params.Values{"action": "query", "meta": "userinfo"}},
			&a); err != nil {
			return err
		}
		name = a.Query.UserInfo.Name
	}
	if want := c.cfg.Account; want != "" && canonical(want) != canonical(name) {
		return &Error{Op: "login", Kind: Blocked, Code: "wrong-account",
			Info: c.text(fmt.Sprintf("the account of this login is %q, not %q", name, want))}
	}
	c.setAccount(name)
	c.lg.Info("logged in to the wiki", "account", c.text(name))
	return nil
}

// login signs in with a bot password (action=login with its own token; https://www.mediawiki.org/wiki/API:Login).
func (c *Client) login(ctx context.Context, name *string) error {
	var t answer
	r := request{op: "login", anon: true, params: params.Values{"action": "query", "meta": "tokens", "type": "login"}}
	if err := c.send(ctx, r, &t); err != nil {
		return err
	}
	var out struct {
		Login struct {
			Result   string `json:"result"`
			Reason   any    `json:"reason"`
			UserName string `json:"lgusername"`
			Wait     int    `json:"wait"`
		} `json:"login"`
	}
	r = request{op: "login", anon: true, post: true, params: params.Values{
		"action": "login", "lgname": c.cfg.User, "lgpassword": c.cfg.Password, "lgtoken": t.Query.Tokens.Login}}
	if err := c.send(ctx, r, &out); err != nil {
		return err
	}
	switch l := out.Login; l.Result {
	case "Success":
		*name = l.UserName
		return nil
	case "NeedToken", "WrongToken":
		return &Error{Op: "login", Kind: Transient, Code: l.Result, Info: c.reason(l.Reason)}
	case "Throttled":
		return &Error{Op: "login", Kind: Transient, Code: l.Result, Info: c.reason(l.Reason),
			RetryAfter: time.Duration(max(l.Wait, 60)) * time.Second}
	default:
		return &Error{Op: "login", Kind: Blocked, Code: "login-" + c.text(strings.ToLower(l.Result)),
			Info: c.reason(l.Reason)}
	}
}

// reason returns the wiki's reason for a failed login. It is a string, or an object in some error formats.
func (c *Client) reason(v any) string {
	if v == nil {
		return ""
	}
	return c.text(fmt.Sprint(v))
}

// canonical returns a user name in the form that MediaWiki uses for comparison: with underscores replaced by spaces,
// and the first letter in upper case.
func canonical(name string) string {
	name = strings.TrimSpace(strings.ReplaceAll(name, "_", " "))
	for i, r := range name {
		return strings.ToUpper(string(r)) + name[i+len(string(r)):]
	}
	return name
}

// freshToken fetches a token for saving, without waiting.
func (c *Client) freshToken(ctx context.Context) error {
	var a answer
	if err := c.send(ctx, request{op: "token", params: params.Values{"action": "query", "meta": "tokens",
		"type": "csrf"}}, &a); err != nil {
		return err
	}
	if len(a.Query.Tokens.CSRF) <= len(`+\`) {
		return &Error{Op: "token", Kind: Blocked, Code: "notloggedin",
			Info: "the wiki returned the token of an anonymous visitor"}
	}
	c.setToken(a.Query.Tokens.CSRF)
	return nil
}
