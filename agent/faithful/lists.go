package faithful

import (
	"embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

//go:embed words/*.txt words/numbers.json
var wordFiles embed.FS

// numberWords are the words for numbers from two up, by language.
var numberWords = readNumbers()

func readNumbers() map[string]map[string]int {
	out := map[string]map[string]int{}
	b, err := wordFiles.ReadFile("words/numbers.json")
	if err != nil || json.Unmarshal(b, &out) != nil {
		return nil // a test checks that there is no error
	}
	return out
}

// wordList contains a language's plain words, which make no claim about the world. A line such as "height elevation:
// high highest" adds the words after the colon if one of the words before it is known.
type wordList struct {
	words map[string]bool
	lines []conditional
}

type conditional struct{ when, words []string }

// wordLists caches the lists, since a list is much longer than the text that is compared with it.
var wordLists sync.Map // *wordList by language

func wordListOf(language string) *wordList {
	if l, ok := wordLists.Load(language); ok {
		return l.(*wordList)
	}
	b, err := wordFiles.ReadFile("words/" + language + ".txt")
	if err != nil {
		return nil
	}
	l := &wordList{words: map[string]bool{}}
	for line := range strings.Lines(string(b)) {
		before, after, found := strings.Cut(line, ":")
		if found {
			c := conditional{when: strings.Fields(before)}
			for _, w := range strings.Fields(after) {
				c.words = append(c.words, fold(w))
			}
			l.lines = append(l.lines, c)
			continue
		}
		for _, w := range strings.Fields(before) {
			l.words[fold(w)] = true
		}
	}
	wordLists.Store(language, l)
	return l
}

// stock is a word list whose conditions have been evaluated for the known words.
type stock struct {
	list    *wordList       // nil if the language has none
	endings []string        // see inflections
	more    map[string]bool // the words from conditional lines whose condition is met
}

// stockOf returns a language's plain words.
func stockOf(language string, known vocabulary) stock {
	s := stock{list: wordListOf(language), endings: inflections[language]}
	if s.list == nil {
		return s
	}
	stems := arabicWords{}
	for w := range known {
		if language == "ar" && len([]rune(w)) >= minArabic {
			stems.add(w)
		}
	}
	for _, line := range s.list.lines {
		if !slices.ContainsFunc(line.when, func(w string) bool { return known[w] || stems[arabicLetters.Replace(w)] }) {
			continue
		}
		if s.more == nil {
			s.more = map[string]bool{}
		}
		for _, w := range line.words {
			s.more[w] = true
		}
	}
	return s
}

// inflections contains the endings that a plain word may have and still be plain.
var inflections = map[string][]string{"en": {"s", "es", "ly"}, "de": {"e", "en", "er", "es", "em", "n", "s"},
	"fr": {"s", "e", "es", "x", "ment"}}

// has reports whether a word is in the list or, if the word is long enough, whether a form with another ending is.
func (s stock) has(word string) bool {
	if s.list == nil {
		return false
	}
	if s.list.words[word] || s.more[word] {
		return true
	}
	for _, ending := range s.endings {
		stem, ok := strings.CutSuffix(word, ending)
		if ok && len(stem) > minStem && (s.list.words[stem] || s.more[stem]) {
			return true
		}
		if len(word) > minStem && (s.list.words[word+ending] || s.more[word+ending]) {
			return true
		}
	}
	return false
}
