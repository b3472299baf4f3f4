// Package httpapi serves an embedded graph over HTTP as Wikidata does: the SPARQL 1.1 Protocol with the query service's
// error messages, the entity actions of api.php (wbsearchentities, wbgetentities), and Special:EntityData. The sandbox
// and the demo serve it on loopback, so the same client code works with them and with the real services.
//
// Sources: W3C SPARQL 1.1 Protocol and Query Results formats; for error messages and limits, the page Wikidata:SPARQL
// query service/query limits; for the entity API, Wikibase's repo/includes/Api and docs/topics/json.md.
package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
)

// maxQuery is the maximum size of a request body, as in the query service.
const maxQuery = 1 << 20

// allowed lists the methods that the query endpoint accepts.
const allowed = "GET, HEAD, POST, OPTIONS"

// SPARQL is the query endpoint.
type SPARQL struct {
	lg    *slog.Logger
	graph *embedded.Graph
	slots chan struct{}
	stall time.Duration // how long a client may take to receive the next chunk of a response
}

// NewSPARQL returns a query endpoint for a graph. At most parallel queries run at once; 0 means no limit. Like the
// query service, it rejects further queries with status 429.
func NewSPARQL(lg *slog.Logger, g *embedded.Graph, parallel int) *SPARQL {
	h := &SPARQL{lg: lg, graph: g, stall: defaultStall}
	if parallel > 0 {
		h.slots = make(chan struct{}, parallel)
	}
	return h
}

// ServeHTTP answers a query sent by GET (?query=), in a POST form (query=) or as a POST body
// (application/sparql-query). The result format is chosen by ?format= (json, xml, csv, tsv; for CONSTRUCT and DESCRIBE
// also ttl, nt, rdf) or Accept, and defaults to XML (results XML or RDF/XML). A User-Agent is required.
// ?maxQueryTimeMillis= shortens the time limit.
func (h *SPARQL) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(strings.TrimSpace(r.UserAgent())) < 5 {
		http.Error(w, "Please identify your user agent: send a User-Agent header with a way to contact you.",
			http.StatusForbidden)
		return
	}
	query, status, err := readQuery(w, r)
	if err != nil {
		http.Error(w, err.Error(), status)
		return
	}
	if r.Method == http.MethodOptions {
		w.Header().Set("Allow", allowed)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if h.slots != nil {
		select {
		case h.slots <- struct{}{}:
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "Rate limit exceeded: too many queries at once. Please retry in 1 seconds.",
				http.StatusTooManyRequests)
			return
		}
	}
	out := &response{w: w, max: h.graph.MaxResult(), slots: h.slots, stall: h.stall}
	defer out.close()
	h.answer(out, r, query)
}

// readQuery extracts the query from a request.
func readQuery(w http.ResponseWriter, r *http.Request) (query string, status int, err error) {
	switch r.Method {
	case http.MethodOptions:
		return "", 0, nil
	case http.MethodGet, http.MethodHead:
		q := r.URL.Query()
		if q.Has("update") {
			return "", http.StatusForbidden, errors.New("updates are not accepted: this endpoint is read-only")
		}
		query = q.Get("query")
	case http.MethodPost:
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxQuery))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "", http.StatusRequestTimeout, errors.New("the request did not arrive in time; send it again")
		}
		if err != nil {
			return "", http.StatusRequestEntityTooLarge, errors.New("the request is longer than 1 MB, or was cut off")
		}
		kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch kind {
		case "application/sparql-query":
			query = string(body)
		case "application/sparql-update":
			return "", http.StatusForbidden, errors.New("updates are not accepted: this endpoint is read-only")
		case "application/x-www-form-urlencoded", "":
			form, err := parseForm(string(body))
			if err != nil {
				return "", http.StatusBadRequest, fmt.Errorf("the form cannot be read: %w", err)
			}
			if form.Has("update") {
				return "", http.StatusForbidden, errors.New("updates are not accepted: this endpoint is read-only")
			}
			query = form.Get("query")
			if f := form.Get("format"); f != "" && !r.URL.Query().Has("format") {
				u := *r.URL
				v := u.Query()
				v.Set("format", f)
				u.RawQuery = v.Encode()
				r.URL = &u
			}
		default:
			return "", http.StatusUnsupportedMediaType,
				errors.New("send the query as a form (query=…) or as application/sparql-query")
		}
	default:
		w.Header().Set("Allow", allowed)
		return "", http.StatusMethodNotAllowed, errors.New("use GET or POST")
	}
	if strings.TrimSpace(query) == "" {
		return "", http.StatusBadRequest, errors.New("the query parameter is missing")
	}
	return query, 0, nil
}

// answer runs the query and streams its result. If the query fails after the first rows were sent, the error message
// follows them, as in the query service. This makes a JSON result invalid. In line-based formats, and in XML that is
// read row by row, the message could be mistaken for rows, so the connection is also closed (using net/http's
// ErrAbortHandler), and the client sees an incomplete body.
func (h *SPARQL) answer(out *response, r *http.Request, query string) {
	ctx := r.Context()
	if ms, err := strconv.Atoi(r.URL.Query().Get("maxQueryTimeMillis")); err == nil && ms > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
	}
	if limit := h.graph.Timeout(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	out.ctx = ctx
	sink := &negotiated{r: r, out: out, use: forRows}
	err := h.graph.Stream(ctx, query, sink)
	if err == nil {
		err = sink.end()
	}
	if err == nil {
		err = out.flush()
	}
	if err == nil {
		return
	}
	if r.Context().Err() != nil {
		h.lg.Debug("sparql: the client disconnected", "err", err)
		if out.sent {
			panic(http.ErrAbortHandler)
		}
		return
	}
	status, text := errorText(query, err)
	if acceptsPlain(r) {
		text = plainText(err)
	}
	h.lg.Debug("sparql: query failed", "status", status, "err", err)
	if out.sent { // as in the query service, the error follows the rows already sent
		if out.flush() != nil {
			return // a client that has disconnected does not need the error
		}
		if out.send([]byte("\n"+text)) == nil && out.format != formatJSON {
			_ = http.NewResponseController(out.w).Flush()
			panic(http.ErrAbortHandler)
		}
		return
	}
	w := out.w
	w.Header().Set("Content-Type", "text/plain;charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(status)
	if err := out.send([]byte(text)); err != nil { // the client may have disconnected
		h.lg.Debug("sparql: the error was not sent", "err", err)
	}
}

// acceptsPlain reports whether a client explicitly requests text/plain. Since no result has that type, such a client
// wants plain error messages. All other clients receive errors in the query service's format, which its clients can
// parse.
func acceptsPlain(r *http.Request) bool {
	for _, part := range strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",") {
		if kind, _, _ := strings.Cut(part, ";"); strings.TrimSpace(kind) == "text/plain" {
			return true
		}
	}
	return false
}

// plainText returns an error message on one line.
func plainText(err error) string {
	text := err.Error()
	var e *kg.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &e) && e.Kind == kg.Timeout:
		text = "the query took longer than the time limit"
	case e != nil && e.Line > 0:
		text = fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
	case e != nil && e.Message != "":
		text = e.Message
	}
	return strings.Join(strings.Fields(text), " ")
}

const stackTrace = "\tat java.util.concurrent.FutureTask.report(FutureTask.java:122)\n\tat java.util.concurrent.FutureTask.get(FutureTask.java:206)\n"

// errorText formats an error as the query service does, with the query, the exception, and the start of a stack trace.
func errorText(query string, err error) (status int, text string) {
	status = http.StatusInternalServerError
	const executed = "java.util.concurrent.ExecutionException: "
	line := executed + "org.openrdf.query.QueryEvaluationException: " + err.Error()
	if errors.Is(err, context.DeadlineExceeded) { // even if the deadline passed while waiting for the client
		err = &kg.Error{Kind: kg.Timeout}
	}
	var e *kg.Error
	if errors.As(err, &e) {
		switch e.Kind {
		case kg.SyntaxError:
			status = http.StatusBadRequest
			line = executed + "org.openrdf.query.MalformedQueryException: " + e.Message
			if e.Line > 0 {
				line += fmt.Sprintf(" at line %d, column %d.", e.Line, e.Column)
			}
		case kg.Timeout:
			line = "java.util.concurrent.TimeoutException"
		case kg.TooGreedy, kg.TooLarge:
			line = executed + "org.openrdf.query.QueryEvaluationException: com.bigdata.rwstore.sector.MemoryManagerOutOfMemory: " + e.Message
		case kg.Refused:
			line = executed + "org.openrdf.query.QueryEvaluationException: java.lang.IllegalArgumentException: " + e.Message +
				" (not allowed)"
		default:
			line = executed + "org.openrdf.query.QueryEvaluationException: " + e.Message
		}
	}
	return status, "SPARQL-QUERY: queryStr=" + query + "\n" + line + "\n" + stackTrace
}
