package ask

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
	"github.com/spinachbot/spinachbot/internal/text"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

// writers lists the formats in which a result can be saved. The first three are standard SPARQL formats
// (https://www.w3.org/TR/sparql11-results-csv-tsv/, …-json/); the others are for web pages and wikis.
var writers = map[string]struct {
	kind  string
	write func(*agent.Event) ([]byte, error)
}{
	"csv":  {"text/csv; charset=utf-8", csvOf},
	"tsv":  {"text/tab-separated-values; charset=utf-8", tsvOf},
	"json": {"application/sparql-results+json; charset=utf-8", jsonOf},
	"md":   {"text/markdown; charset=utf-8", markdownOf},
	"wiki": {"text/plain; charset=utf-8", wikitextOf},
	"rq":   {"application/sparql-query; charset=utf-8", queryOf},
}

func (s *Server) download(w http.ResponseWriter, r *http.Request, find find) error {
	f, err := find(r)
	if err != nil {
		return err
	}
	kind := r.PathValue("kind")
	form := writers[kind]
	if form.write == nil {
		return refuse(http.StatusNotFound, "ask.noresult")
	}
	b, err := form.write(f.Event)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment",
		map[string]string{"filename": fileName(r.PathValue("id"), kind)}))
	layout.Send(w, r, http.StatusOK, form.kind, b)
	return nil
}

func queryOf(f *agent.Event) ([]byte, error) { return []byte(f.SPARQL), nil }

// grid returns the header and the rows; a Boolean becomes a table with one cell.
func grid(t *kg.Table) (head []string, rows [][]rdf.Term) {
	if t.Ask {
		return []string{"answer"}, [][]rdf.Term{{rdf.Typed(fmt.Sprint(t.Boolean), rdf.XSDBoolean)}}
	}
	return t.Vars, t.Rows
}

// csvOf writes values without their types. Lines end with \n, because the writer would otherwise also change line
// breaks in values. A value that a spreadsheet would interpret as a formula is written unchanged, as the standard
// requires: whoever imports the file must handle it.
func csvOf(f *agent.Event) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	head, rows := grid(f.Table)
	_ = w.Write(head)
	for _, row := range rows {
		out := make([]string, len(head))
		for i, t := range row[:min(len(row), len(head))] {
			out[i] = t.Value
			if t.Kind == rdf.BlankKind {
				out[i] = "_:" + t.Value
			}
		}
		_ = w.Write(out)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func tsvOf(f *agent.Event) ([]byte, error) {
	var b bytes.Buffer
	head, rows := grid(f.Table)
	for i, h := range head {
		if i > 0 {
			b.WriteByte('\t')
		}
		b.WriteString("?" + h)
	}
	b.WriteByte('\n')
	for _, row := range rows {
		for i, t := range row {
			if i > 0 {
				b.WriteByte('\t')
			}
			if t.Bound() {
				b.WriteString(t.String()) // tabs and line breaks in a literal are escaped
			}
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}

func jsonOf(f *agent.Event) ([]byte, error) {
	if f.Table.Ask {
		return json.Marshal(map[string]any{"head": map[string]any{}, "boolean": f.Table.Boolean})
	}
	bindings := []map[string]any{}
	for _, row := range f.Table.Rows {
		m := map[string]any{}
		for i, t := range row[:min(len(row), len(f.Table.Vars))] {
			if v := jsonTerm(t); v != nil {
				m[f.Table.Vars[i]] = v
			}
		}
		bindings = append(bindings, m)
	}
	return json.Marshal(map[string]any{"head": map[string]any{"vars": f.Table.Vars},
		"results": map[string]any{"bindings": bindings}})
}

func jsonTerm(t rdf.Term) map[string]string {
	m := map[string]string{"value": t.Value}
	switch t.Kind {
	case rdf.IRIKind:
		m["type"] = "uri"
	case rdf.BlankKind:
		m["type"] = "bnode"
	case rdf.LiteralKind:
		m["type"] = "literal"
		if t.Lang != "" {
			m["xml:lang"] = t.Lang
		} else if t.Datatype != "" && t.Datatype != rdf.XSDString {
			m["datatype"] = t.Datatype
		}
	default:
		return nil
	}
	return m
}

var markdownEscaper = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "!", `\!`, "~", `\~`)

// markdownOf writes a table in GitHub's Markdown.
func markdownOf(f *agent.Event) ([]byte, error) {
	var b strings.Builder
	line := func(n int, cell func(i int) string) {
		b.WriteByte('|')
		for i := range n {
			b.WriteString(" " + cell(i) + " |")
		}
		b.WriteByte('\n')
	}
	res := shownOf(f.Table)
	n := len(res.Columns)
	line(n, func(i int) string { return markdownEscaper.Replace(res.Columns[i]) })
	line(n, func(int) string { return "---" })
	for _, row := range res.Rows {
		line(n, func(i int) string {
			c := row[i]
			shown := markdownEscaper.Replace(text.OneLine(c.Text))
			if c.URL == "" {
				return shown
			}
			return "[" + shown + "](<" + strings.NewReplacer("<", "%3C", ">", "%3E", "|", "%7C", "\\", "%5C").Replace(c.URL) + ">)"
		})
	}
	return []byte(b.String()), nil
}

// wikitextOf writes a table for a wiki page, in which no part of a value becomes markup.
func wikitextOf(f *agent.Event) ([]byte, error) {
	var b strings.Builder
	res := shownOf(f.Table)
	b.WriteString("{| class=\"wikitable sortable\"\n")
	for _, c := range res.Columns {
		b.WriteString("! " + plainWikitext(c) + "\n")
	}
	for _, row := range res.Rows {
		b.WriteString("|-\n")
		for _, c := range row {
			b.WriteString("| " + wikiCell(c) + "\n")
		}
	}
	b.WriteString("|}\n")
	return []byte(b.String()), nil
}

func wikiCell(c Cell) string {
	shown := plainWikitext(text.OneLine(c.Text))
	switch {
	case c.Kind == "item" && c.ID[0] == 'P':
		return "[[d:Property:" + c.ID + "|" + shown + "]]"
	case c.Kind == "item" && c.ID[0] == 'L':
		return "[[d:Lexeme:" + c.ID + "|" + shown + "]]"
	case c.Kind == "item":
		return "[[d:" + c.ID + "|" + shown + "]]"
	}
	return shown
}

// plainWikitext replaces every character that could start markup with a character reference.
func plainWikitext(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("[]{}|<>&'=*#:;~_-!@/\\\"`+", r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	out := b.String()
	for _, scheme := range []string{"ISBN", "RFC", "PMID"} { // MediaWiki turns these into links
		out = strings.ReplaceAll(out, scheme+" ", scheme+"&#32;")
	}
	return out
}

// shownOf returns the result as shown on the page; a Boolean becomes a table with one cell.
func shownOf(t *kg.Table) *Result {
	if t.Ask {
		head, rows := grid(t)
		return resultOf(&kg.Table{Vars: head, Rows: rows})
	}
	return resultOf(t)
}
