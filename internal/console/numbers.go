package console

import (
	"fmt"
	"strconv"
	"strings"
)

// Numbers parses a user-typed list of numbers from 1 to most, such as "2, 4-6". An empty string is an empty list.
func Numbers(s string, most int) (map[int]bool, error) {
	out := map[int]bool{}
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		from, to, ranged := strings.Cut(part, "-")
		a, err1 := strconv.Atoi(from)
		b, err2 := a, error(nil)
		if ranged {
			b, err2 = strconv.Atoi(to)
		}
		if err1 != nil || err2 != nil || a < 1 || b > most || a > b {
			return nil, fmt.Errorf("%q: want numbers from 1 to %d, such as 2,4-6", part, most)
		}
		for n := a; n <= b; n++ {
			out[n] = true
		}
	}
	return out, nil
}
