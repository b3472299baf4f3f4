package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// GoldFolder is the folder, inside a harvest's folder, with the rows of queries that annotators changed: HASH.json.gz,
// in the SPARQL 1.1 Query Results JSON Format.
const GoldFolder = "gold"

// maxResult is the maximum size of a stored result in bytes, as in the harvest.
const maxResult = 10 << 20

// keptPath returns the path of the file for a changed query. The file is named after the SHA-256 hash of the query's
// normal form, so a query has one result regardless of its layout.
func keptPath(dir, query string) string {
	sum := sha256.Sum256([]byte(sparql.NormalForm(query)))
	return filepath.Join(dir, GoldFolder, hex.EncodeToString(sum[:16])+".json.gz")
}

// Keep stores the result of a changed query durably and atomically: a reader finds either the previous rows or the new
// ones. Results over 10 MB are rejected.
func Keep(dir, query string, t *kg.Table) error {
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("keeping a result: %w", err)
	}
	if len(body) > maxResult {
		return fmt.Errorf("the result has %d bytes, more than the %d that a benchmark item may have: narrow the query",
			len(body), maxResult)
	}
	return dataset.WriteGzip(keptPath(dir, query), body)
}

// Stored returns the rows that the gold query returned when it was approved: for a harvested query, the rows from the
// harvest; for a changed query, the rows from the annotator's run. If there are none, it returns nil without an error.
func Stored(dir string, g *Gold) (*kg.Table, error) {
	b, err := dataset.ReadGzip(keptPath(dir, g.Query), maxResult)
	if errors.Is(err, os.ErrNotExist) && sparql.NormalForm(g.Query) == sparql.NormalForm(g.Candidate.Cleaned) {
		b, err = dataset.ReadResult(dir, g.Candidate.ID, maxResult)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t := new(kg.Table)
	if err := json.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("the stored result of %s: %w", g.Candidate.ID, err)
	}
	return t, nil
}

func rows(t *kg.Table) (json.RawMessage, error) {
	b, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	var body struct {
		Boolean json.RawMessage `json:"boolean"`
		Results struct {
			Bindings json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	if err := json.Unmarshal(b, &body); err != nil {
		return nil, err
	}
	if body.Boolean != nil {
		return body.Boolean, nil
	}
	return body.Results.Bindings, nil
}

// table returns an item's answers as a table, or nil if there are none.
func table(it *dataset.Item) (*kg.Table, error) {
	var body string
	switch v, isBool := it.Boolean(); {
	case isBool:
		body = fmt.Sprintf(`{"head":{},"boolean":%v}`, v)
	case len(it.Answers) > 0:
		bindings, _ := it.Bindings()
		h, err := json.Marshal(it.Columns(bindings))
		if err != nil {
			return nil, err
		}
		body = fmt.Sprintf(`{"head":{"vars":%s},"results":{"bindings":%s}}`, h, it.Answers)
	default:
		return nil, nil
	}
	t := new(kg.Table)
	if err := json.Unmarshal([]byte(body), t); err != nil {
		return nil, fmt.Errorf("the answers of %s: %w", it.ID, err)
	}
	return t, nil
}
