package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// Cell is a value as shown on a page.
type Cell struct {
	Kind string `json:"kind"` // item, link, image, point, date, number, text, node; "" for no value
	Text string `json:"text"` // the text shown
	ID   string `json:"id,omitempty"`
	URL  string `json:"url,omitempty"` // http or https, or ""
	Lang string `json:"lang,omitempty"`
}

// Result is a query result as shown on a page: label columns are merged with the columns of their entities.
type Result struct {
	Columns []string
	Rows    [][]Cell
	Numbers []int // the rows' numbers in the answer, starting from 1

	table  *kg.Table
	places []int // for each column, its index in the table
}

// resultOf converts a table to a result.
func resultOf(t *kg.Table) *Result {
	res := &Result{table: t}
	labels := make([]int, 0, len(t.Vars)) // for each column, the index of the column with its labels, or -1
	for i, v := range t.Vars {
		if base, ok := sparql.LabelBase(v); ok && slices.Contains(t.Vars, base) {
			continue
		}
		res.Columns, res.places = append(res.Columns, v), append(res.places, i)
		labels = append(labels, slices.Index(t.Vars, v+"Label"))
	}
	for n, row := range t.Rows {
		cells := make([]Cell, len(res.places))
		for i, from := range res.places {
			if from < len(row) {
				cells[i] = cellOf(row[from])
			}
			if l := labels[i]; l >= 0 && l < len(row) && row[l].IsLiteral() && cells[i].ID != "" {
				if s := text.OneLine(text.Clean(row[l].Value)); s != "" {
					cells[i].Text, cells[i].Lang = s, row[l].Lang
				}
			}
		}
		res.Rows, res.Numbers = append(res.Rows, cells), append(res.Numbers, n+1)
	}
	return res
}

// maxCell is the maximum number of characters shown for a value.
const maxCell = 2000

func cellOf(t rdf.Term) Cell {
	shown := text.Clip(text.Clean(t.Value), maxCell)
	switch t.Kind {
	case rdf.IRIKind:
		return iriCell(t.Value, shown)
	case rdf.BlankKind:
		return Cell{Kind: "node", Text: "_:" + shown}
	case rdf.LiteralKind:
		switch t.Datatype {
		case rdf.GeoWKT:
			if lon, lat, ok := point(t.Value); ok {
				return Cell{Kind: "point", Text: strconv.FormatFloat(lat, 'f', -1, 64) + ", " + strconv.FormatFloat(lon, 'f', -1, 64)}
			}
		case rdf.XSDDateTime, rdf.XSDDate:
			return Cell{Kind: "date", Text: strings.TrimSuffix(shown, "T00:00:00Z")}
		case rdf.XSDInteger, rdf.XSDDecimal, rdf.XSDDouble, rdf.XSDFloat:
			return Cell{Kind: "number", Text: shown}
		}
		return Cell{Kind: "text", Text: shown, Lang: t.Lang}
	}
	return Cell{}
}

const commonsFile = "http://commons.wikimedia.org/wiki/Special:FilePath/"

func iriCell(iri, shown string) Cell {
	if id := rdf.EntityID(iri); id != "" {
		return Cell{Kind: "item", Text: id, ID: id, URL: entityURL(id)}
	}
	u, err := url.Parse(iri)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return Cell{Kind: "node", Text: shown}
	}
	if file, ok := strings.CutPrefix(iri, commonsFile); ok {
		if plain, err := url.PathUnescape(file); err == nil {
			shown = text.Clean(plain)
		}
		return Cell{Kind: "image", Text: shown, URL: "https://commons.wikimedia.org/wiki/File:" + url.PathEscape(shown)}
	}
	return Cell{Kind: "link", Text: shown, URL: u.String()}
}

func entityURL(id string) string {
	switch id[0] {
	case 'P':
		return "https://www.wikidata.org/wiki/Property:" + id
	case 'L':
		return "https://www.wikidata.org/wiki/Lexeme:" + id
	}
	return "https://www.wikidata.org/wiki/" + id
}

// point parses "Point(13.38 52.51)": longitude and latitude on Earth.
func point(wkt string) (lon, lat float64, ok bool) {
	s := strings.TrimSpace(wkt)
	if len(s) < 7 || !strings.EqualFold(s[:5], "point") {
		return 0, 0, false // a leading IRI may identify a different globe
	}
	inner, ok := strings.CutSuffix(strings.TrimPrefix(strings.TrimSpace(s[5:]), "("), ")")
	f := strings.Fields(inner)
	if !ok || len(f) != 2 {
		return 0, 0, false
	}
	lon, err := strconv.ParseFloat(f[0], 64)
	lat, err2 := strconv.ParseFloat(f[1], 64)
	return lon, lat, err == nil && err2 == nil && lat >= -90 && lat <= 90 && lon >= -360 && lon <= 360
}

// order determines which rows are shown, and in which order.
type order struct {
	Sort   string // name of a column, or "" for the query's order
	Down   bool
	Filter string
}

func orderOf(q url.Values) order {
	return order{Sort: q.Get("sort"), Down: q.Get("down") != "", Filter: text.Clip(q.Get("filter"), 200)}
}

// arranged returns the result in the given order, with only the rows that match the words in the filter.
func (res *Result) arranged(o order) *Result {
	out := *res
	words := strings.Fields(strings.ToLower(o.Filter))
	by := slices.Index(res.Columns, o.Sort)
	if len(words) == 0 && by < 0 {
		return &out
	}
	var keep []int
	for i, row := range res.Rows {
		if hasAll(row, words) {
			keep = append(keep, i)
		}
	}
	if by >= 0 {
		slices.SortStableFunc(keep, func(a, b int) int {
			x, y := res.Rows[a][by], res.Rows[b][by]
			if (x.Text == "") != (y.Text == "") { // missing values come last in either direction
				return cmp.Compare(len(y.Text), len(x.Text))
			}
			if c := compare(x, y); !o.Down {
				return c
			}
			return -compare(x, y)
		})
	}
	out.Rows, out.Numbers = nil, nil
	for _, i := range keep {
		out.Rows, out.Numbers = append(out.Rows, res.Rows[i]), append(out.Numbers, res.Numbers[i])
	}
	return &out
}

func hasAll(row []Cell, words []string) bool {
	for _, w := range words {
		if !slices.ContainsFunc(row, func(c Cell) bool {
			return strings.Contains(strings.ToLower(c.Text), w) || strings.EqualFold(c.ID, w)
		}) {
			return false
		}
	}
	return true
}

// compare orders numbers by value, dates by time, and everything else by text.
func compare(a, b Cell) int {
	if a.Kind == "number" && b.Kind == "number" {
		x, _ := strconv.ParseFloat(a.Text, 64)
		y, _ := strconv.ParseFloat(b.Text, 64)
		return cmp.Compare(x, y)
	}
	if a.Kind == "date" && b.Kind == "date" { // BCE years start with a minus sign
		if x, y := strings.HasPrefix(a.Text, "-"), strings.HasPrefix(b.Text, "-"); x || y {
			if x != y {
				return map[bool]int{true: -1, false: 1}[x]
			}
			return -strings.Compare(a.Text, b.Text)
		}
		return strings.Compare(a.Text, b.Text)
	}
	return strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text))
}

// final returns the run's last final event, or nil if there is none.
func final(events []agent.Event) *agent.Event {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Event == "final" {
			return &events[i]
		}
	}
	return nil
}

// labeled adds a label to every cell in the rows that does not have one yet.
func (s *Server) labeled(ctx context.Context, graph, lang string, rows [][]Cell) [][]Cell {
	var ids []string
	for _, row := range rows {
		for _, c := range row {
			if c.ID != "" && c.Text == c.ID && !slices.Contains(ids, c.ID) {
				ids = append(ids, c.ID)
			}
		}
	}
	labels := s.labels(ctx, graph, lang, ids)
	if len(labels) == 0 {
		return rows
	}
	out := make([][]Cell, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
		for j, c := range row {
			if l := labels[c.ID]; c.Text == c.ID && l != "" {
				out[i][j].Text = text.OneLine(text.Clean(l))
			}
		}
	}
	return out
}

// labels returns labels for the IDs. If the labels cannot be fetched, it returns none, since nothing depends on them.
func (s *Server) labels(ctx context.Context, graph, lang string, ids []string) map[string]string {
	if len(ids) == 0 {
		return nil
	}
	src, err := s.Graph(ctx, graph)
	if err != nil || src.Labels == nil {
		return nil
	}
	labels, err := src.Labels.Labels(ctx, ids, []string{lang, "mul", "en"})
	if err != nil {
		s.Log.Warn("no labels for a result", "error", err)
	}
	return labels
}

// written returns a copy of rows in which numbers are formatted for the reader's language, using decimal.
func written(rows [][]Cell, decimal func(string) string) [][]Cell {
	out := make([][]Cell, len(rows))
	for i, row := range rows {
		out[i] = slices.Clone(row)
		for j := range row {
			out[i][j].write(decimal)
		}
	}
	return out
}

// write formats a number for the reader's language, using decimal.
func (c *Cell) write(decimal func(string) string) {
	if c.Kind == "number" {
		c.Text = decimal(c.Text)
	}
}

// perPage is the number of rows on a page; mostRows is the maximum number of rows that a script may request at once.
const (
	perPage  = 50
	mostRows = 10_000
)

// rowsOut is the part of a result that a script requested.
type rowsOut struct {
	Columns []string `json:"columns"`
	Rows    [][]Cell `json:"rows"`
	Numbers []int    `json:"numbers"`
	Total   int      `json:"total"` // rows that match the filter
	All     int      `json:"all"`
	// whether each picture is available at this URL with "rows" replaced by picture/NUMBER/COLUMN
	Pictures bool `json:"pictures,omitempty"`
}

// rows sends part of the result as JSON: at most limit rows starting at offset, in the order given by sort and down,
// filtered by the words in filter.
func (s *Server) rows(w http.ResponseWriter, r *http.Request, find find) error {
	f, err := find(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	all := resultOf(f.Table)
	res := all.arranged(orderOf(q))
	from := min(number(q.Get("offset"), 0), len(res.Rows))
	to := min(from+min(number(q.Get("limit"), perPage), mostRows), len(res.Rows))
	out := rowsOut{Columns: res.Columns, Rows: res.Rows[from:to], Numbers: res.Numbers[from:to], Total: len(res.Rows),
		All: len(all.Rows), Pictures: s.Pictures != nil}
	if len(out.Rows) <= 500 {
		out.Rows = s.labeled(r.Context(), f.KG, layout.LanguageOf(r), out.Rows)
	}
	if out.Rows == nil {
		out.Rows, out.Numbers = [][]Cell{}, []int{}
	}
	b, err := json.Marshal(out)
	if err != nil {
		return err
	}
	layout.Send(w, r, http.StatusOK, "application/json; charset=utf-8", b)
	return nil
}

// fileName returns the file name for a downloaded result.
func fileName(id, kind string) string { return path.Base("spinachbot-"+id) + "." + kind }
