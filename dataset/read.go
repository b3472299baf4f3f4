package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Format is a file format in which benchmarks are published.
type Format string

// The formats that [ReadItems] distinguishes.
const (
	// JSON array of {"id","title","url","question","sparql"}; id is a string or a number; title and url may be absent
	SPINACH Format = "spinach"
	// WikiWebQuestions as released: JSON array of {"id","utterance","sparql","results"}
	WWQ Format = "wwq"
	// a scored run: {"question","gold_sparql","gold_answer_tuple",…}; predictions are ignored
	SPINACHOutputs Format = "spinach-outputs"
	GRASP          Format = "grasp"      // JSON lines of {"id","question","sparql","paraphrases","info"}
	QALD           Format = "qald"       // {"dataset":{…},"questions":[…]}
	Candidates     Format = "candidates" // candidates.jsonl of a harvest
)

// maxFile is the maximum number of bytes that [ReadItems] reads. A benchmark with stored results is typically tens of
// megabytes.
const maxFile = 1 << 30

// ReadItems reads a whole benchmark file and detects its format. The elements of an array, or the lines of a file, may
// even be in different formats; the returned format is the first item's.
//
// For QALD, the first English string is the question and other English strings are paraphrases; if there is no
// English string, the first string is the question, and Language is its language. For a candidate, the request's text
// is the question, and the cleaned query (or the original one if there is none) is the query.
//
// An error includes the line and column and, for a bad item, its position and ID. Nothing is skipped: either all items
// are returned or none.
func ReadItems(r io.Reader) ([]Item, Format, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, "", fmt.Errorf("reading the benchmark: %w", text.JSON(err))
	}
	if len(data) > maxFile {
		return nil, "", fmt.Errorf("the file is larger than %d bytes; no benchmark is that large", maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	rest := bytes.TrimLeft(data, " \t\r\n")
	if len(rest) == 0 {
		return nil, "", errors.New("the file is empty; want a benchmark: SPINACH's or QALD's JSON, or GRASP's JSON lines")
	}
	f := &itemReader{data: data}
	switch {
	case rest[0] == '[':
		err = f.array("", data, 0)
	case rest[0] != '{':
		err = fmt.Errorf("%s: the file starts with %q; want a benchmark: SPINACH's or QALD's JSON, or GRASP's JSON lines",
			f.at(len(data)-len(rest)), rest[0])
	case json.Valid(data):
		err = f.document()
	default:
		err = f.lines()
	}
	if err != nil {
		return nil, "", err
	}
	return f.items, f.format, nil
}

type itemReader struct {
	data   []byte
	items  []Item
	format Format
}

// at returns an offset in the file as a line and a column.
func (f *itemReader) at(offset int) string {
	offset = min(max(offset, 0), len(f.data))
	line := 1 + bytes.Count(f.data[:offset], []byte("\n"))
	column := 1 + len([]rune(string(f.data[bytes.LastIndexByte(f.data[:offset], '\n')+1:offset])))
	return fmt.Sprintf("line %d, column %d", line, column)
}

// syntax adds the position to a JSON error; base is the parsed text's offset in the file.
func (f *itemReader) syntax(err error, base int) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return fmt.Errorf("%s: the JSON is invalid here", f.at(base+int(s.Offset)-1))
	}
	return fmt.Errorf("%s: %w", f.at(base), text.JSON(err))
}

// array reads the items of a JSON array at base; key is the name of the member that contains it, or "" for the file
// itself.
func (f *itemReader) array(key string, text []byte, base int) error {
	var raws []json.RawMessage
	if err := json.Unmarshal(text, &raws); err != nil {
		return f.syntax(err, base)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return f.syntax(err, base)
	}
	for i := range raws {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return f.syntax(err, base)
		}
		if err := f.item(raw, base+int(dec.InputOffset())-len(raw), i, key == "questions"); err != nil {
			return err
		}
	}
	if len(raws) == 0 {
		return errors.New("the file has no items")
	}
	return nil
}

// document reads a file that is one JSON object: a QALD file or a file with a single line.
func (f *itemReader) document() error {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(f.data, &top); err != nil {
		return f.syntax(err, 0)
	}
	q, ok := top["questions"]
	if !ok || bytes.HasPrefix(q, []byte(`["`)) {
		return f.item(bytes.TrimSpace(f.data), bytes.IndexByte(f.data, '{'), 0, false)
	}
	// The member is located by its text, since it is the longest value in the document, and errors need only the line.
	base := max(bytes.Index(f.data, q), 0)
	if err := f.array("questions", q, base); err != nil {
		return err
	}
	f.format = QALD
	return nil
}

func (f *itemReader) lines() error {
	base := 0
	for line := range bytes.Lines(f.data) {
		if text := bytes.TrimRight(line, " \t\r\n"); len(bytes.TrimLeft(text, " \t")) > 0 {
			var raw json.RawMessage
			if err := json.Unmarshal(text, &raw); err != nil {
				return f.syntax(err, base)
			}
			if err := f.item(text, base, len(f.items), false); err != nil {
				return err
			}
		}
		base += len(line)
	}
	return nil
}

// item reads the i-th item, whose text is at the offset base.
func (f *itemReader) item(text []byte, base, i int, qald bool) error {
	var raw map[string]json.RawMessage
	var it Item
	var format Format
	var compact bytes.Buffer // items are kept without the file's whitespace
	err := json.Compact(&compact, text)
	if err == nil {
		err = json.Unmarshal(compact.Bytes(), &raw)
	}
	switch {
	case err != nil:
		err = fmt.Errorf("it is not a JSON object but %.20s", text)
	case qald:
		it, err = qaldItem(raw)
		format = QALD
	default:
		it, format, err = plainItem(raw)
	}
	if err != nil {
		id := ""
		if it.ID != "" {
			id = fmt.Sprintf(" (id %s)", it.ID)
		}
		return fmt.Errorf("%s: item %d%s: %w", f.at(base), i+1, id, err)
	}
	if it.ID == "" {
		it.ID = strconv.Itoa(i)
	}
	if f.format == "" {
		f.format = format
	}
	f.items = append(f.items, it)
	return nil
}

// fields reads the members of an object one by one and records the first error; members that are not taken are left
// for [Item.Info].
type fields struct {
	raw map[string]json.RawMessage
	err error
}

// take removes and returns a member; null is treated as absent.
func (f *fields) take(key string) (json.RawMessage, bool) {
	v, ok := f.raw[key]
	delete(f.raw, key)
	return v, ok && string(v) != "null"
}

// text takes the first of the given members that exists; it must be a string.
func (f *fields) text(keys ...string) (s string) {
	for _, k := range keys {
		v, ok := f.take(k)
		if ok && f.err == nil && json.Unmarshal(v, &s) != nil {
			f.err = fmt.Errorf("%q is not a string but %.40s", k, v)
		}
		if ok {
			return s
		}
	}
	return ""
}

func (f *fields) list(key string) (s []string) {
	if v, ok := f.take(key); ok && f.err == nil && json.Unmarshal(v, &s) != nil {
		f.err = fmt.Errorf("%q is not a list of strings but %.40s", key, v)
	}
	return s
}

// id takes the ID, which may be a string or a number.
func (f *fields) id(it *Item) {
	v, ok := f.take("id")
	if !ok || f.err != nil {
		return
	}
	var n json.Number
	switch {
	case v[0] == '"':
		_ = json.Unmarshal(v, &it.ID) // valid JSON that starts with a quote is a string
	case json.Unmarshal(v, &n) == nil:
		it.ID, it.NumericID = n.String(), true
	default:
		f.err = fmt.Errorf(`"id" is neither a string nor a number but %.40s`, v)
	}
}

// fitting stores a member in *to if its type matches. A member of a different type is left for [Item.Info].
func fitting[T any](f *fields, key string, to *T) {
	var x T
	if v, ok := f.raw[key]; ok && string(v) != "null" && json.Unmarshal(v, &x) == nil {
		*to = x
		delete(f.raw, key)
	}
}

// result stores a member as the item's gold result if it is a bindings list, a boolean, or a whole SPARQL JSON
// document. Anything else is left for [Item.Info].
func (f *fields) result(it *Item, key string) {
	v, ok := f.raw[key]
	switch {
	case !ok || it.Answers != nil:
		return
	case string(v) == "null":
		delete(f.raw, key)
		return
	}
	var doc struct {
		Head    struct{ Vars []string }
		Results struct{ Bindings json.RawMessage }
		Boolean *bool
	}
	found := Item{Answers: v}
	if v[0] == '{' && json.Unmarshal(v, &doc) == nil {
		found.Head, found.Answers = doc.Head.Vars, doc.Results.Bindings
		if doc.Boolean != nil {
			found.Head, found.Answers = nil, json.RawMessage(strconv.FormatBool(*doc.Boolean))
		}
	}
	_, truth := found.Boolean()
	_, table := found.Bindings()
	if truth || table {
		it.Head, it.Answers = found.Head, found.Answers
		delete(f.raw, key)
	}
}

// plainItem reads an item of any format except QALD's.
func plainItem(raw map[string]json.RawMessage) (it Item, format Format, err error) {
	f := &fields{raw: raw}
	has := func(key string) bool { _, ok := raw[key]; return ok }
	switch {
	case has("provenance") && has("schema"):
		return candidateItem(raw)
	case has("typ"), has("messages"):
		f.id(&it)
		return it, "", errors.New("this is the output of a GRASP run, without questions; specify the benchmark file that was run")
	case has("gold_sparql"):
		format = SPINACHOutputs
		for _, k := range []string{"predicted_sparql", "predicted_answer_tuple", "f1", "em", "sparql", "result"} {
			delete(raw, k)
		}
	case has("utterance"):
		format = WWQ
	case has("title"), has("url"), !has("paraphrases") && !has("info") && !has("source"):
		format = SPINACH
	default:
		format = GRASP
	}
	f.id(&it)
	it.Title, it.URL = f.text("title"), f.text("url")
	it.Question = f.text("question", "utterance")
	it.SPARQL = f.text("sparql", "gold_sparql")
	it.Paraphrases = f.list("paraphrases")
	for _, k := range []string{"gold_answer_tuple", "gold", "results", "slice_result"} {
		f.result(&it, k)
	}
	if v, ok := f.take("gold_answer_tuple"); ok && f.err == nil {
		f.err = fmt.Errorf(`"gold_answer_tuple" is neither a list of bindings in the SPARQL JSON format nor a truth value but %.40s`, v)
	}
	if it.Answers != nil {
		fitting(f, "vars", &it.Head)
	}
	f.info(&it)
	switch {
	case f.err != nil:
	case strings.TrimSpace(it.Question) == "":
		f.err = errors.New(`it has no "question"`)
	case strings.TrimSpace(it.SPARQL) == "":
		f.err = errors.New(`it has no "sparql"`)
	}
	return it, format, f.err
}

// info moves the remaining members into the item. In GRASP's files, "info" contains some data for which other formats
// have separate members.
func (f *fields) info(it *Item) {
	if v, ok := f.take("info"); ok && f.err == nil {
		inner := &fields{}
		if json.Unmarshal(v, &inner.raw) != nil {
			f.err = fmt.Errorf(`"info" is not a JSON object but %.40s`, v)
			return
		}
		if it.Title == "" {
			fitting(inner, "title", &it.Title)
		}
		if it.URL == "" {
			fitting(inner, "url", &it.URL)
		}
		fitting(inner, "language", &it.Language)
		fitting(inner, "responses", &it.Responses)
		inner.result(it, "answers")
		if it.Answers != nil {
			fitting(inner, "vars", &it.Head)
		}
		for k, v := range inner.raw {
			f.raw[k] = v
		}
	}
	if len(f.raw) > 0 {
		it.Info = f.raw
	}
}

// candidateItem reads a line of candidates.jsonl.
func candidateItem(raw map[string]json.RawMessage) (Item, Format, error) {
	var c Candidate
	whole, err := json.Marshal(raw)
	if err == nil {
		err = json.Unmarshal(whole, &c)
	}
	it := Item{ID: c.ID, Title: c.Provenance.Heading, URL: c.Provenance.URL, SPARQL: c.Cleaned,
		Responses: &c.Conversation.Responses}
	switch {
	case err != nil:
		return it, "", fmt.Errorf("it is not a candidate: %w", text.JSON(err))
	case c.Schema > CandidateSchema:
		return it, "", fmt.Errorf("it has schema %d; this program reads up to %d: use a newer one", c.Schema,
			CandidateSchema)
	}
	if it.SPARQL == "" {
		it.SPARQL = c.Original
	}
	if len(c.Conversation.Comments) > 0 {
		it.Question = c.Conversation.Comments[0].Text
	}
	if c.Result != nil {
		it.Head, it.Answers = c.Result.Head, c.Result.Sample
	}
	return it, Candidates, nil
}
