package reply

import (
	"strings"
	"unicode/utf8"
)

// ended returns what the model assumed or left open with a period, if it has none: the lines around it are sentences.
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
