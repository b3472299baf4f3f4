package ask

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/internal/sparql"
)

// views lists the ways to view a result, in tab order.
var views = []string{"table", "map", "timeline", "images", "chart", "graph", "tree", "dimensions"}

// named maps each name that a #defaultView line can contain, in lowercase, to the view and, for a chart, its kind. See
// https://www.wikidata.org/wiki/Wikidata:SPARQL_query_service/Wikidata_Query_Help/Result_Views.
var named = map[string][2]string{"table": {"table"}, "map": {"map"}, "timeline": {"timeline"}, "imagegrid": {"images"},
	"barchart": {"chart", "bar"}, "linechart": {"chart", "line"}, "areachart": {"chart", "area"},
	"scatterchart": {"chart", "scatter"}, "bubblechart": {"chart", "bubble"}, "treemap": {"chart", "treemap"},
	"graph": {"graph"}, "tree": {"tree"}, "dimensions": {"dimensions"}}

// defaultView matches a #defaultView line; JSON options may follow the name.
var defaultView = regexp.MustCompile(`(?mi)^[ \t]*#[ \t]*defaultView[ \t]*:[ \t]*([a-z]+)[ \t]*(\{.*\})?`)

// Maximum number of rows drawn as a graph or a tree.
const (
	mostLinks = 500
	mostTree  = 5000
)

// seen describes the ways in which a result can be shown.
type seen struct {
	Has   []string // views
	First string   // the view that is shown first: the one that the query requests, or the table
	Kind  string   // kind of chart, or "" to choose a suitable one
	Hide  []string // columns that are not included in descriptions of things
	Unfit bool     // the query requests a view that does not fit its result
	Layer string   // column whose values are layers of a map; "" for the usual one
}

// viewsOf returns the views in which a result can be shown.
func viewsOf(res *Result, query string) seen {
	count := map[string]int{}
	for i := range res.Columns {
		at := slices.IndexFunc(res.Rows, func(row []Cell) bool { return row[i].Kind != "" })
		if at >= 0 {
			count[res.Rows[at][i].Kind]++
		}
	}
	plain := count["item"] + count["text"] + count["link"] + count["number"] + count["date"]
	out := seen{First: "table"}
	for _, v := range views {
		ok := map[string]bool{"table": true, "map": count["point"] > 0, "timeline": count["date"] > 0,
			"images":     count["image"] > 0,
			"chart":      count["number"] > 0 && len(res.Columns) > 1 && len(res.Rows) > 1,
			"graph":      count["item"] > 1 && len(res.Rows) <= mostLinks,
			"tree":       count["item"] > 1 && len(res.Rows) <= mostTree,
			"dimensions": plain > 2 && len(res.Rows) > 1}[v]
		if ok {
			out.Has = append(out.Has, v)
		}
	}
	m := defaultView.FindStringSubmatch(query)
	if m == nil {
		return out
	}
	v, known := named[strings.ToLower(m[1])]
	if !slices.Contains(out.Has, v[0]) {
		out.Unfit = known && len(res.Rows) > 0
		return out
	}
	out.First, out.Kind = v[0], v[1]
	out.options(res, m[2])
	return out
}

// options parses the options in a #defaultView line: the hidden columns, and the column with a map's layers. Other
// options are ignored.
func (o *seen) options(res *Result, line string) {
	var options struct {
		Hide  json.RawMessage `json:"hide"`
		Layer string          `json:"layer"`
	}
	if line == "" || json.Unmarshal([]byte(line), &options) != nil {
		return
	}
	var hide []string
	if one := ""; json.Unmarshal(options.Hide, &one) == nil {
		hide = []string{one}
	} else if json.Unmarshal(options.Hide, &hide) != nil {
		hide = nil
	}
	for _, h := range hide {
		if c := res.column(h); c != "" {
			o.Hide = append(o.Hide, c)
		}
	}
	o.Layer = res.column(options.Layer)
}

// column returns the column for a variable, such as ?city, or "" if there is none. For a label variable, it is the
// column of the labeled entities.
func (res *Result) column(variable string) string {
	name := strings.TrimLeft(variable, "?$")
	if base, ok := sparql.LabelBase(name); ok && !slices.Contains(res.Columns, name) {
		name = base
	}
	if !slices.Contains(res.Columns, name) {
		return ""
	}
	return name
}
