package tool

import (
	"encoding/json"
	"strings"
)

// graspAnswerArgs are the arguments of the answer tool.
type graspAnswerArgs struct {
	KG     *string `json:"kg" about:"graph"`
	SPARQL string  `json:"sparql"`
	Answer string  `json:"answer" about:"for the asker, in their language"`
}

// noWords replaces the answer in words if the model wrote only a query.
const noWords = "-"

// graspAnswer is GRASP's answer(kg, sparql, answer): it ends the run with the answer's query.
var graspAnswer = func() *Tool {
	t := written(ending(&Tool{Name: "answer", Text: "grasp_answer.md", Input: "sparql"}, func(a graspAnswerArgs) End {
		return End{SPARQL: strings.TrimSpace(a.SPARQL), KG: strings.TrimSpace(deref(a.KG)),
			Text: strings.TrimSuffix(strings.TrimSpace(a.Answer), noWords)}
	}))
	t.OnQuery = func(query string) json.RawMessage {
		return encoded(map[string]string{"sparql": query, "answer": noWords})
	}
	return t
}()

// graspAttempt is the query that came closest to an answer.
type graspAttempt struct {
	SPARQL string  `json:"sparql"`
	KG     *string `json:"kg" about:"graph"`
}

// graspCancelArgs are the arguments of the cancel tool.
type graspCancelArgs struct {
	Explanation string        `json:"explanation" about:"for the asker, in their language"`
	BestAttempt *graspAttempt `json:"best_attempt"`
}

// graspCancel is GRASP's cancel(explanation, best_attempt): it ends the run without an answer.
var graspCancel = written(ending(&Tool{Name: "cancel", Text: "grasp_cancel.md", Input: "explanation"},
	func(a graspCancelArgs) End {
		why := strings.TrimSpace(a.Explanation)
		out := End{NoAnswer: true, Why: why, Text: why}
		if a.BestAttempt != nil {
			out.Best = &End{SPARQL: strings.TrimSpace(a.BestAttempt.SPARQL), KG: strings.TrimSpace(deref(a.BestAttempt.KG))}
		}
		return out
	}))

// GRASP's general-qa task answers in words: answer(answer), cancel(explanation, best_attempt). The last executed query
// is kept as the source of the answer.
var (
	graspAnswerText = written(ending(&Tool{Name: "answer_text", Text: "grasp_answer_text.md", Input: "answer"},
		func(a struct {
			Answer string `json:"answer" about:"for the asker, in their language"`
		}) End {
			return End{Text: strings.TrimSpace(a.Answer)}
		}))
	graspCancelText = written(ending(&Tool{Name: "cancel_text", Text: "grasp_cancel.md", Input: "explanation"},
		func(a struct {
			Explanation string  `json:"explanation" about:"for the asker, in their language"`
			BestAttempt *string `json:"best_attempt"`
		}) End {
			why := strings.TrimSpace(a.Explanation)
			if best := strings.TrimSpace(deref(a.BestAttempt)); best != "" {
				why += "\n" + best
			}
			return End{NoAnswer: true, Why: why, Text: why}
		}))
)
