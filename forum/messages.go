package forum

import (
	"embed"
	"io/fs"
	"sync"

	"golang.org/x/text/language"

	"github.com/spinachbot/spinachbot/internal/message"
)

// messageFiles contains the fixed sentences for replies, one file per language. Placeholder values are encoded before
// they are inserted.
//
//go:embed messages/*.json
var messageFiles embed.FS

// catalog parses messageFiles on first use, because parsing them takes as long as the rest of a command's startup. The
// files are embedded in the program, so an error is a bug; [Compose] returns it.
var catalog = sync.OnceValues(func() (*message.Catalog, error) {
	files, err := fs.Sub(messageFiles, "messages")
	if err != nil {
		return nil, err
	}
	return message.Load(files, language.English)
})

// Texts returns the fixed sentences, and the formats of numbers and dates, for the first supported language in the
// list. For "de-CH", it returns German. If no language in the list is supported, it returns English. It returns nil if
// the embedded files are invalid.
func Texts(languages ...string) *message.Texts {
	c, err := catalog()
	if err != nil {
		return nil
	}
	return c.In(languages...)
}

// noAnswers contains the valid values of [Reply.NoAnswer].
var noAnswers = map[string]bool{"no_model": true, "not_found": true, "actions": true, "time": true, "money": true,
	"failed": true}
