package score

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// Format is the format of an output file.
type Format string

// The formats that [ReadOutputs] distinguishes by the first item.
const (
	// JSON array: question, predicted_sparql, gold_sparql, f1, predicted_answer_tuple, gold_answer_tuple
	SpinachOutputs Format = "spinach"
	// JSON lines: in 2025 typ, sparql, result (a string), messages and id, of which id and sparql are required;
	// currently type, id, and output with sparql and kg
	GRASPOutputs Format = "grasp"
	// JSON object that maps an ID to target and prediction with sizes, errors and score; no rows
	GRASPEvaluation Format = "grasp-evaluation"
	RunResults      Format = "run"              // results.jsonl of "eval run"
	Dialogues       Format = "interactive-kbqa" // dialogue files: question, sparql, answers, dialog
	// JSON lines: sparql, result (SPARQL JSON, bindings or truth value) or error; used to look up results
	QueryResultLines Format = "results"
)

// Output is one item in an output file.
type Output struct {
	Index    int    // 0-based position in the file
	ID       string // the ID in the file, or ""
	Question string
	Language string // language of the question, if the file specifies it
	SPARQL   string // the predicted query, or ""
	Gold     string // the gold query, or ""

	// Result and GoldResult are for [ReadAnswer]; nil if the file contains no rows for them, null if there is no answer.
	Result, GoldResult json.RawMessage

	Failure string // if a service failed, the reason why there is no answer; otherwise empty
	Steps   int    // number of actions or function calls; -1 if unknown
	Aliases []string
	Stored  *float64 // the F1 stored in the file, for SPINACH's outputs

	// Unreadable is the reason why the item cannot be read, or "". If it is set, the only other fields set are Index and,
	// if the file has an ID for the item, ID.
	Unreadable string
	// Benchmark means that the item has a question and a query but nothing that a system adds. The file is probably a
	// benchmark, not an output file.
	Benchmark bool

	Dialogue *Dialogue  // of Interactive-KBQA
	Scored   *Evaluated // of GRASP's evaluation format
}

// Evaluated contains an item's scores in GRASP's evaluation format.
type Evaluated struct {
	Excluded string  // reason that the item is excluded, or ""
	Score    float64 // 0 if no query was produced
}

// ReadOutputs reads an output file item by item and calls f with each item, including items that it cannot read (see
// [Output.Unreadable]). A truncated file, or data after the end, is reported as one additional unreadable item. NaN,
// which Python's json module writes, is read as null. The error is either from f or means that no item can be read.
func ReadOutputs(r io.Reader, f func(*Output) error) (Format, error) {
	br := bufio.NewReaderSize(r, 1<<16)
	if b, err := br.Peek(3); err == nil && bytes.Equal(b, []byte("\ufeff")) {
		_, _ = br.Discard(3)
	}
	first, err := firstByte(br)
	if err != nil {
		return "", fmt.Errorf("the file cannot be read, or is empty: %w", text.JSON(err))
	}
	o := &outputs{dec: json.NewDecoder(&pythonJSON{r: br}), each: f}
	switch first {
	case '[':
		err = o.list()
	case '{':
		for err == nil {
			err = o.next()
		}
	default:
		err = fmt.Errorf("the file starts with %q; want outputs of SPINACH (a JSON array), of GRASP or of eval run (JSON lines)", first)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	switch {
	case err != nil:
	case o.format != "":
	case o.unread != nil:
		err = o.unread
	default:
		err = errors.New("the file has no items")
	}
	return o.format, err
}

// firstByte skips white space and returns the next byte.
func firstByte(br *bufio.Reader) (byte, error) {
	for {
		b, err := br.Peek(1)
		if err != nil {
			return 0, err
		}
		if strings.IndexByte(" \t\r\n", b[0]) < 0 {
			return b[0], nil
		}
		_, _ = br.Discard(1)
	}
}

type outputs struct {
	dec    *json.Decoder
	each   func(*Output) error
	format Format // the format of the first readable item
	n      int
	unread error // the reason why the first unreadable item cannot be read
}

// list reads a JSON array and anything that follows it.
func (o *outputs) list() error {
	if _, err := o.dec.Token(); err != nil {
		return err
	}
	for o.dec.More() {
		if err := o.next(); err != nil {
			return err
		}
	}
	if _, err := o.dec.Token(); err != nil {
		return o.cut(err)
	}
	if _, err := o.dec.Token(); !errors.Is(err, io.EOF) {
		return o.unreadable("", errors.New("the file continues after the end of its list; the rest is not read"))
	}
	return nil
}

// cut reports that the rest of the file cannot be read, and stops reading.
func (o *outputs) cut(why error) error {
	if errors.Is(why, io.EOF) {
		why = io.ErrUnexpectedEOF
	}
	if err := o.unreadable("", fmt.Errorf("the file cannot be read from here on: %w", text.JSON(why))); err != nil {
		return err
	}
	return io.EOF
}

// unreadable reports an item that cannot be read.
func (o *outputs) unreadable(id string, why error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(why, &wrong):
	case wrong.Field == "":
		why = fmt.Errorf("it is not an object but a %s", wrong.Value)
	default:
		why = fmt.Errorf("its member %q is a %s", wrong.Field, wrong.Value)
	}
	if o.unread == nil {
		o.unread = fmt.Errorf("item #%d: %w", o.n+1, why)
	}
	out := &Output{Index: o.n, ID: id, Steps: -1, Unreadable: why.Error()}
	o.n++
	return o.each(out)
}

// rawOutput contains the members of all formats.
type rawOutput struct {
	ID         json.RawMessage `json:"id"`
	Question   string          `json:"question"`
	Language   string          `json:"language"`
	Predicted  *string         `json:"predicted_sparql"`
	GoldSPARQL string          `json:"gold_sparql"`
	F1         json.RawMessage `json:"f1"`
	PredRows   json.RawMessage `json:"predicted_answer_tuple"`
	GoldRows   json.RawMessage `json:"gold_answer_tuple"`

	Typ      string          `json:"typ"`
	Type     string          `json:"type"`
	Output   *graspOutput    `json:"output"`
	SPARQL   *string         `json:"sparql"`
	Result   json.RawMessage `json:"result"`
	Error    json.RawMessage `json:"error"`
	Messages []rawMessage    `json:"messages"`
	Elapsed  json.RawMessage `json:"elapsed"`

	Questions json.RawMessage `json:"questions"` // set in a benchmark in QALD's format

	Gold     json.RawMessage `json:"gold"`
	Answered *bool           `json:"answered"`
	Steps    *int            `json:"steps"`

	Dialog  []Message       `json:"dialog"`
	Answers json.RawMessage `json:"answers"`
	Answer  json.RawMessage `json:"answer"`
	Raw     json.RawMessage `json:"answers_raw"`
}

// graspOutput is a line in the current GRASP format: an answer, or a canceled run with its best attempt.
type graspOutput struct {
	SPARQL *string `json:"sparql"`
}

type rawMessage struct {
	Role      string            `json:"role"`
	Content   json.RawMessage   `json:"content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// next reads one item; it returns io.EOF at the end.
func (o *outputs) next() error {
	var item json.RawMessage
	if err := o.dec.Decode(&item); errors.Is(err, io.EOF) {
		return err
	} else if err != nil {
		return o.cut(err)
	}
	if o.n == 0 {
		if done, err := o.evaluation(item); done {
			return err
		}
	}
	var raw rawOutput
	if err := json.Unmarshal(item, &raw); err != nil {
		return o.unreadable(idText(raw.ID), err)
	}
	form := raw.form()
	if form == "" && raw.Questions != nil {
		return o.unreadable("", errors.New("it is a benchmark in QALD's format, which contains no outputs: name the file of a system's outputs, and this one with --gold"))
	}
	if form == "" {
		return o.unreadable(idText(raw.ID), errors.New("its format is unknown: it has neither predicted_answer_tuple (SPINACH), nor id and sparql (GRASP), nor answered and result "+
			"(eval run), nor dialog (Interactive-KBQA)"))
	}
	if o.format == "" {
		o.format = form
	}
	out := raw.output(form)
	out.Index = o.n
	o.n++
	return o.each(out)
}

func (raw *rawOutput) form() Format {
	isText := len(raw.Result) > 0 && raw.Result[0] == '"'
	switch {
	case raw.PredRows != nil || raw.GoldRows != nil:
		return SpinachOutputs
	case raw.Dialog != nil:
		return Dialogues
	case raw.Answered != nil || raw.Gold != nil:
		return RunResults
	case raw.SPARQL != nil && !isText && raw.Typ == "" && raw.Result != nil:
		return QueryResultLines
	case raw.Typ == "output" || raw.Type == "output" || raw.ID != nil:
		return GRASPOutputs
	}
	return ""
}

func (raw *rawOutput) output(form Format) *Output {
	out := &Output{ID: idText(raw.ID), Question: raw.Question, Language: raw.Language, Gold: raw.GoldSPARQL, Steps: -1}
	if raw.SPARQL != nil {
		out.SPARQL = *raw.SPARQL
	}
	if raw.Steps != nil {
		out.Steps = *raw.Steps
	}
	switch form {
	case SpinachOutputs:
		if json.Unmarshal(raw.F1, &out.Stored) != nil {
			out.Stored = nil // it is not a number, so there is nothing to compare
		}
		if raw.Predicted != nil {
			out.SPARQL = *raw.Predicted
		}
		// If no answer is stored, there is none; the published evaluator would reuse the previous question's answer.
		out.Result, out.GoldResult = orNull(raw.PredRows), orNull(raw.GoldRows)
	case RunResults:
		out.Result, out.GoldResult = orNull(raw.Result), orNull(raw.Gold)
		out.Failure = failureOf(raw.Error)
	case QueryResultLines:
		out.Result = raw.Result
	case Dialogues:
		out.Gold, out.SPARQL = out.SPARQL, ""
		out.Dialogue = &Dialogue{Question: raw.Question, Query: out.Gold, Messages: raw.Dialog}
		out.Dialogue.Answers = append(texts(raw.Answers), texts(raw.Answer)...)
		out.Aliases = aliases(raw.Raw)
		out.Steps = out.Dialogue.Turns()
	case GRASPOutputs:
		if raw.Output != nil && raw.Output.SPARQL != nil {
			out.SPARQL = *raw.Output.SPARQL
		}
		out.Benchmark = raw.Type == "" && raw.Question != "" && out.SPARQL != "" && raw.Typ == "" &&
			raw.Elapsed == nil && raw.Messages == nil && raw.Result == nil
		out.Failure = graspFailure(raw)
		if len(raw.Messages) > 0 {
			out.Steps = 0
			for _, m := range raw.Messages {
				out.Steps += len(m.ToolCalls)
			}
		}
	}
	return out
}

func orNull(m json.RawMessage) json.RawMessage {
	if m == nil {
		return json.RawMessage("null")
	}
	return m
}

// idText returns an ID as text, whether it is a string or a number in the file.
func idText(id json.RawMessage) string {
	var s string
	if len(id) == 0 || string(id) == "null" {
		return ""
	}
	if json.Unmarshal(id, &s) == nil {
		return s
	}
	return string(id)
}

// failureOf reads the error in a result of "eval run". There is an error only if a service failed.
func failureOf(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var f struct{ Kind, Message, Content, Reason string }
	if json.Unmarshal(raw, &f) != nil {
		return idText(raw)
	}
	for _, s := range []string{f.Kind, f.Reason, f.Message, f.Content} {
		if s != "" {
			return s
		}
	}
	return "an error without a word"
}

// serverFailures are the phrases by which GRASP's evaluation recognizes that a server, rather than the system, failed.
var serverFailures = []string{"502 Server Error", "503 Server Error", "Read timed out. (read timeout=6)",
	"403 Client Error"}

// graspFailure returns the reason why GRASP's evaluation would skip the output: its error, or a phrase in
// serverFailures that a tool result contains. If there is no reason, it returns "".
func graspFailure(raw *rawOutput) string {
	if f := failureOf(raw.Error); f != "" {
		return f
	}
	for _, m := range raw.Messages {
		if m.Role != "tool" {
			continue
		}
		for _, phrase := range serverFailures {
			if bytes.Contains(m.Content, []byte(phrase)) {
				return phrase
			}
		}
	}
	return ""
}

// evaluation reads GRASP's evaluation format: one object with an object for each ID. It preserves the order in the
// file.
func (o *outputs) evaluation(doc json.RawMessage) (done bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false, nil
	}
	type side struct {
		Err   *string  `json:"err"`
		Size  *int     `json:"size"`
		Score *float64 `json:"score"`
		Query string   `json:"sparql"`
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return o.n > 0, err
		}
		var it struct {
			Target     *side `json:"target"`
			Prediction *side `json:"prediction"`
		}
		if err := decodeMember(dec, &it); err != nil || it.Target == nil {
			if o.format != GRASPEvaluation {
				return false, nil
			}
			if err == nil {
				err = errors.New("it has no target")
			}
			if err := o.unreadable(key.(string), err); err != nil {
				return true, err
			}
			continue
		}
		o.format = GRASPEvaluation
		ev := &Evaluated{}
		out := &Output{Index: o.n, ID: key.(string), Steps: -1, Scored: ev}
		switch p := it.Prediction; {
		case it.Target.Err != nil:
			ev.Excluded = "the gold query failed"
		case it.Target.Size == nil || *it.Target.Size == 0:
			ev.Excluded = EmptyGold
		case p == nil:
		default:
			out.SPARQL = p.Query
			for _, phrase := range serverFailures {
				if p.Err != nil && strings.Contains(*p.Err, phrase) {
					out.Failure = phrase
				}
			}
			if p.Score != nil {
				ev.Score = *p.Score
			}
		}
		o.n++
		if err := o.each(out); err != nil {
			return true, err
		}
	}
	return o.n > 0, nil
}

// decodeMember reads the next value of valid JSON into v. It consumes the value even if it returns an error.
func decodeMember(dec *json.Decoder, v any) error {
	var member json.RawMessage
	if err := dec.Decode(&member); err != nil {
		return err
	}
	return json.Unmarshal(member, v)
}
