package ask

import (
	"regexp"
	"slices"
	"strings"
)

// views are the ways in which a result can be seen, in the order of their tabs.
var views = []string{"table", "map", "timeline", "images", "chart", "graph"}

// named are the names in a query's #defaultView line, as the query service's page knows them.
var named = map[string]string{"table": "table", "map": "map", "timeline": "timeline", "imagegrid": "images",
	"barchart": "chart", "linechart": "chart", "areachart": "chart", "scatterchart": "chart", "bubblechart": "chart",
	"graph": "graph", "tree": "graph", "dimensions": "table", "treemap": "chart"}

var defaultView = regexp.MustCompile(`(?mi)^\s*#\s*defaultView\s*:\s*([a-z]+)`)

// viewsOf are the views that a result has, and the one that is shown first: what the query says, else the table.
func viewsOf(res *Result, query string) (has []string, first string) {
	count := map[string]int{}
	for i := range res.Columns {
		at := slices.IndexFunc(res.Rows, func(row []Cell) bool { return row[i].Kind != "" })
		if at >= 0 {
			count[res.Rows[at][i].Kind]++
		}
	}
	for _, v := range views {
		ok := map[string]bool{"table": true, "map": count["point"] > 0, "timeline": count["date"] > 0,
			"images": count["image"] > 0,
			"chart":  count["number"] > 0 && len(res.Columns) > 1 && len(res.Rows) > 1,
			"graph":  count["item"] > 1 && len(res.Rows) <= 500}[v]
		if ok {
			has = append(has, v)
		}
	}
	first = "table"
	if m := defaultView.FindStringSubmatch(query); m != nil {
		if v := named[strings.ToLower(m[1])]; slices.Contains(has, v) {
			first = v
		}
	}
	return has, first
}
