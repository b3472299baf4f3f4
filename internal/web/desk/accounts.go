package desk

import (
	"errors"
	"net/http"

	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

func (d *Desk) accounts(w http.ResponseWriter, r *http.Request) error {
	return d.showAccounts(w, r, http.StatusOK, "", "", "")
}

// showAccounts shows the accounts and, only once, a newly created token.
func (d *Desk) showAccounts(w http.ResponseWriter, r *http.Request, status int, name, token, problem string) error {
	all, err := d.Door.Accounts(r.Context())
	if err != nil {
		return err
	}
	d.show(w, r, status, "accounts", layout.Page{Title: d.Site.Say(r, "desk.accounts"), Section: "operator",
		Styles: []string{"desk/desk.css"}, Data: map[string]any{"Tab": "accounts", "Accounts": all, "Name": name,
			"Token": token, "Problem": problem}})
	return nil
}

// changeAccounts adds or removes an account, or creates a new token for it.
func (d *Desk) changeAccounts(w http.ResponseWriter, r *http.Request) error {
	name, err := annotate.CleanName(r.PostForm.Get("name"))
	token := ""
	if err == nil {
		switch do := r.PostForm.Get("do"); do {
		case "add":
			token, err = d.Door.Add(r.Context(), name)
		case "renew":
			token, err = d.Door.Renew(r.Context(), name)
		case "remove":
			err = d.Door.Remove(r.Context(), name)
		default:
			return badForm{errors.New("unknown account action")}
		}
	}
	if err != nil {
		var refused annotate.Refusal
		if errors.As(err, &refused) {
			err = refusal{err}
		}
		status, words := d.explain(r, err)
		return d.showAccounts(w, r, status, "", "", words)
	}
	d.Log.Info("the operator changed an account", "do", r.PostForm.Get("do"), "account", name, "by", by(r))
	return d.showAccounts(w, r, http.StatusOK, name, token, "")
}
