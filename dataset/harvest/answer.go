package harvest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/text"
)

var entityNumber = regexp.MustCompile(`\b[QPL][1-9]\d*\b`)

// maxBraces is the maximum number of opening braces in a response at which the parser tries to find a JSON object.
const maxBraces = 64

// ParseSuggestion parses and checks the model's response: both questions must be present, must not be queries, and must
// not contain IDs; the verdict must be one of the three and have a reason; the strings to disambiguate must be short.
// Text around the JSON object is ignored, even if it contains braces. The error describes what is wrong with the
// response.
func ParseSuggestion(said string, c *dataset.Candidate) (*dataset.Suggestion, error) {
	a, err := findAnswer(said)
	if err != nil {
		return nil, err
	}
	s := dataset.Suggestion{Precise: a.Precise, Natural: a.Natural,
		Verdict: dataset.Verdict(strings.ToLower(strings.TrimSpace(a.Verdict)))}
	for _, q := range []*string{&s.Precise, &s.Natural} {
		*q = strings.Join(strings.Fields(printable(*q)), " ")
		switch {
		case len(*q) < 10 || len([]rune(*q)) > maxVerbal:
			return nil, fmt.Errorf("a question has %d bytes", len(*q))
		case strings.Contains(*q, "wdt:") || strings.Contains(strings.ToUpper(*q), "SELECT ?") || strings.ContainsAny(*q,
			"{}"):
			return nil, errors.New("a question contains SPARQL")
		}
		for _, id := range entityNumber.FindAllString(*q, -1) {
			if slices.Contains(c.Entities, id) || slices.Contains(c.Properties, id) {
				return nil, fmt.Errorf("a question names %s", id)
			}
		}
	}
	if !slices.Contains([]dataset.Verdict{dataset.Include, dataset.Modify, dataset.Exclude}, s.Verdict) {
		return nil, fmt.Errorf("the verdict is %q, not include, modify or exclude",
			text.Clip(printable(string(s.Verdict)), 40))
	}
	s.Reasons, s.Disambiguate = short(a.Reasons, 5), short(a.Disambiguate, 10)
	if len(s.Reasons) == 0 {
		return nil, errors.New("the verdict has no reason")
	}
	return &s, nil
}

// answer is the JSON object requested from the model.
type answer struct {
	Precise      string `json:"precise"`
	Natural      string `json:"natural"`
	Verdict      string `json:"verdict"`
	Reasons      texts  `json:"reasons"`
	Disambiguate texts  `json:"disambiguate"`
}

// findAnswer returns the first JSON object in a string that has at least one of the questions.
func findAnswer(text string) (*answer, error) {
	err := errors.New("the answer contains no JSON object")
	for n, at := 0, 0; n < maxBraces; n++ {
		i := strings.IndexByte(text[at:], '{')
		if i < 0 {
			break
		}
		at += i
		var a answer
		switch derr := json.NewDecoder(strings.NewReader(text[at:])).Decode(&a); {
		case derr == nil && (a.Precise != "" || a.Natural != ""):
			return &a, nil
		case derr == nil:
			err = errors.New("the answer's JSON object has no question")
		case n == 0:
			err = fmt.Errorf("the answer is not JSON: %w", derr)
		}
		at++
	}
	return nil, err
}

// texts is a list of strings. A bare string is read as a list with one element. Other values are dropped so that they
// do not invalidate the questions.
type texts []string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *texts) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) != nil {
		list = []json.RawMessage{data}
	}
	*t = nil
	for _, x := range list {
		var s string
		if json.Unmarshal(x, &s) == nil {
			*t = append(*t, s)
		}
	}
	return nil
}

// short cleans a list of strings and truncates it to n elements.
func short(list []string, n int) (out []string) {
	for _, x := range list {
		if x = strings.Join(strings.Fields(printable(x)), " "); x != "" && len(out) < n {
			out = append(out, text.Clip(x, 400))
		}
	}
	return out
}
