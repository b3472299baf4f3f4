package stats

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ReadPageViews reads lines that consist of a Q number, a tab and the number of views of the entity's article in a
// year. (SPINACH used the English Wikipedia, July 2023 to June 2024.) Empty lines and a header line are skipped. A
// duplicate entity is an error.
func ReadPageViews(r io.Reader) (map[string]int64, error) {
	views := map[string]int64{}
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimRight(sc.Text(), "\r ")
		if line == "" {
			continue
		}
		id, count, ok := strings.Cut(line, "\t")
		digits, isQ := strings.CutPrefix(id, "Q")
		_, err := strconv.ParseUint(digits, 10, 64)
		v, verr := strconv.ParseInt(strings.TrimSpace(count), 10, 64)
		if _, double := views[id]; double {
			return nil, fmt.Errorf("line %d: %s is repeated", n, id)
		}
		switch {
		case n == 1 && verr != nil && !(isQ && digits != "" && digits[0] >= '0' && digits[0] <= '9'): // headings
		case !ok || !isQ || err != nil || verr != nil || v < 0:
			return nil, fmt.Errorf("line %d: want a Q number, a tab and a number of views, got %.60q", n, line)
		default:
			views[id] = v
		}
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("reading page views: %w", err)
	}
	return views, nil
}
