package event

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// ArgumentLines returns the members of a native call's argument object, one per line, or nil if the argument is plain
// text.
func ArgumentLines(argument string) []string {
	var members map[string]any
	if !strings.HasPrefix(strings.TrimSpace(argument), "{") || json.Unmarshal([]byte(argument), &members) != nil {
		return nil
	}
	var out []string
	for k, v := range members {
		switch v := v.(type) {
		case nil:
		case string:
			out = append(out, k+": "+v)
		default:
			b, err := json.Marshal(v)
			if err != nil {
				b = []byte(strconv.Quote(err.Error()))
			}
			out = append(out, k+": "+string(b))
		}
	}
	slices.Sort(out)
	return out
}
