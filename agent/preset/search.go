package preset

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Search contains the parameters of a tree search. The defaults are those in the MCTS-KBQA paper (section 4.2, table
// 11).
type Search struct {
	Samples     int     `json:"n"`           // number of next actions sampled per expansion
	Answers     int     `json:"k"`           // number of branches with an answer after which the search ends
	Simulations int     `json:"simulations"` // maximum number of expansions
	Depth       int     `json:"depth"`       // maximum number of actions in a branch, including the end
	Judgments   int     `json:"judgments"`   // number of judgments per new state
	Explore     float64 `json:"c"`           // UCT's exploration weight; √2 in the paper
	Decay       float64 `json:"decay"`       // fraction of the reward lost for each action beyond Expected
	Expected    int     `json:"expected"`    // expected number of actions in a branch
	Temperature float64 `json:"temperature"` // temperature of samples
	Judging     float64 `json:"judging"`     // temperature of judgments
	Parallel    int     `json:"parallel"`    // number of samples run, or states judged, in parallel
	Seed        uint64  `json:"seed"`        // seed of random scores
	Calls       int     `json:"calls"`       // maximum number of calls to the model in the whole run; no limit if 0
}

// The expected depths from the paper, for questions about Freebase and about KQA Pro's part of Wikidata.
const (
	expectedDepth    = 5
	expectedDepthKQA = 7
)

// usualSearch returns the parameters from the paper.
func usualSearch() Search {
	return Search{Samples: 5, Answers: 5, Simulations: 50, Depth: 12, Judgments: 10, Explore: 1.4142135623730951,
		Decay: 0.1, Expected: expectedDepth, Temperature: 1, Judging: 0.7, Parallel: 5}
}

// searchKeys lists the parameters in the order in which they are explained.
var searchKeys = []string{"n", "k", "simulations", "depth", "judgments", "c", "decay", "expected", "temperature",
	"judging", "parallel", "seed", "calls"}

// With returns the parameters with the changes specified by text, such as "n=2,k=2". The error is suitable for display.
func (s Search) With(text string) (Search, error) {
	var seen []string
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !slices.Contains(searchKeys, key):
			return s, fmt.Errorf("there is no parameter %q; the parameters are %s", key, strings.Join(searchKeys, ", "))
		case slices.Contains(seen, key):
			return s, fmt.Errorf("%s is set twice", key)
		case !json.Valid([]byte(value)) || json.Unmarshal([]byte(`{"`+key+`":`+value+`}`), &s) != nil:
			return s, fmt.Errorf("%s is %q; want a number, such as %s=2", key, value, key)
		}
		seen = append(seen, key)
	}
	return s, s.check()
}

// check returns an error that lists invalid values, or nil if there are none.
func (s Search) check() error {
	var wrong []error
	for _, n := range []struct {
		name string
		n    int
		most int
	}{{"n", s.Samples, 100}, {"k", s.Answers, 1000}, {"simulations", s.Simulations, 10_000}, {"depth", s.Depth, 100},
		{"judgments", s.Judgments, 100}, {"parallel", s.Parallel, 100}} {
		if n.n < 1 || n.n > n.most {
			wrong = append(wrong, fmt.Errorf("%q is %d; it must be from 1 to %d", n.name, n.n, n.most))
		}
	}
	if s.Calls < 0 {
		wrong = append(wrong, fmt.Errorf(`"calls" is %d; it must be 0 or more`, s.Calls))
	}
	if s.Explore < 0 || s.Expected < 0 || s.Temperature < 0 || s.Judging < 0 {
		wrong = append(wrong, errors.New(`"c", "expected", "temperature" or "judging" is below 0`))
	}
	if s.Decay < 0 || s.Decay > 1 {
		wrong = append(wrong, fmt.Errorf(`"decay" is %g; it must be from 0 to 1`, s.Decay))
	}
	return errors.Join(wrong...)
}

// String returns the parameters in the form that [Search.With] parses.
func (s Search) String() string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: all fields are numbers
	}
	return strings.NewReplacer("{", "", "}", "", `"`, "", ":", "=").Replace(string(b))
}
