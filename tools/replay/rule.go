package main

import (
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/text"
)

// expectation is the result of applying the rule on repetitions and early stops to a sequence of actions, computed
// without the engine's code.
type expectation struct {
	steps []string // every executed step in order, as name and argument
	rolls []int    // To of every rollback
	end   string   // "answer", "limit" or "record" (its actions ran out)
	clean bool     // no action was rejected, and all recorded actions were used
}

// expect implements the rule in its simplest form: with only a list of kept steps and two counters.
func expect(run agent.RecordedRun) expectation {
	type held struct {
		n      int
		key    string
		exec   bool
		result bool
	}
	var kept []held
	x := expectation{clean: true}
	n, total, inRow := 0, 0, 0
	for i, a := range run.Actions {
		if len(kept) == 15 || total == 30 {
			x.end = "limit"
			return x
		}
		total++
		key := a.Name + "|" + strings.ToLower(text.Fold(a.Argument))
		if a.Name == "execute_sparql" {
			key = a.Name + "|" + text.Fold(a.Argument)
		}
		back := -1
		if a.Name == "stop" {
			last := -1
			for j, k := range kept {
				if k.exec {
					last = j
				}
			}
			if last >= 0 && kept[last].result {
				x.steps = append(x.steps, "stop|")
				x.end = "answer"
				return x
			}
			back = last
			if last < 0 {
				back = len(kept)
			}
		} else {
			for j, k := range kept {
				if k.key == key {
					back = j
					break
				}
			}
		}
		if back >= 0 {
			x.clean = false
			if inRow++; inRow == 2 {
				kept, inRow = kept[:back], 0
			}
			to := 0
			if len(kept) > 0 {
				to = kept[len(kept)-1].n
			}
			x.rolls = append(x.rolls, to)
			continue
		}
		inRow = 0
		n++
		s := held{n: n, key: key, exec: a.Name == "execute_sparql"}
		if s.exec {
			table, err := queryAt(run, i+1)
			s.result = err == nil && !table.Empty()
		}
		kept = append(kept, s)
		x.steps = append(x.steps, a.Name+"|"+a.Argument)
	}
	x.end = "record"
	if len(kept) == 15 {
		x.end = "limit"
	}
	return x
}
