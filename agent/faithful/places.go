package faithful

import (
	"regexp"
	"slices"
	"strings"
)

var yearWord = regexp.MustCompile(`^(1[0-9]|20)\d\d$`)

// places contains words before a position in a ranking, as in "place four" or "auf Platz vier".
var places = wordMap(`place rank position number no platz rang position stelle place rang puesto lugar posición posto posizione
	lugar posição plaats plek miejsce miejscu место месте المرتبة المركز`)

// placed reports whether the token at i is the rank of a name in the sentence, by the order of the rows or by one of
// the result's numbers.
func (c *Checker) placed(toks []token, named []found, i int) bool {
	if i == 0 || !places[toks[i-1].folded] {
		return false
	}
	return slices.ContainsFunc(c.numbers(toks[i]), func(n number) bool {
		place := int(n.value)
		if place < 1 || float64(place) != n.value {
			return false
		}
		return slices.ContainsFunc(c.orders(leading, nil), func(order []ranked) bool {
			return place <= len(order) && slices.ContainsFunc(named, func(f found) bool {
				return f.head && at(order, f.rows, place)
			})
		})
	})
}

// inNames reports whether the token at i is a year that also occurs in a name in the result, such as 2020 in "the races
// of 2020" if a row contains "2020 Abu Dhabi Grand Prix".
func (c *Checker) inNames(toks []token, i int) bool {
	year := toks[i].folded
	return yearWord.MatchString(year) && slices.ContainsFunc(c.names, func(n rowName) bool {
		return len(n.words) > 1 && slices.Contains(n.words, year)
	})
}

// inLabel reports whether the token at i is a figure in an entity's label, such as the 600 in 600 Vega, and the word
// before or after it is the same as in the label.
func (c *Checker) inLabel(toks []token, i int) bool {
	same := func(j int, words []string, k int) bool {
		return j >= 0 && j < len(toks) && k >= 0 && k < len(words) && toks[j].folded == words[k] &&
			(j == i || c.distinctive(toks[j]))
	}
	return slices.ContainsFunc(c.figured, func(words []string) bool {
		for k := range words {
			if same(i, words, k) && (same(i-1, words, k-1) || same(i+1, words, k+1)) {
				return true
			}
		}
		return false
	})
}

// addFigured adds a label to those that contain figures, if it contains any.
func (c *Checker) addFigured(label string) {
	if !strings.ContainsAny(label, "0123456789") {
		return
	}
	var words []string
	for _, t := range tokens(label) {
		words = append(words, t.folded)
	}
	c.figured = append(c.figured, words)
}

// distinctive reports whether a word next to a figure shows that the figure is part of a label, unlike the article in
// "The 400 Blows".
func (c *Checker) distinctive(t token) bool {
	return (startsUpper(t.text) || unicase(t.text) || t.figure) && !articles[t.folded] && !c.stock.has(t.folded)
}
