package phrase

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Words that refer to the first or second of two interpretations, in the languages of the replies.
const (
	firstOne = ` first former 1st erste ersten erstere ersteren erster erstes premier première premiere primero primera primo prima eerste
pierwsze pierwszy pierwsza primeiro primeira первое первый первая первые первом 最初 1つ目 一つ目 前者 第一 第一个 第一種 第一种 الأول الأولى `
	secondOne = ` second latter 2nd zweite zweiten letztere letzteren zweiter zweites deuxième deuxieme seconde segundo segunda secondo seconda
tweede laatste drugie drugi druga второе второй вторая вторые втором 2つ目 二つ目 後者 后者 第二 第二个 第二種 第二种 الثاني الثانية `
	// words that may reverse a choice: "not the first", "nicht die erste"
	denials = ` not no nor neither never don doesn didn isn wasn aren without except but nicht kein keine keinen weder nein sondern außer
pas non ni ne n sauf ninguno ninguna excepto sino né nessuno tranne não nem nenhum exceto niet geen noch nee nie ani poza не нет ни кроме
no ない ではなく じゃなく 不 非 ليس ليست لا غير `
)

// Choice returns the index of the interpretation, 0 or 1, that a post chooses. The post may name the interpretation by
// its result, as in "193", or by its position in the question, as in "the second". Choice returns -1 if the post names
// neither or both, contains a negation, or contains a 1 or 2 that could be a result or a position. In these cases, the
// model must interpret the post.
func Choice(post string, counts []int) int {
	if len(counts) != 2 {
		return -1
	}
	digits := func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}
	var named [2]bool
	post = strings.ToLower(readable(post))
	if denies(post) {
		return -1
	}
	for i, ordinals := range []string{firstOne, secondOne} {
		for _, w := range strings.Fields(ordinals) {
			named[i] = named[i] || strings.ContainsFunc(w, unspaced) && strings.Contains(post, w)
		}
	}
	for _, w := range strings.FieldsFunc(post, between) {
		w = strings.Trim(w, ".,")
		n, err := strconv.Atoi(strings.Map(digits, w))
		number := err == nil && strings.Trim(w, "0123456789.,") == ""
		if number && (n == 1 || n == 2) && counts[2-n] == n {
			return -1
		}
		for i, ordinals := range []string{firstOne, secondOne} {
			named[i] = named[i] || number && n == counts[i] ||
				w != "" && strings.Contains(" "+strings.Join(strings.Fields(ordinals), " ")+" ", " "+w+" ")
		}
	}
	switch named {
	case [2]bool{true, false}:
		return 0
	case [2]bool{false, true}:
		return 1
	}
	return -1
}

func denies(post string) bool {
	words := strings.FieldsFunc(post, func(r rune) bool { return between(r) || r == '.' || r == ',' })
	return slices.ContainsFunc(strings.Fields(denials), func(w string) bool {
		return slices.Contains(words, w) || strings.ContainsFunc(w, unspaced) && strings.Contains(post, w)
	})
}

// between reports whether r is not part of a word or a number.
func between(r rune) bool {
	return unspaced(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && r != '.' && r != ','
}

// unspaced reports whether r belongs to a script that does not separate words with spaces.
func unspaced(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }
