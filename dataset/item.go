package dataset

import (
	"encoding/json"
	"sort"
)

// Item is a benchmark question with its gold query. [ReadItems] reads items from published benchmark formats;
// [WriteSPINACH], [WriteGRASP] and [WriteQALD] write them. The query is not inspected: it may be in any dialect, and
// may not parse.
type Item struct {
	ID        string // the ID in the file, or the item's 0-based position if it has none; not checked for uniqueness
	NumericID bool   // the ID in the file is a JSON number and must be written as one

	Title string // heading of the discussion from which the item was made; may be empty
	URL   string // URL of the page with that discussion; may be empty

	Question    string
	Language    string   // language of Question, as a BCP 47 tag; empty if unknown
	Paraphrases []string // other wordings of Question in the same language

	SPARQL string // the gold query; empty if the file withholds it (QALD test sets)

	Head []string // variable names in the gold result, in order; nil if unknown
	// the gold result: the bindings list of the SPARQL JSON format, or true or false; nil if the file has none
	Answers json.RawMessage

	Responses *int // number of comments after the request in the item's discussion; nil if unknown

	Info map[string]json.RawMessage // other members of the item, under the keys used in the file; nil if none
}

// Boolean returns the gold result of an ASK query; ok is false if there is no result or the result is a table.
func (it *Item) Boolean() (value, ok bool) {
	switch string(it.Answers) {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// Bindings returns the rows of the gold result, each with its bound variables. ok is false if there is no table.
func (it *Item) Bindings() (rows []map[string]Binding, ok bool) {
	if len(it.Answers) == 0 || it.Answers[0] != '[' {
		return nil, false
	}
	return rows, json.Unmarshal(it.Answers, &rows) == nil
}

// Binding is an RDF term in the SPARQL 1.1 Query Results JSON Format (section 3.2.2): Type is uri, literal,
// typed-literal (old services) or bnode.
type Binding struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	Lang     string `json:"xml:lang,omitempty"`
	Datatype string `json:"datatype,omitempty"`
}

// Columns returns the variable names in the result: the list in the file or, if there is none, all variables that
// occur in the rows, in alphabetical order.
func (it *Item) Columns(rows []map[string]Binding) []string {
	if len(it.Head) > 0 {
		return it.Head
	}
	seen := map[string]bool{}
	names := []string{}
	for _, r := range rows {
		for v := range r {
			if !seen[v] {
				seen[v] = true
				names = append(names, v)
			}
		}
	}
	sort.Strings(names)
	return names
}
