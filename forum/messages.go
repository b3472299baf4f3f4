package forum

import (
	"embed"
	"io/fs"

	"golang.org/x/text/language"

	"github.com/spinachbot/spinachbot/internal/message"
)

// messageFiles are the fixed sentences of a reply, a file per language. What is put into a placeholder is encoded
// before.
//
//go:embed messages/*.json
var messageFiles embed.FS

// catalog holds them. They are part of the program, so an error is a fault of the program; [Compose] returns it.
var catalog, errCatalog = loadCatalog()

func loadCatalog() (*message.Catalog, error) {
	files, err := fs.Sub(messageFiles, "messages")
	if err != nil {
		return nil, err
	}
	return message.Load(files, language.English)
}

// Texts are the fixed sentences, numbers and dates of the first of the languages that is known: "de-CH" gets German. Of
// none it is English. It is nil where the program's own files are broken.
func Texts(languages ...string) *message.Texts {
	if catalog == nil {
		return nil
	}
	return catalog.In(languages...)
}

// noAnswers are the keys that [Reply.NoAnswer] may have.
var noAnswers = map[string]bool{"no_model": true, "not_found": true, "actions": true, "time": true, "money": true,
	"failed": true}
