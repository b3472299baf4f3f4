package harvest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// sampleRows is the maximum number of result rows kept in a candidate.
const sampleRows = 20

// HashRows returns a hash of a table's rows as 32 hex digits. Barring SHA-256 collisions, two tables have the same hash
// if and only if they have the same rows, each the same number of times, in any order. The column order matters; the
// column names do not. All blank nodes are considered equal, since the endpoint chooses their names. The hash is the
// SHA-256 hash of the sorted SHA-256 hashes of the rows, truncated to 16 bytes. A row is encoded as the kind, value,
// language, and datatype of each cell, each preceded by its length.
func HashRows(t *kg.Table) string {
	if t.Ask {
		return rowsHash([][sha256.Size]byte{sha256.Sum256(fmtBool(t.Boolean))})
	}
	rows := make([][sha256.Size]byte, len(t.Rows))
	var buf []byte
	for i, row := range t.Rows {
		buf = buf[:0]
		for _, c := range row {
			buf = appendTerm(buf, c)
		}
		rows[i] = sha256.Sum256(buf)
	}
	return rowsHash(rows)
}

func fmtBool(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

func appendTerm(buf []byte, c rdf.Term) []byte {
	if !c.Bound() {
		return append(buf, 0xff)
	}
	buf = append(buf, byte(c.Kind))
	value := c.Value
	if c.Kind == rdf.BlankKind {
		value = ""
	}
	for _, s := range []string{value, c.Lang, c.Datatype} {
		buf = binary.AppendUvarint(buf, uint64(len(s)))
		buf = append(buf, s...)
	}
	return buf
}

func rowsHash(rows [][sha256.Size]byte) string {
	slices.SortFunc(rows, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h := sha256.New()
	for i := range rows {
		h.Write(rows[i][:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// sample returns the first rows of a table as a bindings list in the SPARQL 1.1 Query Results JSON Format, or true or
// false.
func sample(t *kg.Table) (json.RawMessage, error) {
	if t.Ask {
		return json.RawMessage(fmtBool(t.Boolean)), nil
	}
	head := kg.Table{Vars: t.Vars, Rows: t.Rows[:min(len(t.Rows), sampleRows)]}
	body, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	var parts struct {
		Results struct {
			Bindings json.RawMessage `json:"bindings"`
		} `json:"results"`
	}
	if err := json.Unmarshal(body, &parts); err != nil {
		return nil, err
	}
	return parts.Results.Bindings, nil
}
