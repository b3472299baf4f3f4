package tool

// End is the meaning of a call that ends a run. The zero End answers with the last executed query.
type End struct {
	SPARQL   string // the answer's query; if empty, Step's query or the last executed query
	KG       string // the graph for SPARQL, or "" for the main graph
	AtStep   bool   // the answer is Step's query
	Step     int    // index of a step in the state, starting from 1, as shown to the model
	NoAnswer bool   // there is no answer
	Why      string // why there is no answer
	Text     string // the answer or explanation in words, for display; may be empty
	Best     *End   // the best attempt, if NoAnswer; may be nil
	Sure     bool   // if NoAnswer, the model is sure that there is no answer, even if a query returned something

	Columns []string          // the query's answer columns; nil if unknown
	Headers map[string]string // table headers of some of the columns, for display
	Assumed string            // the interpretation chosen, for display
	Open    string            // what was left open, for display
}
