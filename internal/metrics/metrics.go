// Package metrics counts what the program does, for Prometheus (https://prometheus.io/docs/practices/naming/). All
// names start with spinachbot_. Label values come from this program's own lists, never from a wiki, a graph or a model,
// so strangers cannot add time series.
package metrics

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// Metrics contains the counters of one process. They are safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time

	runs     *prometheus.CounterVec
	steps    *prometheus.CounterVec
	refused  *prometheus.CounterVec
	model    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	money    prometheus.Counter
	graph    *prometheus.CounterVec
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	served   *prometheus.CounterVec
	serving  *prometheus.HistogramVec
	held     *prometheus.CounterVec
}

// New returns counters at zero, together with the standard metrics of the Go runtime and the process.
func New(version string, now func() time.Time) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: now}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spinachbot_" + name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	m.runs = counter("questions_total", "Questions that were answered or given up, by ending.", "ending")
	m.steps = counter("steps_total", "Actions that were carried out, by tool.", "tool")
	m.refused = counter("rollbacks_total", "Actions that were refused, by reason.", "reason")
	m.model = counter("model_calls_total", "Calls to the language model, by purpose and result.", "purpose", "result")
	m.tokens = counter("model_tokens_total", "Tokens used by the language model.", "direction")
	m.money = prometheus.NewCounter(prometheus.CounterOpts{Name: "spinachbot_model_usd_total",
		Help: "Cost of the language model in US dollars, at the configured prices."})
	m.graph = counter("graph_calls_total", "Calls to knowledge graphs, by operation and result.", "operation", "result")
	m.requests = counter("outgoing_requests_total", "HTTP requests to other services, by service and status.", "service",
		"status")
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "spinachbot_outgoing_seconds",
		Help:    "Time until the header of an answer arrived, by service.",
		Buckets: seconds}, []string{"service"})
	m.served = counter("http_requests_total", "Requests to this server, by path, method and status.", "path", "method",
		"status")
	m.serving = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "spinachbot_http_seconds",
		Help: "Time until a request was answered completely, by path.", Buckets: seconds}, []string{"path"})
	m.held = counter("gate_refusals_total", "Replies held back by the gate, by failed check.",
		"check")
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "spinachbot_build_info", Help: "Version of the program.",
		ConstLabels: prometheus.Labels{"version": version}})
	build.Set(1)
	m.registry.MustRegister(m.money, m.seconds, m.serving, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// seconds contains the histogram buckets for durations.
var seconds = []float64{.01, .03, .1, .3, 1, 3, 10, 30, 60, 120}

// Request counts a request to this server. path and method must come from the program's own lists.
func (m *Metrics) Request(path, method string, status int, took time.Duration) {
	m.served.WithLabelValues(path, method, strconv.Itoa(status)).Inc()
	m.serving.WithLabelValues(path).Observe(took.Seconds())
}

// Held counts a reply that failed one of the gate's checks.
func (m *Metrics) Held(check string) { m.held.WithLabelValues(check).Inc() }

// Handler serves the counters in the Prometheus text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, Timeout: 10 * time.Second,
		MaxRequestsInFlight: 4})
}

// Watch counts an event in a run. tools lists the names of all tools; a name made up by a model is counted as "other".
func (m *Metrics) Watch(e event.Event, tools []string) {
	switch e.Event {
	case "model":
		result := "ok"
		if e.Error != "" {
			result = "failed"
		}
		purpose := "unknown"
		if e.Request != nil && e.Request.Purpose != "" {
			purpose = e.Request.Purpose
		}
		m.model.WithLabelValues(purpose, result).Inc()
		if e.Response != nil {
			u := e.Response.Usage
			m.tokens.WithLabelValues("input").Add(float64(u.InputTokens))
			m.tokens.WithLabelValues("output").Add(float64(u.OutputTokens))
			m.money.Add(u.USD)
		}
	case "graph":
		if e.Call == nil {
			return
		}
		result := "ok"
		if e.Call.Failure != nil {
			if result = string(e.Call.Failure.Kind); result == "" {
				result = "failed"
			}
		}
		m.graph.WithLabelValues(e.Call.Op, result).Inc()
	case "step":
		if e.Reason != "" { // the call was rejected
			m.refused.WithLabelValues(e.Reason).Inc()
			return
		}
		tool := "other"
		if e.Step != nil && slices.Contains(tools, e.Step.Action) {
			tool = e.Step.Action
		}
		m.steps.WithLabelValues(tool).Inc()
	case "rollback":
		m.refused.WithLabelValues(e.Reason).Inc()
	case "end":
		ending := e.Reason
		if ending == "" {
			ending = "answered"
		}
		m.runs.WithLabelValues(ending).Inc()
	}
}

// Opener wraps open so that each event in the opened trajectories is counted after it is written.
func (m *Metrics) Opener(open func(id string) (ask.Trajectory, error), tools []string) func(string) (ask.Trajectory,
	error) {
	return func(id string) (ask.Trajectory, error) {
		t, err := open(id)
		if err != nil {
			return nil, err
		}
		return trajectory{t, m, tools}, nil
	}
}

type trajectory struct {
	ask.Trajectory
	m     *Metrics
	tools []string
}

// Record implements [event.Recorder].
func (t trajectory) Record(ctx context.Context, e event.Event) error {
	err := t.Trajectory.Record(ctx, e)
	if err == nil {
		t.m.Watch(e, t.tools)
	}
	return err
}

// Transport counts the requests to a service: "model", "graph" or "wiki".
func (m *Metrics) Transport(service string, rt http.RoundTripper) http.RoundTripper {
	return transport{rt, m, service}
}

type transport struct {
	next    http.RoundTripper
	m       *Metrics
	service string
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := t.m.now()
	resp, err := t.next.RoundTrip(r)
	status := "error"
	switch {
	case err == nil:
		status = strconv.Itoa(resp.StatusCode)
	case errors.Is(err, context.Canceled):
		status = "canceled"
	case errors.Is(err, context.DeadlineExceeded):
		status = "timeout"
	}
	t.m.requests.WithLabelValues(t.service, status).Inc()
	t.m.seconds.WithLabelValues(t.service).Observe(t.m.now().Sub(began).Seconds())
	return resp, err
}

// Gauges adds a gauge with one label whose values are read at each scrape. If read fails, that scrape does not include
// the gauge.
func (m *Metrics) Gauges(name, help, label string, read func(context.Context) (map[string]float64, error)) {
	m.registry.MustRegister(&gauges{prometheus.NewDesc("spinachbot_"+name, help, []string{label}, nil), read,
		prometheus.GaugeValue})
}

// Counters is like [Metrics.Gauges], but for values that never decrease.
func (m *Metrics) Counters(name, help, label string, read func(context.Context) (map[string]float64, error)) {
	m.registry.MustRegister(&gauges{prometheus.NewDesc("spinachbot_"+name, help, []string{label}, nil), read,
		prometheus.CounterValue})
}

type gauges struct {
	desc *prometheus.Desc
	read func(context.Context) (map[string]float64, error)
	kind prometheus.ValueType
}

// Describe implements [prometheus.Collector].
func (g *gauges) Describe(ch chan<- *prometheus.Desc) { ch <- g.desc }

// Collect implements [prometheus.Collector].
func (g *gauges) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	values, err := g.read(ctx)
	if err != nil {
		return
	}
	for label, v := range values {
		ch <- prometheus.MustNewConstMetric(g.desc, g.kind, v, label)
	}
}
