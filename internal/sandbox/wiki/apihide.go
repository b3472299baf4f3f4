package wiki

import (
	"errors"
	"slices"
	"strconv"
)

// revisionDelete implements action=revisiondelete, which hides or shows parts of revisions
// (https://www.mediawiki.org/wiki/API:Revisiondelete).
func (c *call) revisionDelete() (object, *failure) {
	if c.account == nil || !slices.Contains(c.account.Groups, "sysop") {
		return nil, fail("permissiondenied", "You don't have permission to delete and undelete specific revisions of pages.")
	}
	if c.get("type") != "revision" {
		return nil, fail("badvalue", `Unrecognized value for parameter "type": `+strconv.Quote(c.get("type"))+".")
	}
	if !c.has("ids") || !c.has("hide") && !c.has("show") && !c.has("suppress") {
		return nil, fail("missingparam", `The "ids" and "hide" parameters must be set.`)
	}
	items, status := []object{}, "Success"
	for _, id := range c.list("ids") {
		item := c.hide(id)
		if item["status"] != "Success" {
			status = "Fail"
		}
		items = append(items, item)
	}
	return object{"revisiondelete": object{"status": status, "target": c.get("target"), "items": items}}, nil
}

// hide changes which parts of one revision are hidden.
func (c *call) hide(id string) object {
	failed := func(code string) object {
		return object{"status": "Error", "id": id, "errors": []object{{"code": code, "type": "error"}}}
	}
	n, err := strconv.ParseInt(id, 10, 64)
	rev := c.h.wiki.byID(n)
	if err != nil || rev == nil {
		return failed("revdelete-modify-missing")
	}
	h := rev.Hidden
	set := func(flag *bool, name string) {
		*flag = (*flag || c.wants("hide", name)) && !c.wants("show", name)
	}
	set(&h.User, "user")
	set(&h.Summary, "comment")
	set(&h.Text, "content")
	switch c.get("suppress") {
	case "yes":
		h.Suppressed = true
	case "no":
		h.Suppressed = false
	}
	if err := c.h.wiki.Hide(n, h); errors.Is(err, errCurrent) {
		return failed(errCurrent.Error())
	} else if err != nil {
		return failed("internal_api_error")
	}
	return object{"status": "Success", "id": n, "userhidden": h.User, "commenthidden": h.Summary, "texthidden": h.Text}
}

// byID returns the revision with the given ID, or nil.
func (w *Wiki) byID(id int64) *Revision {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id < 1 || id > int64(len(w.all)) {
		return nil
	}
	return w.all[id-1]
}
