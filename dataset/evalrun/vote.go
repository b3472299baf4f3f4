package evalrun

import (
	"encoding/json"
	"slices"
	"strings"
)

// resultKey returns the same key for equivalent results: rows are a set, columns may have any order and names, and
// label columns are ignored if there are other columns. The key is empty if there is no answer.
func resultKey(raw json.RawMessage) string {
	text := string(raw)
	if text == "true" || text == "false" {
		return text
	}
	var rows []map[string]json.RawMessage
	if text == "" || text == "null" || json.Unmarshal(raw, &rows) != nil {
		return ""
	}
	bare := false // whether any column is not a label column
	for _, row := range rows {
		for name := range row {
			bare = bare || !isLabel(name)
		}
	}
	keys := make([]string, 0, len(rows))
	for _, row := range rows {
		var cells []string
		for name, cell := range row {
			if !bare || !isLabel(name) {
				cells = append(cells, string(cell)) // the same program wrote all results, so keys are in the same order
			}
		}
		slices.Sort(cells)
		keys = append(keys, strings.Join(cells, "\x00"))
	}
	slices.Sort(keys)
	var key strings.Builder
	key.WriteString("rows")
	for _, k := range slices.Compact(keys) {
		key.WriteString("\x01" + k)
	}
	return key.String()
}

func isLabel(column string) bool {
	return strings.HasSuffix(column, "Label") || strings.HasSuffix(column, "Description")
}

// vote returns the index of the run whose answer wins the vote on an item: the run with the most frequent result, then
// the highest confidence, then the lowest index. Runs without an answer do not vote; if no runs vote, vote returns -1.
func vote(items []*ItemData) int {
	count, best := map[string]int{}, map[string]int{}
	var order []string
	for i, it := range items {
		if !it.Answered {
			continue
		}
		key := resultKey(it.Result.Result)
		if count[key]++; count[key] == 1 {
			best[key] = i
			order = append(order, key)
		} else if it.Confidence > items[best[key]].Confidence {
			best[key] = i
		}
	}
	win := -1
	for _, key := range order {
		i := best[key]
		if win >= 0 {
			before := resultKey(items[win].Result.Result)
			if count[key] < count[before] || count[key] == count[before] &&
				items[i].Confidence <= items[win].Confidence {
				continue
			}
		}
		win = i
	}
	return win
}

// Combined contains the scores that several runs would achieve together.
type Combined struct {
	Oracle []MetricMean `json:"oracle"` // using the best run for each item: the score of a perfect choice
	Vote   []MetricMean `json:"vote"`   // using the most frequent result; confidence breaks ties
}

// MetricMean contains a metric's means over the common items.
type MetricMean struct {
	Metric string  `json:"metric"`
	F1     float64 `json:"f1"`
	EM     float64 `json:"em"`
}

// combine scores the oracle and the vote over the common items.
func combine(metrics []string, common [][]*ItemData) Combined {
	var c Combined
	for _, name := range metrics {
		var oracle, votes MetricMean
		oracle.Metric, votes.Metric = name, name
		for _, items := range common {
			var bestF1, bestEM float64
			for _, it := range items {
				s, _ := it.Score(name)
				bestF1, bestEM = max(bestF1, s.F1), max(bestEM, s.EM)
			}
			oracle.F1, oracle.EM = oracle.F1+bestF1, oracle.EM+bestEM
			if win := vote(items); win >= 0 {
				s, _ := items[win].Score(name)
				votes.F1, votes.EM = votes.F1+s.F1, votes.EM+s.EM
			}
		}
		if n := float64(len(common)); n > 0 {
			oracle.F1, oracle.EM, votes.F1, votes.EM = oracle.F1/n, oracle.EM/n, votes.F1/n, votes.EM/n
		}
		c.Oracle, c.Vote = append(c.Oracle, oracle), append(c.Vote, votes)
	}
	return c
}
