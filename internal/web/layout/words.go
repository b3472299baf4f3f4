package layout

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"golang.org/x/text/language"

	"github.com/spinachbot/spinachbot/internal/message"
)

// words contains the messages of all sections in each language.
type words struct {
	catalogs []*message.Catalog
	raw      map[string]map[string]any // for scripts: a string, or an object of plural forms
}

func newWords() *words { return &words{raw: map[string]map[string]any{}} }

// add reads a folder of messages. It panics if the folder is incomplete, since the messages are part of the program.
func (m *words) add(files fs.FS) {
	c, err := message.Load(files, language.English)
	if err != nil {
		panic("layout: " + err.Error())
	}
	m.catalogs = append(m.catalogs, c)
	for _, l := range Languages {
		b, err := fs.ReadFile(files, l.Code+".json")
		if err != nil {
			panic("layout: the messages of a page: " + err.Error())
		}
		all := m.raw[l.Code]
		if all == nil {
			all = map[string]any{}
			m.raw[l.Code] = all
		}
		if err := json.Unmarshal(b, &all); err != nil {
			panic("layout: " + l.Code + ".json: " + err.Error())
		}
	}
}

func (m *words) text(lang, key string, args []any) string {
	for _, c := range m.catalogs {
		if t := c.In(lang); t.Has(key) {
			return t.Text(key, args...)
		}
	}
	return key
}

// texts returns the frame's messages in the given language, including the formats of numbers and dates.
func (m *words) texts(lang string) *message.Texts { return m.catalogs[0].In(lang) }

func (m *words) some(lang string, prefixes []string) map[string]any {
	out := map[string]any{}
	for k, v := range m.raw[lang] {
		for _, p := range prefixes {
			if strings.HasPrefix(k, p) {
				out[k] = v
			}
		}
	}
	return out
}

// Texts returns the messages that format numbers and dates in a request's language.
func (s *Site) Texts(r *http.Request) *message.Texts { return s.words.texts(LanguageOf(r)) }
