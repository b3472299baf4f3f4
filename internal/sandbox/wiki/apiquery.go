package wiki

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// query implements action=query with the modules that a forum bot needs.
func (c *call) query() (object, *failure) {
	q := object{}
	answer := object{"batchcomplete": true, "query": q}
	for _, m := range c.list("meta") {
		switch m {
		case "tokens":
			q["tokens"] = c.tokens()
		case "userinfo":
			q["userinfo"] = c.userInfo()
		case "siteinfo":
			c.siteInfo(q)
		case "notifications":
			if f := c.notifications(q); f != nil {
				return nil, f
			}
		default:
			c.warn = append(c.warn, "Unrecognized value for parameter \"meta\": "+m+".")
		}
	}
	for _, l := range c.list("list") {
		var f *failure
		switch l {
		case "usercontribs":
			f = c.contributions(q, answer)
		case "allpages":
			c.allPages(q)
		default:
			c.warn = append(c.warn, "Unrecognized value for parameter \"list\": "+l+".")
		}
		if f != nil {
			return nil, f
		}
	}
	if g := c.get("generator"); g == "backlinks" || g == "embeddedin" {
		if f := c.generated(q); f != nil {
			return nil, f
		}
	}
	if c.has("titles") || c.has("revids") || c.has("pageids") {
		if f := c.pages(q, answer); f != nil {
			return nil, f
		}
	}
	return answer, nil
}

func (c *call) tokens() object {
	types := c.list("type")
	if types == nil {
		types = []string{"csrf"}
	}
	out := object{}
	for _, t := range types {
		if t == "login" {
			out["logintoken"] = c.secret + `+\`
			continue
		}
		out[t+"token"] = c.token()
	}
	return out
}

func (c *call) userInfo() object {
	out := object{"id": 0, "name": c.name()}
	groups := []string{"*"}
	rights := []string{"read", "createpage", "createtalk"}
	if a := c.account; a != nil {
		for i := range c.h.wiki.cfg.Accounts {
			if &c.h.wiki.cfg.Accounts[i] == a {
				out["id"] = i + 1
			}
		}
		groups = append(append(groups, "user", "autoconfirmed"), a.Groups...)
		rights = append(rights, "edit")
		for _, g := range a.Groups {
			if g == "bot" {
				rights = append(rights, "bot", "noratelimit", "apihighlimits")
			}
		}
	} else {
		out["anon"] = true
	}
	if c.wants("uiprop", "groups") {
		out["groups"] = groups
	}
	if c.wants("uiprop", "rights") {
		out["rights"] = rights
	}
	if c.wants("uiprop", "hasmsg") {
		out["messages"] = false
	}
	return out
}

func (c *call) siteInfo(q object) {
	q["general"] = object{"sitename": c.h.wiki.cfg.SiteName, "generator": "SpinachBot sandbox", "mainpage": c.h.Forum,
		"case": "first-letter",
		"lang": "en", "timezone": "UTC", "timeoffset": 0, "time": stamp(c.h.wiki.cfg.Now()), "articlepath": "/wiki/$1",
		"scriptpath": "/w"}
	if c.wants("siprop", "extensions") {
		q["extensions"] = extensions
	}
	if c.wants("siprop", "namespaces") {
		ns := object{}
		for _, n := range namespaces {
			ns[strconv.Itoa(n.id)] = object{"id": n.id, "case": "first-letter", "name": n.name,
				"canonical": strings.Replace(n.name, "Wikidata", "Project", 1)}
		}
		q["namespaces"] = ns
	}
}

// pages describes the pages with the requested titles, page IDs and revision IDs. A page's ID is the ID of its first
// revision.
func (c *call) pages(q, answer object) *failure {
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []object
	var normalized []object
	for _, t := range c.list("titles") {
		ns, name, err := split(t)
		if err != nil {
			out = append(out, object{"title": t, "invalidreason": "The requested page title contains invalid characters.",
				"invalid": true})
			continue
		}
		if name != t {
			normalized = append(normalized, object{"fromencoded": false, "from": t, "to": name})
		}
		revs := w.pages[name]
		if len(revs) == 0 {
			out = append(out, object{"ns": ns, "title": name, "missing": true})
			continue
		}
		p, f := c.page(revs, answer, nil)
		if f != nil {
			return f
		}
		out = append(out, p)
	}
	for _, id := range append(c.list("revids"), c.list("pageids")...) {
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return fail("badinteger", `Invalid value "`+id+`" for integer parameter "revids".`)
		}
		if n < 1 || n > int64(len(w.all)) {
			q["badrevids"] = object{id: object{"revid": n, "missing": true}}
			continue
		}
		rev := w.all[n-1]
		p, f := c.page(w.pages[rev.Page], answer, rev)
		if f != nil {
			return f
		}
		out = append(out, p)
	}
	if normalized != nil {
		q["normalized"] = normalized
	}
	q["pages"] = out
	return nil
}

// page describes one page. only is the one requested revision, or nil.
func (c *call) page(revs []*Revision, answer object, only *Revision) (object, *failure) {
	last := revs[len(revs)-1]
	ns, _, _ := split(last.Page)
	p := object{"pageid": revs[0].ID, "ns": ns, "title": last.Page}
	if c.wants("prop", "info") {
		p["contentmodel"], p["pagelanguage"], p["touched"] = "wikitext", "en", stamp(last.Time)
		p["lastrevid"], p["length"] = last.ID, len(last.Text)
	}
	if !c.wants("prop", "revisions") {
		return p, nil
	}
	chosen, next, f := c.choose(revs, only)
	if f != nil {
		return nil, f
	}
	if next != "" {
		answer["continue"] = object{"rvcontinue": next, "continue": "||"}
		delete(answer, "batchcomplete")
	}
	var list []object
	for _, r := range chosen {
		list = append(list, c.revision(r))
	}
	if list != nil {
		p["revisions"] = list
	}
	return p, nil
}

// choose returns the revisions selected by rvlimit, rvuser, rvdir, rvstart, rvend and rvcontinue. Without any of them,
// it returns the newest revision.
func (c *call) choose(revs []*Revision, only *Revision) (chosen []*Revision, next string, f *failure) {
	if only != nil {
		return []*Revision{only}, "", nil
	}
	enumerates := false
	for _, p := range []string{"rvlimit", "rvuser", "rvdir", "rvstart", "rvend", "rvcontinue"} {
		enumerates = enumerates || c.has(p)
	}
	if !enumerates {
		return revs[len(revs)-1:], "", nil
	}
	limit, start, end, f := c.window("rv")
	if f != nil {
		return nil, "", f
	}
	newer := c.get("rvdir") == "newer"
	from := int64(0)
	if v := c.get("rvcontinue"); v != "" {
		_, id, _ := strings.Cut(v, "|")
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return nil, "", fail("badcontinue", "Invalid continue param. You should pass the original value returned by the previous query.")
		}
		from = n
	}
	for i := range revs {
		r := revs[len(revs)-1-i]
		if newer {
			r = revs[i]
		}
		switch {
		case from != 0 && (newer && r.ID < from || !newer && r.ID > from):
			continue
		case c.get("rvuser") != "" && (r.User != c.get("rvuser") || r.Hidden.User && !c.sees(r)):
			continue
		case outside(r.Time, start, end, newer):
			continue
		case len(chosen) == limit:
			return chosen, r.Time.Format("20060102150405") + "|" + strconv.FormatInt(r.ID, 10), nil
		}
		chosen = append(chosen, r)
	}
	return chosen, "", nil
}

// outside reports whether t is outside the range from start to end. If newer is false, start is the later end of the
// range.
func outside(t, start, end time.Time, newer bool) bool {
	if !newer {
		start, end = end, start
	}
	return !start.IsZero() && t.Before(start) || !end.IsZero() && t.After(end)
}

// window reads the limit, start and end parameters of a list whose parameters have the given prefix.
func (c *call) window(prefix string) (limit int, start, end time.Time, f *failure) {
	limit = 10
	switch v := c.get(prefix + "limit"); v {
	case "":
	case "max":
		limit = 500
	default:
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return 0, start, end, fail("badinteger", `Invalid value for integer parameter "`+prefix+`limit".`)
		}
		limit = min(n, 500)
	}
	for name, t := range map[string]*time.Time{"start": &start, "end": &end} {
		if v := c.get(prefix + name); v != "" {
			parsed, err := parseTime(v)
			if err != nil {
				return 0, start, end, fail("badtimestamp_"+prefix+name, `Invalid value "`+v+`" for timestamp parameter "`+prefix+
					name+`".`)
			}
			*t = parsed
		}
	}
	return limit, start, end, nil
}

// parseTime parses the time formats that MediaWiki clients send.
func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	return time.Parse("20060102150405", s)
}

func (c *call) revision(r *Revision) object {
	out := object{}
	props := c.list("rvprop")
	if props == nil {
		props = []string{"ids", "timestamp", "flags", "comment", "user"}
	}
	for _, p := range props {
		switch p {
		case "ids":
			out["revid"], out["parentid"] = r.ID, r.Parent
		case "timestamp":
			out["timestamp"] = stamp(r.Time)
		case "flags":
			out["minor"] = false
		case "user":
			if r.Hidden.User {
				out["userhidden"] = true
			}
			if !r.Hidden.User || c.sees(r) {
				out["user"] = r.User
			}
		case "comment":
			if r.Hidden.Summary {
				out["commenthidden"] = true
			}
			if !r.Hidden.Summary || c.sees(r) {
				out["comment"] = r.Summary
			}
		case "size":
			out["size"] = len(r.Text)
		case "content", "contentmodel":
			slot := object{"contentmodel": "wikitext"}
			if r.Hidden.Text {
				slot["texthidden"] = true
			}
			if c.wants("rvprop", "content") && (!r.Hidden.Text || c.sees(r)) {
				slot["contentformat"], slot["content"] = "text/x-wiki", r.Text
			}
			out["slots"] = object{"main": slot}
		}
	}
	if r.Hidden.any() && r.Hidden.Suppressed {
		out["suppressed"] = true
	}
	return out
}

// sees reports whether the caller may see the hidden parts of a revision.
func (c *call) sees(r *Revision) bool {
	return c.account != nil && slices.Contains(c.account.Groups, "sysop") && !r.Hidden.Suppressed
}

// contributions implements list=usercontribs, newest first.
func (c *call) contributions(q, answer object) *failure {
	limit, start, end, f := c.window("uc")
	if f != nil {
		return f
	}
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	from := int64(len(w.all))
	if v := c.get("uccontinue"); v != "" {
		_, id, _ := strings.Cut(v, "|")
		n, err := strconv.ParseInt(id, 10, 64)
		if err != nil {
			return fail("badcontinue", "Invalid continue param.")
		}
		from = min(from, n)
	}
	list := []object{}
	for id := from; id > 0; id-- {
		r := w.all[id-1]
		if r.User != upperFirst(strings.ReplaceAll(c.get("ucuser"), "_", " ")) || outside(r.Time, start, end, false) ||
			r.Hidden.User && !c.sees(r) {
			continue
		}
		if len(list) == limit {
			answer["continue"] = object{"uccontinue": r.Time.Format("20060102150405") + "|" + strconv.FormatInt(r.ID, 10),
				"continue": "-||"}
			delete(answer, "batchcomplete")
			break
		}
		ns, _, _ := split(r.Page)
		entry := object{"userid": 0, "user": r.User, "pageid": w.pages[r.Page][0].ID, "revid": r.ID, "parentid": r.Parent,
			"ns":    ns,
			"title": r.Page, "timestamp": stamp(r.Time), "comment": r.Summary, "size": len(r.Text), "new": r.Parent == 0,
			"minor": false,
			"top":   w.current(r.Page) == r}
		if r.Hidden.Summary {
			entry["commenthidden"] = true
			if !c.sees(r) {
				delete(entry, "comment")
			}
		}
		list = append(list, entry)
	}
	q["usercontribs"] = list
	return nil
}

// allPages implements list=allpages. It returns everything in one response, since this wiki is small.
func (c *call) allPages(q object) {
	ns, _ := strconv.Atoi(c.get("apnamespace"))
	w := c.h.wiki
	w.mu.Lock()
	defer w.mu.Unlock()
	list := []object{}
	for title, revs := range w.pages {
		n, _, _ := split(title)
		bare := title
		if _, rest, ok := strings.Cut(title, ":"); ok && n != 0 {
			bare = rest
		}
		if n == ns && strings.HasPrefix(bare, c.get("apprefix")) {
			list = append(list, object{"pageid": revs[0].ID, "ns": n, "title": title})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i]["title"].(string) < list[j]["title"].(string) })
	q["allpages"] = list
}
