package text

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMembers(t *testing.T) {
	for in, want := range map[string][]Member{
		`{"b": "x\ny", "a": [1, 2], "n": null, "c": 3}`: {{"b", "x\ny"}, {"a", "[1,2]"}, {"c", "3"}},
		` {} `:        {},
		`{"a": 1} b`:  nil,
		`{"a": `:      nil,
		`["a"]`:       nil,
		`name`:        nil,
		``:            nil,
		`{"a": 1}]`:   nil,
		`{"a": tree}`: nil,
	} {
		if diff := cmp.Diff(want, Members(in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}
