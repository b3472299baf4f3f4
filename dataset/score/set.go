package score

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/rdf/equal"
)

// SetScore contains the set measures of Interactive-KBQA and MCTS-KBQA for one question. All values are between 0 and
// 1.
type SetScore struct {
	Undefined             string // reason that there is no score, or ""
	Precision, Recall, F1 float64
	// RHits1 is the probability that an answer drawn at random from the predicted answers is correct. The papers estimate
	// it from a hundred draws; this is the exact value.
	RHits1 float64
	// Hits1, Hits5 and Hits10 report whether one of the first 1, 5 or 10 predicted answers is right.
	Hits1, Hits5, Hits10 bool
	// Hit is the measure that ComplexWebQuestions calls exact match: whether any predicted answer equals any gold
	// answer or alias, ignoring case, punctuation and articles.
	Hit bool
	// Acc is the accuracy on KQA Pro as the paper defines it: whether the sets are equal. AccFirst is the accuracy as
	// KQA Pro's code computes it: whether the alphabetically first answers are equal, apart from number and date
	// notation.
	Acc, AccFirst bool
}

// Sets compares lists of answers. aliases are other names for gold answers; only Hit accepts them. The order of
// predicted matters; duplicates are dropped.
func Sets(gold, predicted, aliases []string) SetScore {
	g, p := unique(gold), unique(predicted)
	var s SetScore
	isGold := map[string]bool{}
	for _, a := range g {
		isGold[a] = true
	}
	right := 0
	for i, a := range p {
		if !isGold[a] {
			continue
		}
		right++
		s.Hits1 = s.Hits1 || i < 1
		s.Hits5 = s.Hits5 || i < 5
		s.Hits10 = s.Hits10 || i < 10
	}
	switch {
	case len(g) == 0 && len(p) == 0:
		s.Precision, s.Recall, s.F1 = 1, 1, 1
	case len(g) == 0:
		s.Recall = 1
	case len(p) == 0:
		s.Precision = 1
	default:
		s.Precision, s.Recall = float64(right)/float64(len(p)), float64(right)/float64(len(g))
		if right > 0 {
			s.F1 = 2 * s.Precision * s.Recall / (s.Precision + s.Recall)
		}
		s.RHits1 = s.Precision
	}
	s.Acc = right == len(g) && right == len(p)
	names := map[string]bool{}
	for _, a := range append(slices.Clone(g), aliases...) {
		names[plainName(a)] = true
	}
	for _, a := range p {
		s.Hit = s.Hit || names[plainName(a)]
	}
	slices.Sort(g)
	slices.Sort(p)
	s.AccFirst = len(g) > 0 && len(p) > 0 && sameValue(g[0], p[0])
	return s
}

func unique(list []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, a := range list {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}

// KBQA compares two answers by their lists of values; see [Values]. If the gold answer is empty, an empty prediction
// scores 1.
func KBQA(gold, pred *Answer, aliases []string) SetScore {
	if gold == nil || gold.Kind == None {
		return SetScore{Undefined: NoGold}
	}
	if pred == nil {
		pred = &Answer{}
	}
	return Sets(Values(gold), Values(pred), aliases)
}

// Values returns an answer as a list: the values of its first column that is not a label column, in row order,
// without duplicates, languages or datatypes. For a boolean answer, the list contains true or false.
func Values(a *Answer) []string {
	switch a.Kind {
	case Boolean:
		return []string{strconv.FormatBool(a.Bool)}
	case None:
		return nil
	}
	col := slices.IndexFunc(a.Vars, func(v string) bool { return !IsLabel(v) })
	if col < 0 {
		col = 0
	}
	var out []string
	seen := map[int32]bool{}
	for j, t := range a.Rows.Tokens {
		if a.Columns[j] == int32(col) && !seen[t] {
			seen[t] = true
			out = append(out, a.Dict.Cell(t).Value)
		}
	}
	return unique(out)
}

// plainName returns a name in lower case, without punctuation or articles.
func plainName(s string) string {
	s = strings.Map(func(r rune) rune {
		if strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
	words := strings.Fields(s)
	words = slices.DeleteFunc(words, func(w string) bool { return w == "a" || w == "an" || w == "the" })
	return strings.Join(words, " ")
}

// sameValue compares two answers as KQA Pro's code does: underscores equal spaces, 100.0 m equals 100 m, and dates are
// compared by year and, if both have them, by month and day.
func sameValue(a, b string) bool {
	a, b = strings.ReplaceAll(a, "_", " "), strings.ReplaceAll(b, "_", " ")
	if a == b {
		return true
	}
	if x, rest, ok := quantity(a); ok {
		if y, rest2, ok := quantity(b); ok && rest == rest2 && x == y {
			return true
		}
	}
	dateA, yearA := calendar(a)
	dateB, yearB := calendar(b)
	if yearA == "" || yearA != yearB {
		return false
	}
	return dateA == "" || dateB == "" || dateA == dateB
}

// quantity splits a quantity into its number and unit.
func quantity(s string) (n float64, unit string, ok bool) {
	num, unit, _ := strings.Cut(s, " ")
	n, err := strconv.ParseFloat(num, 64)
	return n, unit, err == nil
}

// calendar splits a date into its year and its month and day, if any. It returns empty strings for anything but a date.
func calendar(s string) (day, year string) {
	m := equal.Date.FindStringSubmatch(s)
	if m == nil {
		return "", ""
	}
	if m[2] != "" {
		day = m[2] + "-" + m[3]
	}
	return day, strings.TrimLeft(strings.TrimPrefix(m[1], "+"), "0")
}
