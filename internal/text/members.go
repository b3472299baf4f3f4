package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Member is a member of a JSON object.
type Member struct{ Key, Value string }

// Members returns the members of a JSON object in their original order, or nil if the text is not an object. The value
// of a string member is the string itself; any other value is JSON. Nulls are left out.
func Members(object string) []Member {
	dec := json.NewDecoder(strings.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	out := []Member{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		var value string
		if json.Unmarshal(raw, &value) != nil {
			var b bytes.Buffer
			if json.Compact(&b, raw) != nil {
				return nil
			}
			value = b.String()
		}
		if k, ok := key.(string); ok && string(raw) != "null" {
			out = append(out, Member{k, value})
		}
	}
	if _, err := dec.Token(); err != nil {
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil
	}
	return out
}
