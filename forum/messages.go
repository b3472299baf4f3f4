package forum

import (
	"embed"
	"io/fs"

	"golang.org/x/text/language"

	"github.com/spinachbot/spinachbot/internal/message"
)

// messageFiles are the fixed sentences of a reply, a file per language. Values for placeholders are encoded first.
//
//go:embed messages/*.json
var messageFiles embed.FS

// catalog holds them. They are embedded in the program, so an error is a bug; [Compose] returns it.
var catalog, errCatalog = loadCatalog()

func loadCatalog() (*message.Catalog, error) {
	files, err := fs.Sub(messageFiles, "messages")
	if err != nil {
		return nil, err
	}
	return message.Load(files, language.English)
}

// Texts returns the fixed sentences, numbers and dates of the first known language in the list: "de-CH" gets German. If
// none is known, it is English. It is nil if the program's own files are broken.
func Texts(languages ...string) *message.Texts {
	if catalog == nil {
		return nil
	}
	return catalog.In(languages...)
}

// noAnswers are the keys that [Reply.NoAnswer] may have.
var noAnswers = map[string]bool{"no_model": true, "not_found": true, "actions": true, "time": true, "money": true,
	"failed": true}
