package reply

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
)

// ResultName returns a name for an answer's result, or "" if the result cannot be compared. The name depends on neither
// the row order nor the labels.
func ResultName(a *agent.Answer) string {
	if a == nil || a.Table == nil {
		return ""
	}
	rows := []string{fmt.Sprint(a.Table.Ask, a.Table.Boolean)}
	for _, row := range a.Table.Rows {
		var cells []string
		for i, term := range row {
			name := a.Table.Vars[min(i, len(a.Table.Vars)-1)]
			if of, ok := strings.CutSuffix(name, "Label"); ok && slices.Contains(a.Table.Vars, of) {
				continue
			}
			if strings.HasPrefix(term.String(), "_:") {
				return ""
			}
			cells = append(cells, term.String())
		}
		rows = append(rows, strings.Join(cells, "\x00"))
	}
	slices.Sort(rows[1:])
	h := sha256.Sum256([]byte(strings.Join(rows, "\x01")))
	return hex.EncodeToString(h[:8])
}
