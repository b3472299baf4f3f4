// Package setup drafts the pages that a bot's operator creates on the wiki before the bot may run: the account's user
// page, the bot approval request, the stop page, and the list of people who do not want replies.
//
// The drafts are files that the operator reads, changes and pastes into the wiki. The bot itself writes only approved
// replies.
package setup

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/spinachbot/spinachbot/forum"
)

//go:embed pages
var files embed.FS

// About contains the information for the pages. Empty strings are omitted, or marked for the operator to fill in.
type About struct {
	Account, Operator    string // user names
	Forum                string // titles of the forum pages
	StopPage, OptOutPage string
	DigestPage           string // page for the bot's daily report
	TracePage            string // title prefix of the pages with the steps behind its replies
	Corrects             bool   // whether the bot corrects its own replies within minutes
	Confident            bool   // whether low-confidence answers are withheld
	Mentions             bool   // whether the bot also answers where it is mentioned
	Model, Server        string // the language model and the host that serves it
	Endpoint             string // host of the query service
	Posting              string // off, propose or on
	PerHour, FollowUps   int
	Contact              string
	Version              string
}

// Draft is a page for the operator to paste.
type Draft struct {
	File  string // its name
	Title string // title of the page on the wiki
	Text  string // wikitext
}

// Drafts returns the pages.
func Drafts(a About) ([]Draft, error) {
	switch {
	case a.Account == "":
		return nil, errors.New("set WIKI_USER: the pages must name the bot's account")
	case a.Operator == "":
		return nil, errors.New("set OPERATOR: the pages must say who runs the bot")
	}
	for _, name := range []string{a.Account, a.Operator} {
		if err := forum.CheckUserName(name); err != nil {
			return nil, err
		}
	}
	if a.OptOutPage == "" {
		a.OptOutPage = "User:" + a.Account + "/opt-out"
	}
	pages := []Draft{{File: "user-page", Title: "User:" + a.Account},
		{File: "bot-request", Title: "Wikidata:Requests for permissions/Bot/" + a.Account},
		{File: "stop-page", Title: a.StopPage}, {File: "opt-out", Title: a.OptOutPage}}
	if a.DigestPage != "" {
		pages = append(pages, Draft{File: "digest", Title: a.DigestPage})
	}
	if a.TracePage != "" {
		pages = append(pages, Draft{File: "traces", Title: a.TracePage})
	}
	for i := range pages {
		// the values of settings are shown as plain text, not interpreted as wikitext
		t, err := template.New("").Funcs(template.FuncMap{"plain": func(s string) string { return forum.Plain(s, 200) }}).
			ParseFS(files, "pages/"+pages[i].File+".wikitext")
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		if err := t.ExecuteTemplate(&b, pages[i].File+".wikitext", a); err != nil {
			return nil, err
		}
		pages[i].File += ".wikitext"
		pages[i].Text = b.String()
	}
	return pages, nil
}

// Write creates a folder with the drafts. It does not overwrite anything, because existing drafts may have been edited.
func Write(dir string, drafts []Draft) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, d := range drafts {
		name := filepath.Join(dir, d.File)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s already exists: move it away, or specify a different folder", name)
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString(d.Text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
