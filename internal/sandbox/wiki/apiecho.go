package wiki

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// extensions lists the extensions that this wiki implements. It implements only the part of Echo that the bot needs:
// notifications of mentions.
var extensions = []object{{"type": "other", "name": "Echo"}}

// userLinks matches links to user pages, but not to their subpages.
var userLinks = regexp.MustCompile(`(?i)\[\[ *:?user *: *([^]|/#\[]+?) *(?:\||\]\])`)

// signed matches the end of a signature.
const signed = "(UTC)"

// mentions counts the links to an account's user page in wikitext.
func mentions(text, account string) (n int) {
	for _, m := range userLinks.FindAllStringSubmatch(text, -1) {
		if upperFirst(strings.ReplaceAll(m[1], "_", " ")) == account {
			n++
		}
	}
	return n
}

// notices lists the edits that an account is notified of, newest first: edits that add a link to its user page in
// signed text, and edits to its talk page. Users are not notified of their own edits (Echo: DiscussionParser,
// EditUserTalk).
func (w *Wiki) notices(account string) (out []*Revision, types []string) {
	for i := len(w.all) - 1; i >= 0; i-- {
		r := w.all[i]
		before := ""
		if r.Parent > 0 {
			before = w.all[r.Parent-1].Text
		}
		switch {
		case r.User == account:
		case r.Page == "User talk:"+account:
			out, types = append(out, r), append(types, "edit-user-talk")
		case mentions(r.Text, account) > mentions(before, account) &&
			strings.Count(r.Text, signed) > strings.Count(before, signed):
			out, types = append(out, r), append(types, "mention")
		}
	}
	return out, types
}

// notifications implements meta=notifications with notprop=list. Which notifications have been read is stored only in
// memory.
func (c *call) notifications(q object) *failure {
	if c.account == nil {
		return fail("login-required", "You must be logged in.")
	}
	limit := 20
	if n, err := strconv.Atoi(c.get("notlimit")); err == nil {
		limit = min(max(n, 1), 50)
	}
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	list, next := []object{}, any(nil)
	revs, types := w.notices(c.account.Name)
	at, _, _ := strings.Cut(c.get("notcontinue"), "|")
	from, _ := strconv.ParseInt(at, 10, 64)
	for i, r := range revs {
		read := w.heard[c.account.Name][r.ID]
		if read && c.get("notfilter") == "!read" || from > 0 && r.ID > from {
			continue
		}
		if len(list) == limit {
			next = strconv.FormatInt(r.ID, 10) + "|" + strconv.FormatInt(r.ID, 10)
			break
		}
		ns, _, _ := split(r.Page)
		item := object{"wiki": "sandbox", "id": r.ID, "type": types[i], "category": types[i], "section": "alert",
			"timestamp": object{"utciso8601": stamp(r.Time), "utcunix": r.Time.Unix()},
			"title":     object{"full": r.Page, "namespace-key": ns}, "agent": object{"id": 1, "name": r.User}, "revid": r.ID,
			"targetpages": []string{}}
		if read {
			item["read"] = r.Time.UTC().Format("20060102150405")
		}
		list = append(list, item)
	}
	q["notifications"] = object{"list": list, "continue": next}
	return nil
}

// markRead implements action=echomarkread with the list parameter.
func (c *call) markRead() (object, *failure) {
	if c.account == nil {
		return nil, fail("login-required", "You must be logged in.")
	}
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard == nil {
		w.heard = map[string]map[int64]bool{}
	}
	if w.heard[c.account.Name] == nil {
		w.heard[c.account.Name] = map[int64]bool{}
	}
	for _, id := range c.list("list") {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, fail("badinteger", `Invalid value "`+id+`" for integer parameter "list".`)
		}
		w.heard[c.account.Name][n] = true
	}
	return object{"query": object{"echomarkread": object{"result": "success"}}}, nil
}

// generated implements generator=backlinks and generator=embeddedin with prop=info: the pages that link to a page, or
// that use a template.
func (c *call) generated(q object) *failure {
	title := c.get("gbltitle") + c.get("geititle")
	_, want, err := split(title)
	if err != nil {
		return fail("invalidtitle", `Bad title "`+title+`".`)
	}
	_, name, _ := strings.Cut(want, ":")
	if name == "" {
		return fail("invalidtitle", "This wiki lists only what links to pages outside the main namespace.")
	}
	// matches a link or a template, with the first letter in either case
	quoted := `(?i:` + regexp.QuoteMeta(name[:1]) + `)` + strings.ReplaceAll(regexp.QuoteMeta(name[1:]), " ", "[ _]")
	pattern := `\{\{ *(?:(?i:template) *: *)?` + quoted + `\s*(?:\||\}\})`
	if c.get("generator") == "backlinks" {
		ns, _, _ := strings.Cut(want, ":")
		pattern = `\[\[ *:?(?i:` + regexp.QuoteMeta(ns) + `) *: *` + quoted + ` *(?:\||#|\]\])`
	}
	finds := regexp.MustCompile(pattern)
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []object
	for _, revs := range w.pages {
		last := revs[len(revs)-1]
		ns, _, _ := split(last.Page)
		if finds.MatchString(last.Text) {
			out = append(out, object{"pageid": revs[0].ID, "ns": ns, "title": last.Page, "lastrevid": last.ID,
				"touched": stamp(last.Time.In(time.UTC)), "length": len(last.Text)})
		}
	}
	slices.SortFunc(out, func(a, b object) int { return int(a["pageid"].(int64) - b["pageid"].(int64)) })
	if out != nil {
		q["pages"] = out
	}
	return nil
}
