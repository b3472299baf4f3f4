package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// person is an account on the wiki whose edits bypass the proxies.
type person struct {
	api   string
	http  *http.Client
	token string
}

func login(vars map[string]string, name string) (*person, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	p := &person{api: vars["WIKI_API"], http: &http.Client{Jar: jar, Timeout: 2 * time.Minute}}
	tok, err := p.call(url.Values{"action": {"query"}, "meta": {"tokens"}, "type": {"login"}})
	if err != nil {
		return nil, err
	}
	key := "REALWIKI_" + strings.ToUpper(name)
	in, err := p.call(url.Values{"action": {"login"}, "lgname": {vars[key+"_USER"]}, "lgpassword": {vars[key+"_PASSWORD"]},
		"lgtoken": {text(tok, "query", "tokens", "logintoken")}})
	if err != nil || text(in, "login", "result") != "Success" {
		return nil, fmt.Errorf("%s cannot log in: %w %v", name, err, in)
	}
	tok, err = p.call(url.Values{"action": {"query"}, "meta": {"tokens"}})
	p.token = text(tok, "query", "tokens", "csrftoken")
	return p, err
}

func (p *person) call(v url.Values) (map[string]any, error) {
	v.Set("format", "json")
	v.Set("formatversion", "2")
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, p.api, strings.NewReader(v.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "chaos laboratory")
	resp, err := p.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return nil, fmt.Errorf("api.php: %w", err)
	}
	return out, nil
}

func dig(v any, path ...string) any {
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	return v
}

func text(v any, path ...string) string {
	s, _ := dig(v, path...).(string)
	return s
}

var errConflict = errors.New("edit conflict")

// edit saves an edit, waiting while the wiki is read-only.
func (p *person) edit(v url.Values) error {
	v.Set("action", "edit")
	v.Set("token", p.token)
	v.Set("summary", "talk")
	for range 60 {
		out, err := p.call(v)
		if err != nil {
			return err
		}
		switch code := text(out, "error", "code"); {
		case text(out, "edit", "result") == "Success":
			return nil
		case code == "readonly":
			time.Sleep(time.Second)
			continue
		case code == "editconflict":
			return errConflict
		}
		return fmt.Errorf("editing %s failed: %v", v.Get("title"), out)
	}
	return errors.New("the wiki has been read-only for a minute")
}

func (p *person) ask(page, heading, words string) error {
	return p.edit(url.Values{"title": {page}, "section": {"new"}, "sectiontitle": {heading}, "text": {words + " ~~~~"}})
}

// change applies a function to the text of a page and saves the result; the function returns "" if there is nothing to
// do. Others may edit at the same time: the wiki merges the edits, or the edit is retried.
func (p *person) change(page string, change func(string) string) error {
	for range 20 {
		out, err := p.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"content|ids|timestamp"}, "rvslots": {"main"},
			"titles": {page}, "curtimestamp": {"1"}})
		if err != nil {
			return err
		}
		rev := first(dig(first(dig(out, "query", "pages")), "revisions"))
		now := change(text(rev, "slots", "main", "content"))
		if now == "" {
			return nil
		}
		id, _ := dig(rev, "revid").(float64)
		err = p.edit(url.Values{"title": {page}, "text": {now}, "baserevid": {strconv.Itoa(int(id))},
			"basetimestamp": {text(rev, "timestamp")}, "starttimestamp": {text(out, "curtimestamp")}})
		if !errors.Is(err, errConflict) {
			return err
		}
	}
	return errConflict
}

func first(v any) any {
	if list, _ := v.([]any); len(list) > 0 {
		return list[0]
	}
	return nil
}

// news returns the page's revisions after a given revision, oldest first, and the ID of the last one.
func (p *person) news(page string, behind int64) (all []testutil.Revision, last int64, err error) {
	last = behind
	for {
		v := url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"user|content|ids"}, "rvslots": {"main"}, "rvlimit": {"50"},
			"rvdir": {"newer"}, "titles": {page}}
		if last > 0 {
			v.Set("rvstartid", strconv.FormatInt(last, 10))
		}
		out, err := p.call(v)
		if err != nil {
			return all, last, err
		}
		if out["error"] != nil {
			return all, last, fmt.Errorf("reading the history: %v", out["error"])
		}
		revs, _ := dig(first(dig(out, "query", "pages")), "revisions").([]any)
		n := 0
		for _, r := range revs {
			id, _ := dig(r, "revid").(float64)
			if int64(id) <= last {
				continue
			}
			n++
			last = int64(id)
			all = append(all, testutil.Revision{User: text(r, "user"), Text: text(r, "slots", "main", "content")})
		}
		if n == 0 {
			return all, last, nil
		}
	}
}
