package tool

// End is what a call that ends the work means. The zero End is an answer: the last query that was executed.
type End struct {
	SPARQL   string // the answer's query; "": the one of Step, or the last one executed
	KG       string // the graph of SPARQL, "" for the main one
	AtStep   bool   // the answer is the query of Step
	Step     int    // place in the state, from 1, as the model was told it
	NoAnswer bool   // there is no answer
	Why      string // there is none
	Text     string // the answer or the explanation in words, for a person; may be empty
	Best     *End   // with NoAnswer: the best attempt, nil when there is none
	Sure     bool   // with NoAnswer: it is meant, also where a query returned something

	Columns []string // of the query, those that answer; nil: not said
	Assumed string   // the reading that was chosen, for a person
	Open    string   // what was left open, for a person
}
