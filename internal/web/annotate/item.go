package annotate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/annotate"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/sparql"
	"github.com/spinachbot/spinachbot/internal/text"
)

// guidelines are the message keys of the rules for wording a question, paraphrased from SPINACH, section 3.2.
var guidelines = []string{"complete", "constraints", "apart", "person", "optional", "returned", "duplicates"}

type itemData struct {
	*annotate.Case
	Own               *annotate.Work // never nil
	Filter            filter
	Before, After     string
	Place             string // position of the candidate in its queue
	Result            *shownTable
	Trimmed           []text.DiffLine
	Guidelines        []string // message keys
	OthersDecided     int
	CanCompare        bool
	Page              pageData
	Endpoint          string
	Sources           []source
	NearOnes          []nearOne
	PermalinkSafe     string
	Disambiguate      []string
	QueriesOfComments map[int][]dataset.Query
}

// source is a version of the query that can be shown next to the edited query.
type source struct{ Key, Text string }

type nearOne struct {
	dataset.Near
	Heading, URL string
}

// pageData is the data passed to a page's script.
type pageData struct {
	Candidate  string          `json:"candidate"`
	Resolution bool            `json:"resolution"`
	Who        string          `json:"who"`
	Version    int64           `json:"version"`
	Query      string          `json:"query"`
	Question   string          `json:"question"`
	Note       string          `json:"note"`
	Verdict    dataset.Verdict `json:"verdict"`
	Reason     string          `json:"reason"`
	Cleaned    string          `json:"cleaned"`
	Trimmed    string          `json:"trimmed"`
	Precise    string          `json:"precise,omitempty"`
	Natural    string          `json:"natural,omitempty"`
	Before     string          `json:"before"`
	After      string          `json:"after"`
	Queue      string          `json:"queue"`
	Filter     string          `json:"filter"`
	Compare    string          `json:"compare,omitempty"`
	Works      []pageWork      `json:"works,omitempty"`
}

// pageWork is an annotator's work whose text can be copied in a comparison.
type pageWork struct {
	Query    string          `json:"query"`
	Question string          `json:"question"`
	Verdict  dataset.Verdict `json:"verdict"`
	Reason   string          `json:"reason"`
}

// item shows a candidate for annotation.
func (s *Server) item(w http.ResponseWriter, r *http.Request, who string) error {
	id := r.PathValue("id")
	cases, c, err := s.among(r.Context(), id)
	if err != nil {
		return err
	}
	d := c.Candidate
	f := s.readFilter(r.URL.Query())
	data := &itemData{Case: c, Own: c.Own(who), Filter: f, Guidelines: guidelines,
		CanCompare: c.Visible(who) && len(c.Decided()) > 1 || c.State() == annotate.Resolved,
		Endpoint:   s.GraphName, PermalinkSafe: webAddress(d.Provenance.Permalink),
		QueriesOfComments: map[int][]dataset.Query{}}
	data.Before, data.After, data.Place = s.neighbors(r, cases, f, who, id)
	for _, x := range c.Decided() {
		if x.Annotator != who {
			data.OthersDecided++
		}
	}
	if d.Result != nil {
		data.Result = sampleTable(d.Result)
		s.label(r.Context(), data.Result)
	}
	if d.Trimmed != "" {
		data.Trimmed = diffLines(d.Cleaned, d.Trimmed)
	}
	for _, q := range d.Queries {
		data.QueriesOfComments[q.Comment] = append(data.QueriesOfComments[q.Comment], q)
	}
	data.Sources = sources(d)
	_, byID := s.all()
	for _, n := range d.Near {
		one := nearOne{Near: n}
		if other, ok := byID[n.ID]; ok {
			one.Heading, one.URL = other.Provenance.Heading, s.Base+"/item/"+n.ID+"?"+f.Query()
		}
		data.NearOnes = append(data.NearOnes, one)
	}
	data.Page = pageData{Candidate: id, Who: who, Version: data.Own.Version, Query: data.Own.Query,
		Question: data.Own.Question, Note: data.Own.Note, Verdict: data.Own.Verdict,
		Cleaned: annotate.StartQuery(d), Trimmed: d.Trimmed, Before: data.Before, After: data.After, Queue: s.Base + "/?" + f.Query(),
		Filter: f.Query()}
	if data.CanCompare {
		data.Page.Compare = s.Base + "/compare/" + id + "?" + f.Query()
	}
	if d.Suggestion != nil {
		data.Page.Precise, data.Page.Natural, data.Disambiguate = d.Suggestion.Precise, d.Suggestion.Natural,
			d.Suggestion.Disambiguate
	}
	s.show(w, r, "item", cmp.Or(d.Provenance.Heading, id), who, data)
	return nil
}

// sources returns the versions of the candidate's query that can be shown.
func sources(d *dataset.Candidate) []source {
	var out []source
	for _, x := range []source{{"labels", d.Annotated}, {"original", d.Original}, {"cleaned", d.Cleaned}} {
		if x.Text != "" {
			out = append(out, x)
		}
	}
	return out
}

// webAddress returns s if it is an http or https URL, and "" otherwise.
func webAddress(s string) string {
	if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
		return s
	}
	return ""
}

// shownTable is a result in the form shown on a page.
type shownTable struct {
	Head     []string
	Rows     [][]cell
	Total    int // all rows
	Bytes    int64
	MS       int64
	RanAt    time.Time
	Endpoint string
	Ask      bool
	Boolean  bool
}

// cell is one value in a row.
type cell struct {
	Text  string `json:"text"`
	ID    string `json:"id,omitempty"` // Q or P ID
	URL   string `json:"url,omitempty"`
	Label string `json:"label,omitempty"`
	Kind  string `json:"kind"` // one of id, url, number, time, text, none
}

// maxShown is the maximum number of rows shown on a page.
const maxShown = 200

func showTable(t *kg.Table) *shownTable {
	out := &shownTable{Head: t.Vars, Total: len(t.Rows), Ask: t.Ask, Boolean: t.Boolean, MS: t.Elapsed.Milliseconds(),
		Endpoint: t.Source}
	if t.Ask {
		out.Total = 1
	}
	for _, row := range t.Rows[:min(len(t.Rows), maxShown)] {
		cells := make([]cell, len(t.Vars))
		for i := range cells {
			if i < len(row) {
				cells[i] = showTerm(row[i])
			} else {
				cells[i].Kind = "none"
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// sampleTable shows the sample of a harvested result. A sample that cannot be parsed becomes a table without rows.
func sampleTable(r *dataset.Result) *shownTable {
	body := `{"head":{"vars":[]},"results":{"bindings":[]}}`
	head, err := json.Marshal(r.Head)
	switch sample := strings.TrimSpace(string(r.Sample)); {
	case sample == "true" || sample == "false":
		body = `{"head":{},"boolean":` + sample + `}`
	case sample != "" && err == nil && r.Head != nil:
		body = `{"head":{"vars":` + string(head) + `},"results":{"bindings":` + sample + `}}`
	}
	var t kg.Table
	out := &shownTable{Head: r.Head}
	if err := json.Unmarshal([]byte(body), &t); err == nil {
		out = showTable(&t)
	}
	out.Total, out.Bytes, out.MS, out.RanAt, out.Endpoint = r.Rows, r.Bytes, r.MS, r.RanAt, r.Endpoint
	return out
}

func showTerm(t rdf.Term) cell {
	switch id := rdf.EntityID(t.Value); {
	case !t.Bound():
		return cell{Kind: "none"}
	case t.IsIRI() && id != "":
		return cell{Text: id, ID: id, URL: entityAddress(id), Kind: "id"}
	case t.IsIRI():
		return cell{Text: t.Value, URL: webAddress(t.Value), Kind: "url"}
	case t.Datatype == rdf.XSDDateTime || t.Datatype == rdf.XSDDate:
		return cell{Text: strings.TrimSuffix(t.Value, "T00:00:00Z"), Kind: "time"}
	case t.Datatype == rdf.XSDInteger || t.Datatype == rdf.XSDDecimal || t.Datatype == rdf.XSDDouble:
		return cell{Text: t.Value, Kind: "number"}
	}
	return cell{Text: t.Value, Kind: "text"}
}

// entityAddress returns the URL of an entity's page.
func entityAddress(id string) string {
	switch id[0] {
	case 'P':
		return "https://www.wikidata.org/wiki/Property:" + id
	case 'L':
		return "https://www.wikidata.org/wiki/Lexeme:" + id
	}
	return "https://www.wikidata.org/wiki/" + id
}

// maxLabels is the maximum number of labels requested for a result.
const maxLabels = 150

// label adds labels to the IDs in a table whose query returns no labels, provided that the graph returns them quickly;
// a table without labels is acceptable.
func (s *Server) label(ctx context.Context, t *shownTable) {
	var ids []string
	for _, row := range t.Rows {
		for i, c := range row {
			if c.ID != "" && !slices.Contains(t.Head, t.Head[i]+"Label") && !slices.Contains(ids, c.ID) && len(ids) < maxLabels {
				ids = append(ids, c.ID)
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	labels, err := s.Graph.Labels(ctx, ids, []string{"en", "mul"})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.Log.Info("no labels for a result", "error", err)
	}
	for _, row := range t.Rows {
		for i := range row {
			if !slices.Contains(t.Head, t.Head[i]+"Label") {
				row[i].Label = labels[row[i].ID]
			}
		}
	}
}

// namesOf returns the names of the IDs in a query: their labels in the graph, or else the labels stored by the harvest.
// pending reports whether more names have been requested.
func (s *Server) namesOf(ctx context.Context, c *dataset.Candidate, q *sparql.Query) (found map[string]annotate.Name,
	pending bool) {
	var ids []string
	for _, i := range sparql.Identifiers(q) {
		ids = append(ids, i.ID)
	}
	found, pending = s.names.Of(ctx, ids)
	for _, id := range ids {
		if _, ok := found[id]; !ok && c.Labels[id] != "" {
			found[id] = annotate.Name{Label: c.Labels[id]}
		}
	}
	return found, pending
}

func byteSize(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f kB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}
