// Package live answers questions over GRASP's protocol (https://github.com/ad-freiburg/grasp), so that its clients work
// with this program: a WebSocket at /live, POST /run, and GET /knowledge_graphs. It uses the 2026 version of the
// protocol, or, for clients that use it, the 2025 version.
//
//	live.go      who may ask, and how many clients at once; /run and /knowledge_graphs
//	session.go   one connection to /live
//	request.go   requests from clients; earlier questions
//	reply.go     converts a run's events to the protocol's messages
//
// Unlike GRASP's own server, this one does not reveal its settings and keys, does not let pages from arbitrary sites
// connect, and does not block other clients while it serves one.
package live

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/httpjson"
)

// Asker starts answering a question. It is implemented by [*ask.Service].
type Asker interface {
	Start(ctx context.Context, q agent.Question) (*ask.Run, error)
}

// Options configures a [Handler].
type Options struct {
	Log    *slog.Logger
	Graphs []string // names of the graphs; the first is the default
	// On returns the asker for one or more graphs. The error is only logged.
	On func(ctx context.Context, graphs []string) (Asker, error)
	// Origins are the hosts whose pages may connect to /live, in addition to this server's own; "*" is ignored
	Origins     []string
	Connections int           // maximum number of concurrent connections to /live and requests to /run; 10 if 0
	Limit       time.Duration // time limit for a question; 300 s if 0
	Idle        time.Duration // maximum time to wait for a message from a client of /live; 300 s if 0
}

// Limits on the data that a client may send, and default values taken from GRASP's server.
const (
	maxBody     = 4 << 20 // maximum size of a request in bytes; most of a request is the earlier conversation
	maxQuestion = 4000    // characters
	connections = 10
	patience    = 300 * time.Second
)

// Handler is a server for the protocol.
type Handler struct {
	Options
	slots chan struct{}
}

// New returns the server.
func New(o Options) *Handler {
	if o.Connections <= 0 {
		o.Connections = connections
	}
	if o.Limit <= 0 {
		o.Limit = patience
	}
	if o.Idle <= 0 {
		o.Idle = patience
	}
	o.Origins = slices.DeleteFunc(slices.Clone(o.Origins), func(host string) bool { return host == "*" })
	return &Handler{Options: o, slots: make(chan struct{}, o.Connections)}
}

// Parts returns the handlers for the protocol's paths, by [http.ServeMux] pattern.
func (h *Handler) Parts() map[string]http.Handler {
	return map[string]http.Handler{"GET /live": http.HandlerFunc(h.live), "POST /run": http.HandlerFunc(h.run),
		"GET /knowledge_graphs": http.HandlerFunc(h.knowledgeGraphs)}
}

// enter takes a client slot if one is free. leave frees it.
func (h *Handler) enter() bool {
	select {
	case h.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

func (h *Handler) leave() { <-h.slots }

// failure is the protocol's error response.
type failure struct {
	Error string `json:"error"`
}

const errBusy = "too many questions at once; try again in a minute"

func (h *Handler) knowledgeGraphs(w http.ResponseWriter, _ *http.Request) {
	httpjson.Write(w, http.StatusOK, h.Graphs)
}

// run answers one question, responding with the message that ends a run at /live. The run ends when the client
// disconnects.
func (h *Handler) run(w http.ResponseWriter, r *http.Request) {
	var raw json.RawMessage
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&raw); err != nil {
		status, why := http.StatusBadRequest, "the request is not JSON"
		var big *http.MaxBytesError
		if errors.As(err, &big) {
			status, why = http.StatusRequestEntityTooLarge, "the request is too long"
		}
		httpjson.Write(w, status, failure{why})
		return
	}
	req, why := h.read(raw)
	if why != "" {
		httpjson.Write(w, http.StatusBadRequest, failure{why})
		return
	}
	if !h.enter() {
		w.Header().Set("Retry-After", "60")
		httpjson.Write(w, http.StatusServiceUnavailable, failure{errBusy})
		return
	}
	defer h.leave()
	ctx, cancel := context.WithTimeout(r.Context(), h.Limit)
	defer cancel()
	run, err := h.start(ctx, req)
	if err != nil {
		httpjson.Write(w, http.StatusInternalServerError, failure{errFailed})
		return
	}
	var events []event.Event
	for _, e := range run.Events(r.Context(), 0) {
		if e.Event != "live" {
			events = append(events, e)
		}
	}
	if r.Context().Err() != nil {
		return // nobody is listening anymore
	}
	if ctx.Err() != nil {
		httpjson.Write(w, http.StatusGatewayTimeout, failure{errTime})
		return
	}
	out, err := output(req, events)
	if err != nil {
		h.Log.ErrorContext(ctx, "a question over GRASP's protocol failed", "error", err)
		httpjson.Write(w, http.StatusInternalServerError, failure{errFailed})
		return
	}
	httpjson.Write(w, http.StatusOK, out)
}

const errTime = "the time limit for the question was reached"

const errFailed = "the question could not be answered; the server's log says why"

// start starts answering a request.
func (h *Handler) start(ctx context.Context, req *request) (*ask.Run, error) {
	asker, err := h.On(ctx, req.graphs)
	if err == nil {
		var run *ask.Run
		if run, err = asker.Start(ctx, req.question); err == nil {
			return run, nil
		}
	}
	h.Log.ErrorContext(ctx, "a question over GRASP's protocol cannot be asked", "error", err)
	return nil, err
}

// live serves one client over a WebSocket until it disconnects. Pages from other sites are rejected, and so are clients
// that exceed the limit.
func (h *Handler) live(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{OriginPatterns: h.Origins})
	if err != nil {
		h.Log.DebugContext(r.Context(), "a client of /live was refused", "error", err)
		return // Accept has already responded
	}
	defer c.CloseNow() //nolint:errcheck // the client is gone either way
	if !h.enter() {
		_ = c.Close(websocket.StatusTryAgainLater, errBusy)
		return
	}
	defer h.leave()
	c.SetReadLimit(maxBody)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := &session{h: h, conn: c, in: make(chan []byte)}
	go s.listen(ctx, cancel)
	s.serve(ctx)
}
