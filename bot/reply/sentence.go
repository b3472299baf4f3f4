package reply

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ended adds a period to text that the model wrote, unless it ends with punctuation, because the surrounding lines are
// sentences.
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

// wideMarks maps punctuation to the forms used in Chinese and Japanese text.
var wideMarks = map[rune]rune{',': '，', ';': '；', ':': '：', '?': '？', '!': '！', '(': '（', ')': '）'}

// wide returns text with the punctuation next to Chinese or Japanese characters in the form used in those languages.
func wide(s, language string) string {
	if language != "zh" && language != "ja" {
		return s
	}
	letters, open := []rune(s), 0 // open is the number of parentheses that were replaced but not closed yet
	cjk := func(i int) bool {
		return i >= 0 && i < len(letters) && (unicode.In(letters[i], unicode.Han, unicode.Hiragana, unicode.Katakana) ||
			strings.ContainsRune("”」』》）", letters[i]))
	}
	for i, r := range letters {
		mark := wideMarks[r]
		if language == "ja" && r == ',' {
			mark = '、'
		}
		switch {
		case mark == 0 || r == ')' && open == 0 || r == '(' && !cjk(i-1):
			continue
		case r == '(':
			open++
		case r == ')':
			open--
		case !cjk(i-1) && !cjk(i+1):
			continue
		}
		letters[i] = mark
	}
	return string(letters)
}
