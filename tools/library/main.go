// Command library writes a graph that is not Wikidata to standard output, as N-Triples: books, authors, publishers and
// towns in its own vocabulary. The questions in this folder are about that graph. With -script, the command writes the
// script for a model that answers with the queries in a file; with -client, it writes the questions in a file for the
// TEXT2SPARQL challenge's client. challenge.sh uses both.
//
// Usage: go run ./tools/library [-script FILE | -client FILE]
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/spinachbot/spinachbot/internal/kg/kgtest"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

func main() {
	script := flag.String("script", "", "questions or results (JSON lines) whose queries a scripted model writes")
	client := flag.String("client", "", "questions (JSON lines) to write for the challenge's client")
	flag.Parse()
	w := bufio.NewWriter(os.Stdout)
	var err error
	switch {
	case *script != "":
		err = eachItem(*script, func(x item) error { return writeScript(w, x) })
	case *client != "":
		err = writeClient(w, *client)
	default:
		err = kgtest.NewLibrary(7, 21_500).Write(w)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "library:", err)
		os.Exit(1)
	}
}

// item is a question with its query or, in the results of eval run, with the answer's query.
type item struct {
	ID       string `json:"id"`
	Question string `json:"question"`
	SPARQL   string `json:"sparql"`
	// for a result: the rows of the answer columns; none for a Boolean
	Result json.RawMessage `json:"result"`
}

// columns returns the answer columns: the columns named in a result, or else all columns of the query.
func (x item) columns() []string {
	var rows []map[string]json.RawMessage
	if json.Unmarshal(x.Result, &rows) == nil && len(rows) > 0 {
		return slices.Sorted(maps.Keys(rows[0]))
	}
	q, err := sparql.Parse(x.SPARQL)
	if err != nil || q.Body == nil {
		return nil
	}
	return q.Body.Columns()
}

func eachItem(file string, do func(item) error) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(bytes.NewReader(data)); ; {
		var x item
		if err := dec.Decode(&x); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := do(x); err != nil {
			return err
		}
	}
}

// writeScript writes two turns: running the query and finishing.
func writeScript(w io.Writer, x item) error {
	query, err := json.Marshal(map[string]string{"sparql": x.SPARQL})
	if err != nil {
		return err
	}
	end, err := json.Marshal(map[string]any{"answer": "See the result.", "columns": x.columns()})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "== request\n%s\n== act 1 tools\nI run it.\nCall: query %s\n== act 2 tools\nThat is it.\nCall: finish %s\n\n",
		x.Question, query, end)
	return err
}

// writeClient writes a file of questions in the client's format. The German questions are
// under "en", too, because the client asks for one language at a time.
func writeClient(w io.Writer, file string) error {
	type question struct {
		ID       int               `yaml:"id"`
		Question map[string]string `yaml:"question"`
		Query    map[string]string `yaml:"query"`
	}
	var all []question
	err := eachItem(file, func(x item) error {
		all = append(all, question{len(all) + 1, map[string]string{"en": x.Question},
			map[string]string{"sparql": strings.TrimSpace(x.SPARQL)}})
		return nil
	})
	if err != nil {
		return err
	}
	return yaml.NewEncoder(w).Encode(map[string]any{"questions": all,
		"dataset": map[string]string{"id": "http://library.example/", "prefix": "library"}})
}
