package adapter

import (
	"errors"
	"testing"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
)

// A rejection by the wiki is treated as a rejected edit only if an edit was being saved. An entry whose page could not
// be read is not abandoned.
func TestRefusedAsAnEdit(t *testing.T) {
	err := error(&mediawiki.Error{Op: "read", Kind: mediawiki.Refused, Code: "answer"})
	if got := botError(err); errors.Is(got, bot.ErrRefused) || !errors.Is(got, err) {
		t.Errorf("a read: %v", got)
	}
	if got := saveError(err); !errors.Is(got, bot.ErrRefused) {
		t.Errorf("a save: %v", got)
	}
	later := saveError(&mediawiki.Error{Op: "save", Kind: mediawiki.Transient, Code: "maxlag"})
	if !errors.Is(later, bot.ErrNotSaved) || errors.Is(later, bot.ErrRefused) {
		t.Errorf("lag: %v", later)
	}
}
