package reply

import (
	"strings"
	"unicode/utf8"
)

// ended adds a period to a text that the model wrote, unless the text ends with punctuation, because the surrounding
// lines are sentences.
func ended(s, language string) string {
	s = strings.TrimSpace(s)
	if last, _ := utf8.DecodeLastRuneInString(s); s == "" || strings.ContainsRune(".!?…:;。！？؟", last) {
		return s
	}
	if language == "ja" || language == "zh" {
		return s + "。"
	}
	return s + "."
}
