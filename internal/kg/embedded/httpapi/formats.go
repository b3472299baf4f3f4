package httpapi

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

func parseForm(body string) (url.Values, error) { return url.ParseQuery(body) }

// response buffers the start of a result, so that an early failure can still be reported with its own status code. A
// result that is too long is cut off.
type response struct {
	w      http.ResponseWriter
	format format
	max    int64 // maximum size of the body in bytes
	count  int64
	buf    bytes.Buffer
	sent   bool

	ctx   context.Context // context of the query
	slots chan struct{}   // limits concurrent queries; this query occupies a slot except while it waits for its client
	gone  bool            // the query has released its slot
	stall time.Duration
}

// defaultStall is how long a client may take to receive the next chunk of a response, which is at most 64 kB.
const defaultStall = 10 * time.Second

// writeGrace is how long after a query's deadline a chunk of its response may still be sent.
const writeGrace = 500 * time.Millisecond

// send writes to the client. Meanwhile, the query's slot is free for other queries. A client that does not read is
// disconnected.
func (o *response) send(p []byte) error {
	if o.slots != nil && !o.gone {
		<-o.slots
		o.gone = true
	}
	piece, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), o.stall)
	defer cancel()
	end, _ := piece.Deadline()
	last, ok := o.ctx.Deadline()
	if ok && o.ctx.Err() == nil && last.Add(writeGrace).Before(end) { // an error may be sent after the query's deadline
		end = last.Add(writeGrace)
	}
	_ = http.NewResponseController(o.w).SetWriteDeadline(end) // only httptest's recorder does not support deadlines
	_, err := o.w.Write(p)
	return err
}

// resume acquires a slot again, so that the query can continue.
func (o *response) resume() error {
	if !o.gone {
		return nil
	}
	select {
	case o.slots <- struct{}{}:
		o.gone = false
		return nil
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

// close completes the response: it sends the rest of the buffer, removes the deadline, and releases the slot.
func (o *response) close() {
	if o.slots != nil && !o.gone {
		<-o.slots
	}
	conn := http.NewResponseController(o.w)
	if o.count > 2048 { // shorter responses get a Content-Length, unless sending starts early
		_ = conn.Flush()
	}
	_ = conn.SetWriteDeadline(time.Time{})
}

const bufferSize = 64 << 10

// Write buffers p and sends the buffer when it is full. Data beyond the limit is not sent and causes an error.
func (o *response) Write(p []byte) (int, error) {
	if o.count+int64(len(p)) > o.max {
		return 0, kg.Errorf(kg.TooLarge, "the result has more than %d MB; add a LIMIT or narrow the pattern", o.max>>20)
	}
	if err := o.resume(); err != nil {
		return 0, err
	}
	o.count += int64(len(p))
	n, _ := o.buf.Write(p)
	if o.buf.Len() >= bufferSize {
		return n, o.flush()
	}
	return n, nil
}

func (o *response) flush() error {
	if !o.sent {
		o.sent = true
		o.w.Header().Set("Content-Type", o.format.mime+";charset=utf-8")
		o.w.Header().Set("Cache-Control", "public, max-age=300")
		o.w.WriteHeader(http.StatusOK)
	}
	err := o.send(o.buf.Bytes())
	o.buf.Reset()
	return err
}

// writer is a Sink that writes a result in one format. end completes the result.
type writer interface {
	embedded.Sink
	end() error
}

// resultWriter contains the code shared by all formats. put only collects text; send writes it and returns any error.
type resultWriter struct {
	out  *response
	vars []string
	line []byte
}

func (b *resultWriter) send() error {
	_, err := b.out.Write(b.line)
	b.line = b.line[:0]
	return err
}

func (b *resultWriter) put(parts ...string) {
	for _, p := range parts {
		b.line = append(b.line, p...)
	}
}

func (b *resultWriter) end() error { return nil }

// piece is the length in bytes above which a value is escaped and sent in parts. A value may be several megabytes long,
// and its escaped form six times as long.
const piece = 32 << 10

// value writes a value, escaped by appendTo. Escaping a string in parts must give the same result as escaping it whole.
func (b *resultWriter) value(s string, appendTo func([]byte, string) []byte) error {
	for len(s) > piece {
		end := piece
		for end > piece-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		b.line = appendTo(b.line, s[:end])
		s = s[end:]
		if err := b.send(); err != nil {
			return err
		}
	}
	b.line = appendTo(b.line, s)
	if len(b.line) > piece {
		return b.send()
	}
	return nil
}

// xmlWriter writes the SPARQL Query Results XML Format.
type xmlWriter struct {
	resultWriter
	ask bool
}

// Head writes the start of the document.
func (x *xmlWriter) Head(vars []string, ask bool) error {
	x.vars, x.ask = vars, ask
	x.put("<?xml version='1.0' encoding='UTF-8'?>\n<sparql xmlns='http://www.w3.org/2005/sparql-results#'>\n<head>")
	for _, v := range vars {
		x.put(`<variable name="`, escapeXML(v), `"/>`)
	}
	x.put("</head>\n")
	if !ask {
		x.put("<results>\n")
	}
	return x.send()
}

// Row writes one solution.
func (x *xmlWriter) Row(row []rdf.Term) error {
	x.put("<result>")
	for i, t := range row {
		if !t.Bound() {
			continue
		}
		x.put(`<binding name="`, escapeXML(x.vars[i]), `">`)
		name := "literal"
		switch {
		case t.Kind == rdf.IRIKind:
			name = "uri"
			x.put("<uri>")
		case t.Kind == rdf.BlankKind:
			name = "bnode"
			x.put("<bnode>")
		case t.Lang != "":
			x.put(`<literal xml:lang="`, escapeXML(t.Lang), `">`)
		case t.Datatype != "":
			x.put(`<literal datatype="`, escapeXML(t.Datatype), `">`)
		default:
			x.put("<literal>")
		}
		if err := x.value(t.Value, func(b []byte, s string) []byte { return append(b, escapeXML(s)...) }); err != nil {
			return err
		}
		x.put("</", name, "></binding>")
	}
	x.put("</result>\n")
	return x.send()
}

// Boolean writes the result of an ASK query.
func (x *xmlWriter) Boolean(b bool) error {
	x.put("<boolean>", strconv.FormatBool(b), "</boolean>\n</sparql>\n")
	return x.send()
}

func (x *xmlWriter) end() error {
	if !x.ask {
		x.put("</results>\n</sparql>\n")
	}
	return x.send()
}

func escapeXML(s string) string {
	if !strings.ContainsAny(s, "<>&\"'\r\n\t") && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return s
	}
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder never fails
	return b.String()
}

// csvWriter writes the SPARQL 1.1 Query Results CSV Format: plain values.
type csvWriter struct{ resultWriter }

// Head writes the column names.
func (c *csvWriter) Head(vars []string, ask bool) error {
	c.vars = vars
	if ask {
		return nil
	}
	for i, v := range vars {
		if i > 0 {
			c.put(",")
		}
		c.put(v)
	}
	c.put("\r\n")
	return c.send()
}

// Row writes one solution.
func (c *csvWriter) Row(row []rdf.Term) error {
	for i, t := range row {
		if i > 0 {
			c.put(",")
		}
		quote := ""
		if strings.ContainsAny(t.Value, ",\"\r\n") {
			quote = `"`
		}
		c.put(quote)
		if t.Kind == rdf.BlankKind {
			c.put("_:")
		}
		if err := c.value(t.Value, func(b []byte, s string) []byte {
			return append(b, strings.ReplaceAll(s, `"`,
				`""`)...)
		}); err != nil {
			return err
		}
		c.put(quote)
	}
	c.put("\r\n")
	return c.send()
}

// Boolean writes the result of an ASK query, for which the format defines no representation.
func (c *csvWriter) Boolean(b bool) error {
	c.put(strconv.FormatBool(b), "\r\n")
	return c.send()
}

// term writes a term in the syntax of N-Triples and TSV.
func (b *resultWriter) term(t rdf.Term) error {
	switch {
	case len(t.Value) <= piece || t.Kind == rdf.BlankKind:
		b.put(t.String())
		return nil
	case t.IsIRI():
		b.put("<")
		err := b.value(t.Value, func(b []byte, s string) []byte { return append(b, s...) })
		b.put(">")
		return err
	}
	b.put(`"`)
	err := b.value(t.Value, func(b []byte, s string) []byte {
		q := rdf.Quote(s)
		return append(b, q[1:len(q)-1]...)
	})
	t.Value = ""
	b.put(t.String()[1:]) // the closing quote and the language or datatype
	return err
}

// tsvWriter writes the SPARQL 1.1 Query Results TSV Format: terms as in Turtle.
type tsvWriter struct{ resultWriter }

// Head writes the column names.
func (c *tsvWriter) Head(vars []string, ask bool) error {
	c.vars = vars
	if ask {
		return nil
	}
	for i, v := range vars {
		if i > 0 {
			c.put("\t")
		}
		c.put("?", v)
	}
	c.put("\n")
	return c.send()
}

// Row writes one solution.
func (c *tsvWriter) Row(row []rdf.Term) error {
	for i, t := range row {
		if i > 0 {
			c.put("\t")
		}
		if err := c.term(t); err != nil {
			return err
		}
	}
	c.put("\n")
	return c.send()
}

// Boolean writes the result of an ASK query.
func (c *tsvWriter) Boolean(b bool) error {
	c.put(strconv.FormatBool(b), "\n")
	return c.send()
}
