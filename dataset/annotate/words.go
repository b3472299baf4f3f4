package annotate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// wording is a question split into parts for comparison.
type wording struct {
	text    string   // in lowercase, without diacritics, with single spaces
	words   []string // words in text
	numbers []float64
}

func readWording(question string) *wording {
	w := &wording{text: fold(question)}
	w.words = wordsOf(w.text)
	w.numbers = numbersOf(w.text)
	return w
}

// fold converts text to lowercase without diacritics, with plain quotation marks and single spaces.
func fold(s string) string {
	var b strings.Builder
	for _, r := range norm.NFD.String(strings.ToLower(s)) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == '’' || r == '‘':
			b.WriteByte('\'')
		case r == '–' || r == '—' || r == '−':
			b.WriteByte('-')
		default:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func wordsOf(folded string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(folded, "'s ", " "),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// smallWords add nothing to a name's meaning.
var smallWords = map[string]bool{"of": true, "the": true, "a": true, "an": true, "in": true, "on": true, "for": true,
	"to": true, "and": true, "or": true, "by": true, "at": true,
	"with": true, "from": true, "is": true, "has": true, "have": true, "which": true, "this": true, "that": true,
	"as": true, "de": true, "la": true, "le": true, "s": true}

// has reports whether a word or another form of it is in the question. Two words are considered forms of the same word
// if only their endings differ, that is, if they share the first four letters and at least 60% of the longer word
// (country, countries; directed, director).
func (w *wording) has(word string) bool {
	return slices.ContainsFunc(w.words, func(x string) bool { return sameWord(x, word) })
}

func sameWord(a, b string) bool {
	if a == b || strings.TrimSuffix(stem(a), "e") == strings.TrimSuffix(stem(b), "e") {
		return true
	}
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n >= 4 && 10*n >= 6*max(len(a), len(b)) && !unicode.IsDigit(rune(a[0]))
}

// irregular contains plurals that cannot be recognized by their endings.
var irregular = map[string]string{"people": "person", "men": "man", "women": "woman", "children": "child",
	"wives": "wife", "lives": "life", "cities": "city", "media": "medium", "genera": "genus", "taxa": "taxon",
	"phyla": "phylum", "indices": "index", "mice": "mouse"}

// stem removes a plural or superlative ending.
func stem(w string) string {
	if s, ok := irregular[w]; ok {
		return s
	}
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "sses") ||
		strings.HasSuffix(w, "xes")):
		return w[:len(w)-2]
	case len(w) > 6 && strings.HasSuffix(w, "est"): // highest, longest
		return w[:len(w)-3]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us"):
		return w[:len(w)-1]
	}
	return w
}

// says reports whether the question contains a name: all of the name's words except smallWords, in any order, or three
// quarters of them if there are four or more.
func (w *wording) says(name string) bool {
	var content []string
	for _, x := range wordsOf(fold(name)) {
		if !smallWords[x] {
			content = append(content, x)
		}
	}
	if len(content) == 0 {
		return fold(name) != "" && w.phrase(fold(name))
	}
	found := 0
	for _, x := range content {
		if w.has(x) {
			found++
		}
	}
	if len(content) >= 4 {
		return 4*found >= 3*len(content)
	}
	return found == len(content)
}

func (w *wording) saysAny(names ...string) bool { return slices.ContainsFunc(names, w.says) }

// phrase reports whether the question contains a folded phrase as whole words.
func (w *wording) phrase(p string) bool {
	if p == "" {
		return true
	}
	for at := 0; ; {
		i := strings.Index(w.text[at:], p)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(p)
		if (i == 0 || !letterOrDigit(w.text[i-1]) || !letterOrDigit(p[0])) &&
			(end == len(w.text) || !letterOrDigit(w.text[end]) || !letterOrDigit(p[len(p)-1])) {
			return true
		}
		at = i + 1
	}
}

func letterOrDigit(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b >= 0x80 }

func (w *wording) phrases(ps []string) bool { return slices.ContainsFunc(ps, w.phrase) }

// number reports whether the question contains a number: in digits, in words, or in a unit a thousand times larger or
// smaller (8 km for 8000 m).
func (w *wording) number(n float64) bool {
	return slices.ContainsFunc(w.numbers, func(x float64) bool {
		return x == n || x == -n || x*1000 == n ||
			x == n*1000
	})
}

// year reports whether the question mentions a year: the year itself, its decade (the 1980s), or its century (the 19th
// century).
func (w *wording) year(y int) bool {
	if y < 0 {
		y = -y
	}
	century := (y + 99) / 100
	return w.number(float64(y)) || w.phrase(strconv.Itoa(y)+"s") || w.phrase(strconv.Itoa(y/10*10)+"s") ||
		slices.ContainsFunc([]int{century, century + 1}, func(c int) bool { return w.phrase(ordinal(c) + " century") })
}

func ordinal(n int) string {
	suffix := "th"
	switch {
	case n%100 >= 11 && n%100 <= 13:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return strconv.Itoa(n) + suffix
}

var numeral = map[string]float64{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
	"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12,
	"thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19,
	"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "once": 1, "twice": 2, "single": 1, "both": 2, "pair": 2,
	"half": 0.5, "dozen": 12}

var multiplier = map[string]float64{"hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "k": 1e3, "m": 1e6}

// digits matches a number written in digits, with optional digit grouping and decimals.
var digits = regexp.MustCompile(`\d{1,3}(?:[ ,']\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?`)

// numbersOf finds the numbers in a folded string. "1.5 million" yields both 1500000 and 1.5; "twenty-five" yields only
// 25.
func numbersOf(text string) []float64 {
	var out []float64
	for _, at := range digits.FindAllStringIndex(text, -1) {
		n, err := strconv.ParseFloat(strings.NewReplacer(",", "", " ", "", "'", "").Replace(text[at[0]:at[1]]), 64)
		if err != nil {
			continue
		}
		out = append(out, n)
		next, _, _ := strings.Cut(strings.TrimLeft(text[at[1]:], " -"), " ")
		if m, ok := multiplier[strings.TrimRight(next, ".,;?!s")]; ok {
			out = append(out, n*m)
		}
		for _, plain := range strings.FieldsFunc(text[at[0]:at[1]], func(r rune) bool { return r == ' ' || r == ',' }) {
			if p, err := strconv.ParseFloat(plain, 64); err == nil && p != n {
				out = append(out, p) // "in 2019, 300 of them": these are two numbers
			}
		}
	}
	sum, open := 0.0, false
	for _, w := range append(wordsOf(text), "") {
		switch n, isNumeral := numeral[w]; {
		case isNumeral && open && sum >= 20 && n < 10:
			sum += n
		case isNumeral:
			if open {
				out = append(out, sum)
			}
			sum, open = n, true
		case multiplier[w] > 0 && len(w) > 1:
			if !open {
				sum = 1
			}
			sum, open = sum*multiplier[w], true
		default:
			if open {
				out = append(out, sum)
			}
			sum, open = 0, false
		}
	}
	return out
}

// notSuperlative lists words that end like superlatives but are not superlatives.
var notSuperlative = map[string]bool{"west": true, "northwest": true, "southwest": true, "forest": true, "test": true,
	"request": true, "interest": true, "rest": true, "guest": true, "quest": true,
	"harvest": true, "conquest": true, "protest": true, "contest": true, "chest": true, "nest": true, "priest": true,
	"arrest": true, "digest": true, "midwest": true}

// superlative reports whether the question contains a word such as highest, most, first, or last.
func (w *wording) superlative() bool {
	return slices.ContainsFunc(w.words, func(x string) bool {
		return strings.HasSuffix(x, "est") && len(x) > 4 && !notSuperlative[x] ||
			slices.Contains([]string{"most", "least", "best", "worst", "first", "last", "top", "maximum", "minimum",
				"max", "min", "record"}, x)
	})
}
