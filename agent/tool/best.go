package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// bestTools are the tools of the best preset. There are only a few of them, a single call can cover several entities,
// and the final call names the columns that answer the question.
//
//	best.go          query and finish
//	look.go          pages of several entities at once
//	phrases.go       the phrases in a question that may be names
//	beforehand.go    the lookups before the model's first turn; beforehandtext.go describes their results
var bestTools = Set{queryTool, lookTool, finishTool, beforehandTool, TriageTool}

// The names of the best preset's tools.
const (
	QueryName  = "query"
	FinishName = "finish"
	TriageName = "triage"
)

// triageArgs are the arguments of the triage action. Package agent reads the judgment from them.
type triageArgs struct {
	Request  bool    `json:"request" about:"the last post is a request to you"`
	Question *string `json:"question" about:"the request as one text that can be understood without the thread, in the poster's language, close to their words, with the query that it is about; left out when the last post can be understood alone"`
	Language string  `json:"language" about:"code of the language of the last post: en, de, fr, …"`
	Why      string  `json:"why" about:"one short line for the log"`
}

// TriageTool classifies a post in the first turn of the run that answers it. It is available only in such runs; see
// Judging in package preset.
var TriageTool = typed(&Tool{Name: TriageName, Text: "best_triage.md"},
	func(context.Context, *Env, triageArgs) (Result, error) {
		return Result{Text: say("triage_again", nil)}, nil // a repeated call; the first call was removed
	})

// QueryArgs are the arguments of the query action.
type QueryArgs struct {
	SPARQL string `json:"sparql" about:"the query; Wikidata's prefixes need no declaration"`
	// the answer's shape, declared before the query's result can influence it
	Returns *string `json:"returns" about:"with your first query, and again when it changes: what a row of the final answer is and the columns that answer, without helpers such as names or a count to sort by, e.g. 'a city: ?city ?population'"`
	KG      *string `json:"kg" about:"name of the graph"`
}

var queryTool = typed(&Tool{Name: QueryName, Text: "best_query.md", Query: true,
	Asks: func(args json.RawMessage) (string, string) {
		a, err := argumentsOf[QueryArgs](args)
		if err != nil {
			return "", ""
		}
		return a.SPARQL, strings.TrimSpace(deref(a.KG))
	},
	FromText: func(text string) json.RawMessage {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
			return json.RawMessage(text)
		}
		return encoded(map[string]string{"sparql": text})
	},
	// A query is still the same query if its shape is described differently.
	Key: func(args json.RawMessage) string {
		a, err := argumentsOf[QueryArgs](args)
		if err != nil {
			return string(args)
		}
		return Dialect{}.NormalForm(a.SPARQL) + " " + sparql.View(a.SPARQL) + " " + strings.TrimSpace(deref(a.KG))
	}}, runQuery)

// runQuery implements query(sparql, returns). It is like execute_sparql, but works on any of the question's graphs.
func runQuery(ctx context.Context, env *Env, a QueryArgs) (Result, error) {
	env, err := env.at(a.KG)
	if err != nil {
		return wrong(err)
	}
	res, err := env.evaluate(ctx, a.SPARQL)
	if err != nil {
		return res, err
	}
	res.Query = cmp.Or(res.Query, a.SPARQL)
	if env.Source != &env.Sources[0] {
		res.KG = env.Source.Name()
	}
	return res, nil
}

var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[?$]([\pL_][\pL\pN_]*)`)
})

// Returns returns the answer columns that a call declares, or nil if it declares none.
func Returns(t *Tool, args json.RawMessage) []string {
	if t == nil || t.Name != QueryName {
		return nil
	}
	a, err := argumentsOf[QueryArgs](args)
	if err != nil || a.Returns == nil {
		return nil
	}
	var out []string
	for _, m := range variable().FindAllStringSubmatch(*a.Returns, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// finishArgs are the arguments of the finish action.
type finishArgs struct {
	Step     *int      `json:"step" about:"number of the step whose query is the answer; your last query when left out. With no_answer: of the query that shows it, if there is one"`
	SPARQL   *string   `json:"sparql" about:"instead of step: a query that was not run as it is"`
	Columns  *[]string `json:"columns" about:"the columns that answer, e.g. [\"city\"]; others and labels are shown, but are not the answer"`
	Headers  *[]string `json:"headers" about:"a table header for each of these columns, in the asker's language, e.g. [\"Stadt\"]"`
	Answer   string    `json:"answer" about:"the answer in one or two sentences, in the asker's language"`
	Assumed  *string   `json:"assumed" about:"the reading that you chose where there were two, or the value (MAX, SAMPLE …): a short sentence for each point"`
	Open     *string   `json:"open" about:"what the graph lacks or was left open and the answer does not say, with how many or which: a short sentence for each point"`
	NoAnswer *bool     `json:"no_answer" about:"true: no query is the answer, since nothing in the graph fits or the graph lacks it; answer says which, assumed and open are appended to it, and the query of step, if given, is posted"`
	KG       *string   `json:"kg" about:"name of the graph"`
}

// end returns the End that the arguments describe.
func (a finishArgs) end() End {
	e := End{Text: strings.TrimSpace(a.Answer), Assumed: strings.TrimSpace(deref(a.Assumed)),
		Open: strings.TrimSpace(deref(a.Open)), KG: strings.TrimSpace(deref(a.KG))}
	switch {
	case a.NoAnswer != nil && *a.NoAnswer:
		said := []string{e.Text, e.Assumed, e.Open}
		e.Text = strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), " ")
		e.NoAnswer, e.Sure, e.Why = true, true, e.Text
		if a.Step != nil {
			e.Best = &End{AtStep: true, Step: *a.Step}
		}
		return e
	case strings.TrimSpace(deref(a.SPARQL)) != "":
		e.SPARQL = strings.TrimSpace(*a.SPARQL)
	case a.Step != nil:
		e.AtStep, e.Step = true, *a.Step
	}
	if a.Columns == nil {
		return e
	}
	named := a.Headers != nil && len(*a.Headers) == len(*a.Columns)
	for i, c := range *a.Columns {
		if c = strings.TrimLeft(strings.TrimSpace(c), "?$"); c == "" || slices.Contains(e.Columns, c) {
			continue
		}
		e.Columns = append(e.Columns, c)
		if named && strings.TrimSpace((*a.Headers)[i]) != "" {
			if e.Headers == nil {
				e.Headers = map[string]string{}
			}
			e.Headers[c] = strings.TrimSpace((*a.Headers)[i])
		}
	}
	return e
}

var finishTool = func() *Tool {
	t := ending(&Tool{Name: FinishName, Text: "best_finish.md", Flag: "no_answer",
		OnQuery: func(query string) json.RawMessage {
			return encoded(map[string]string{"sparql": query, "answer": query})
		},
		FromText: func(text string) json.RawMessage {
			if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") && json.Valid([]byte(text)) {
				return json.RawMessage(text)
			}
			return encoded(map[string]string{"answer": text})
		}}, finishArgs.end)
	fits := t.check
	t.check = func(args json.RawMessage) error {
		if err := fits(args); err != nil {
			return err
		}
		a, err := argumentsOf[finishArgs](args)
		if err == nil && a.Step != nil && strings.TrimSpace(deref(a.SPARQL)) != "" {
			return errors.New("step and sparql exclude each other")
		}
		return err
	}
	return t
}()
