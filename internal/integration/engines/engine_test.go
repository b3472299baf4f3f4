//go:build integration

package engines

import (
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
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// queryTime is the time limit for running a query on an engine. A query that takes longer is counted but not judged.
const queryTime = 10 * time.Second

var (
	errSlow    = errors.New("out of time")
	errCrashed = errors.New("the engine broke the connection")
)

// refusal is an engine's error message about a query.
type refusal string

func (r refusal) Error() string { return string(r) }

// engine is a SPARQL server with some files loaded.
type engine struct {
	t     *testing.T
	name  string
	dir   string
	port  int
	files []string
	cmd   *exec.Cmd
	done  chan error
}

func startEngine(t *testing.T, name string, files []string) *engine {
	t.Helper()
	e := &engine{t: t, name: name, files: files}
	e.start()
	t.Cleanup(e.stop)
	return e
}

// freePort returns a free port such that the next port is also free (Virtuoso needs two).
func freePort(t *testing.T) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "../../../tools/freeport.sh").Output()
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (e *engine) start() {
	e.t.Helper()
	e.dir = e.t.TempDir()
	prefixes := filepath.Join(e.dir, "prefixes")
	var b strings.Builder
	for p, ns := range rdf.Prefixes {
		fmt.Fprintf(&b, "%s\t%s\n", p, ns)
	}
	if err := os.WriteFile(prefixes, []byte(b.String()), 0o600); err != nil {
		e.t.Fatal(err)
	}
	script, err := filepath.Abs("../../../tools/engines/start.sh")
	if err != nil {
		e.t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(e.dir, "log"))
	if err != nil {
		e.t.Fatal(err)
	}
	e.port = freePort(e.t)
	e.cmd = exec.CommandContext(context.Background(), "bash", append([]string{script, e.name, e.dir, fmt.Sprint(e.port),
		prefixes}, e.files...)...)
	e.cmd.Stdout, e.cmd.Stderr = log, log
	e.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := e.cmd.Start(); err != nil {
		e.t.Fatalf("%s does not start: %v", e.name, err)
	}
	e.done = make(chan error, 1)
	go func() { e.done <- e.cmd.Wait(); _ = log.Close() }()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		if _, err := os.Stat(filepath.Join(e.dir, "ready")); err == nil {
			if _, err := e.query("ASK { }"); err == nil {
				return
			}
		}
		select {
		case err := <-e.done:
			e.done <- err
			out, _ := os.ReadFile(filepath.Join(e.dir, "log"))
			e.t.Fatalf("%s does not start: %v; tools/engines/install.sh installs it\n%s", e.name, err, out)
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("%s is not ready after two minutes", e.name)
		}
	}
}

// stop ends the process group that start created.
func (e *engine) stop() {
	_ = syscall.Kill(-e.cmd.Process.Pid, syscall.SIGKILL)
	<-e.done
	e.done <- nil
}

// ask runs a query. An engine that hangs or dies is restarted.
func (e *engine) ask(query string) (*kg.Table, error) {
	e.t.Helper()
	tab, err := e.query(query)
	if errors.Is(err, errCrashed) || errors.Is(err, errSlow) {
		e.stop()
		e.start()
	}
	return tab, err
}

func (e *engine) query(query string) (*kg.Table, error) {
	ctx, cancel := context.WithTimeout(context.Background(), queryTime)
	defer cancel()
	body, kind := query, "application/sparql-query"
	if e.name == "virtuoso" { // Virtuoso accepts queries only as form data
		body = url.Values{"query": {query}, "default-graph-uri": {"http://graph.example/"}}.Encode()
		kind = "application/x-www-form-urlencoded"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/sparql", e.port),
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Accept", "application/sparql-results+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, errSlow
		}
		return nil, fmt.Errorf("%w: %w", errCrashed, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if ctx.Err() != nil {
		return nil, errSlow
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCrashed, err)
	}
	if resp.StatusCode != http.StatusOK {
		m := string(bytes.TrimSpace(data))
		if strings.Contains(m, "Timeout") || strings.Contains(m, "exceeds the limit of") || strings.Contains(m,
			"QueryInterrupted") {
			return nil, errSlow
		}
		return nil, refusal(m[:min(len(m), 600)])
	}
	tab := new(kg.Table)
	if err := json.Unmarshal(data, tab); err != nil {
		return nil, refusal(fmt.Sprintf("unreadable answer: %v: %.200s", err, data))
	}
	if len(tab.Vars) == 1 && tab.Vars[0] == "__ASK_RETVAL" { // Virtuoso's result of ASK
		tab = &kg.Table{Ask: true, Boolean: len(tab.Rows) == 1 && tab.Rows[0][0].Value == "1"}
	}
	return tab, nil
}
