// Package adapter connects service clients to the interfaces of the packages that use them. It gives the bot and the
// harvest access to the wiki, and the harvest access to link shorteners and the model. It translates types and errors,
// and makes no decisions.
package adapter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spinachbot/spinachbot/dataset/harvest"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// Archive gives the harvest access to the wiki.
type Archive struct{ Client *mediawiki.Client }

// List returns the pages whose titles start with prefix.
func (a Archive) List(ctx context.Context, prefix string) ([]harvest.Listed, error) {
	pages, err := a.Client.List(ctx, prefix)
	out := make([]harvest.Listed, len(pages))
	for i, p := range pages {
		out[i] = harvest.Listed{Title: p.Title, Revision: p.RevID}
	}
	return out, err
}

// Wikitext reads a page's source. A page whose text was hidden from public view is treated as missing, because we must
// not keep the text. So is a page with a content model other than wikitext.
func (a Archive) Wikitext(ctx context.Context, title string) (harvest.Text, error) {
	p, err := a.Client.Page(ctx, title)
	var e *mediawiki.Error
	switch {
	case errors.As(err, &e) && (e.Code == "texthidden" || e.Code == "contentmodel"):
		return harvest.Text{}, fmt.Errorf("%w: %s", harvest.ErrNoPage, e.Info)
	case err != nil:
		return harvest.Text{}, err
	case p.Missing:
		return harvest.Text{}, harvest.ErrNoPage
	}
	return harvest.Text{Revision: p.RevID, Text: p.Text}, nil
}

// HTML reads a page as rendered by Parsoid. If the wiki cannot render it, for any reason, the harvest reads the
// wikitext instead.
func (a Archive) HTML(ctx context.Context, title string) (harvest.Text, error) {
	p, err := a.Client.HTML(ctx, title)
	kind, known := mediawiki.KindOf(err)
	switch {
	case ctx.Err() != nil:
		return harvest.Text{}, ctx.Err()
	case known && kind == mediawiki.Transient:
		return harvest.Text{}, fmt.Errorf("%w: %w", harvest.ErrNoHTMLNow, err)
	case err != nil:
		return harvest.Text{}, fmt.Errorf("%w: %w", harvest.ErrNoHTML, err)
	case !bytes.Contains(p.HTML, []byte("data-mw-section-id")):
		// Not all wikis return Parsoid's HTML (the sandbox wiki does not). Without its attributes, the reader would
		// have to guess.
		return harvest.Text{}, fmt.Errorf("%w: the HTML is not from Parsoid", harvest.ErrNoHTML)
	}
	return harvest.Text{Revision: p.RevID, Text: string(p.HTML)}, nil
}

// Advise returns a function that asks the model about one candidate and spends at most usd on it. The function returns
// [harvest.ErrNoAdvice] if later candidates would fail in the same way; the harvest then stops asking.
func Advise(model *llm.Client, usd float64) func(context.Context, string, string) (string, error) {
	return func(ctx context.Context, system, user string) (string, error) {
		ctx = llm.WithAllowance(ctx, llm.NewAllowance(llm.Limits{USD: usd}))
		resp, err := model.Complete(ctx, llm.Request{
			Purpose: "suggest", JSON: true, MaxTokens: 1500,
			Messages: []llm.Message{{Role: llm.System, Content: system}, {Role: llm.User, Content: user}},
		})
		var e *llm.Error
		var over *llm.BudgetError
		switch {
		case err == nil:
			return resp.Text(), nil
		case errors.As(err, &over) && over.Account == llm.RequestAccount: // a long candidate; the next one may be shorter
			return "", err
		case errors.Is(err, llm.ErrBudget), errors.Is(err, llm.ErrNoModel),
			errors.As(err, &e) && (e.Status == 0 || e.Status == http.StatusUnauthorized ||
				e.Status == http.StatusForbidden || e.Status == http.StatusNotFound):
			return "", fmt.Errorf("%w: %w", harvest.ErrNoAdvice, err)
		}
		return "", err
	}
}
