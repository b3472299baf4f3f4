package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/benchdata"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

type server struct {
	name string
	url  string
	cmd  *exec.Cmd
	load time.Duration
}

func (s *server) stop() {
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
	_ = s.cmd.Wait()
}

// measure starts an engine, runs all queries on it and stops it.
func measure(ctx context.Context, name, scripts, dir, data string, runs int) (result, error) {
	r := result{name: name, inProcess: map[string]float64{}, overHTTP: map[string]float64{}, rows: map[string]int{},
		failed: map[string]string{}}
	start := startScript
	if name == "embedded" || name == "gordflib" {
		start = startChild
	}
	s, err := start(ctx, name, scripts, dir, data)
	if err != nil {
		return r, err
	}
	defer s.stop()
	r.load = s.load
	r.memory, _ = s.resident()
	queries := benchdata.Classes
	if name != "gordflib" { // gordflib takes minutes for some of the other queries
		queries = slices.Concat(queries, benchdata.More)
	}
	for _, q := range queries {
		text := benchdata.Prefixes() + q.Text
		if name == "embedded" || name == "gordflib" {
			err = s.sample(runs, func() (float64, int, error) { return s.local(ctx, text) }, r.inProcess, r.rows, q.Name)
		}
		if err == nil && name != "gordflib" {
			var inside []float64
			err = s.sample(runs, func() (float64, int, error) {
				ms, in, rows, err := s.protocol(ctx, text)
				if in > 0 {
					inside = append(inside, in)
				}
				return ms, rows, err
			}, r.overHTTP, r.rows, q.Name)
			if len(inside) > 1 {
				r.inProcess[q.Name] = median(inside[1:])
			}
		}
		if err != nil {
			if ctx.Err() != nil {
				return r, err
			}
			r.failed[q.Name] = err.Error()
			err = nil
		}
	}
	_, r.peak = s.resident()
	return r, nil
}

// sample runs a query once to warm up and then the given number of times, recording the median time.
func (s *server) sample(runs int, once func() (float64, int, error), times map[string]float64, rows map[string]int,
	name string) error {
	var all []float64
	for i := range runs + 1 {
		ms, n, err := once()
		if err != nil {
			return err
		}
		rows[name] = n
		if i > 0 {
			all = append(all, ms)
		}
	}
	times[name] = median(all)
	return nil
}

func median(ms []float64) float64 {
	ms = slices.Sorted(slices.Values(ms))
	if n := len(ms); n%2 == 0 {
		return (ms[n/2-1] + ms[n/2]) / 2
	}
	return ms[len(ms)/2]
}

// local runs a query on one of the Go engines and returns the time measured inside the engine's process.
func (s *server) local(ctx context.Context, query string) (ms float64, rows int, err error) {
	data, _, err := s.post(ctx, "/local", "text/plain", query)
	if err != nil {
		return 0, 0, err
	}
	var micros int
	if _, err := fmt.Sscan(string(data), &micros, &rows); err != nil {
		return 0, 0, err
	}
	return float64(micros) / 1000, rows, nil
}

// protocol runs a query over the SPARQL protocol; inside is the time that the engine itself reports, or 0.
func (s *server) protocol(ctx context.Context, query string) (ms, inside float64, rows int, err error) {
	kind, body := "application/sparql-query", query
	if s.name == "virtuoso" {
		kind, body = "application/x-www-form-urlencoded", url.Values{"query": {query},
			"default-graph-uri": {"http://graph.example/"}}.Encode()
	}
	start := time.Now()
	data, head, err := s.post(ctx, "/sparql", kind, body)
	ms = float64(time.Since(start).Microseconds()) / 1000
	if err != nil {
		return 0, 0, 0, err
	}
	if t, ok := strings.CutPrefix(head.Get("Server-Timing"), "query;dur="); ok {
		inside, _ = strconv.ParseFloat(t, 64)
	}
	var answer struct {
		Results struct{ Bindings []json.RawMessage }
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return 0, 0, 0, err
	}
	return ms, inside, len(answer.Results.Bindings), nil
}

func (s *server) post(ctx context.Context, path, kind, body string) ([]byte, http.Header, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/sparql-results+json")
	req.Header.Set("User-Agent", "graphbench (benchmark)")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, fmt.Errorf("%s: %.200s", resp.Status, bytes.TrimSpace(data))
	}
	return data, resp.Header, nil
}

// startChild starts this program as the server of a Go engine.
func startChild(ctx context.Context, name, _, _, data string) (*server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-child", name, data)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := cmd.StdinPipe(); err != nil { // the child exits when this process does
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var addr string
	var ms int
	if _, err := fmt.Fscan(bufio.NewReader(out), &addr, &ms); err != nil {
		_ = cmd.Process.Kill()
		return nil, fmt.Errorf("it did not start: %w", errors.Join(err, cmd.Wait()))
	}
	return &server{name, "http://" + addr, cmd, time.Duration(ms) * time.Millisecond}, nil
}

// startScript starts an engine with tools/engines/start.sh, which creates DIR/ready and writes the loading time in
// milliseconds to DIR/loaded.
func startScript(ctx context.Context, name, scripts, dir, data string) (*server, error) {
	var b strings.Builder
	for p, ns := range rdf.Prefixes {
		fmt.Fprintf(&b, "%s\t%s\n", p, ns)
	}
	prefixes := filepath.Join(dir, "prefixes")
	if err := os.WriteFile(prefixes, []byte(b.String()), 0o600); err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	port, err := freePort(ctx, scripts)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(scripts, "start.sh"), name, work, strconv.Itoa(port), prefixes,
		data)
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &server{name: name, url: fmt.Sprintf("http://127.0.0.1:%d", port), cmd: cmd}
	for range 1200 {
		if _, err := os.Stat(filepath.Join(work, "ready")); err == nil {
			if _, _, _, err := s.protocol(ctx, "SELECT * { }"); err == nil {
				text, err := os.ReadFile(filepath.Join(work, "loaded"))
				ms, _ := strconv.Atoi(strings.TrimSpace(string(text)))
				s.load = time.Duration(ms) * time.Millisecond
				return s, err
			}
		}
		select {
		case <-ctx.Done():
			s.stop()
			return nil, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	s.stop()
	text, _ := os.ReadFile(log.Name())
	return nil, fmt.Errorf("the engine did not start; tools/engines/install.sh installs it\n%s", text)
}

// freePort returns a free port whose successor is also free (Virtuoso requires two).
func freePort(ctx context.Context, scripts string) (int, error) {
	out, err := exec.CommandContext(ctx, "bash", filepath.Join(scripts, "..", "freeport.sh")).Output()
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// resident returns the total memory of the processes in the engine's group, now and at its peak, in bytes (Linux,
// proc(5)).
func (s *server) resident() (now, peak int64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, f := range files {
		stat, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) < 3 || fields[2] != strconv.Itoa(s.cmd.Process.Pid) {
			continue
		}
		status, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "status"))
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			switch name {
			case "VmRSS":
				now += kb << 10
			case "VmHWM":
				peak += kb << 10
			}
		}
	}
	return now, peak
}
