package wiki

import (
	"crypto/md5"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

var sectionNumber = regexp.MustCompile(`^(?:\d+|new)?$`)

// edit implements action=edit (https://www.mediawiki.org/wiki/API:Edit) for registered users.
func (c *call) edit() (object, *failure) {
	if c.account == nil {
		return nil, fail("permissiondenied", "You don't have permission to edit this page without logging in.")
	}
	e, f := c.change()
	if f != nil {
		return nil, f
	}
	before := c.h.wiki.Page(e.title)
	rev, err := c.h.wiki.save(e)
	switch {
	case errors.Is(err, errInvalidTitle):
		return nil, fail("invalidtitle", `Bad title "`+e.title+`".`)
	case errors.Is(err, errNoSection):
		return nil, fail("nosuchsection", "There is no section "+e.section+".")
	case errors.Is(err, errMissing):
		return nil, fail("missingtitle", "The page you specified doesn't exist.")
	case errors.Is(err, errExists):
		return nil, fail("articleexists", "The article you tried to create has been created already.")
	case errors.Is(err, errConflict):
		return nil, fail("editconflict", "Edit conflict: "+e.title+".")
	case err != nil:
		c.h.wiki.lg.Error("sandbox wiki: edit failed", "err", err)
		return nil, fail("internal_api_error_DBQueryError", "The edit could not be saved.")
	}
	title, _ := normalize(e.title)
	out := object{"result": "Success", "title": title, "contentmodel": "wikitext"}
	if rev == nil {
		out["nochange"] = true
		if before != nil {
			out["pageid"] = c.h.wiki.History(title)[0].ID
		}
		return object{"edit": out}, nil
	}
	out["pageid"], out["oldrevid"], out["newrevid"], out["newtimestamp"] = c.h.wiki.History(title)[0].ID, rev.Parent,
		rev.ID, stamp(rev.Time)
	if rev.Parent == 0 {
		out["new"] = true
	}
	return object{"edit": out}, nil
}

// change parses the parameters of an edit.
func (c *call) change() (change, *failure) {
	e := change{title: c.get("title"), section: c.get("section"), heading: c.get("sectiontitle"), text: c.get("text"),
		user:    c.name(),
		summary: c.get("summary"), create: !c.has("nocreate"), only: c.has("createonly")}
	e.bot = c.has("bot") && slices.Contains(c.account.Groups, "bot")
	switch {
	case e.title == "":
		return e, fail("missingparam", `One of the parameters "title" and "pageid" is required.`)
	case !c.has("text"):
		return e, fail("notext", `One of the parameters "text", "appendtext", "prependtext" and "undo" is required.`)
	case !sectionNumber.MatchString(e.section):
		return e, fail("invalidsection", `The "section" parameter must be a valid section ID or "new".`)
	case len(e.text) > maxPage:
		return e, fail("contenttoobig", "The content you supplied exceeds the article size limit of 2048 kilobytes.")
	case !utf8.ValidString(e.text):
		e.text = strings.ToValidUTF8(e.text, "\uFFFD")
	}
	if sum := c.get("md5"); sum != "" {
		if got := md5.Sum([]byte(e.text)); hex.EncodeToString(got[:]) != sum {
			return e, fail("badmd5", "The supplied MD5 hash was incorrect.")
		}
	}
	if v := c.get("baserevid"); v != "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			return e, fail("badinteger", `Invalid value "`+v+`" for integer parameter "baserevid".`)
		}
		e.base = n
	}
	if v := c.get("starttimestamp"); v != "" {
		if _, err := parseTime(v); err != nil {
			return e, fail("badtimestamp_starttimestamp", `Invalid value "`+v+`" for timestamp parameter "starttimestamp".`)
		}
	}
	if e.section == "new" {
		e.base = 0
		if e.summary == "" && e.heading != "" {
			e.summary = "/* " + e.heading + " */ new section"
		}
	}
	return e, nil
}
