package tool

// End is the meaning of a call that ends the work. The zero End is an answer: the last executed query.
type End struct {
	SPARQL   string // the answer's query; if empty, the query of Step or the last executed query
	KG       string // the graph of SPARQL, "" for the main one
	AtStep   bool   // the answer is the query of Step
	Step     int    // index in the state, from 1, as shown to the model
	NoAnswer bool   // there is no answer
	Why      string // why there is no answer
	Text     string // the answer or the explanation in words, for display; may be empty
	Best     *End   // if NoAnswer: the best attempt, or nil
	Sure     bool   // if NoAnswer: the model is sure, even if a query returned something

	Columns []string // the query's answer columns; nil if unknown
	Assumed string   // the chosen reading, for display
	Open    string   // what was left open, for display
}
