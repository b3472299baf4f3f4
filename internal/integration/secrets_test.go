//go:build integration

package integration

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

// vault plants a secret in every place that can contain one, and then searches for all of them.
type vault struct {
	t       *testing.T
	bin     string
	dir     string
	secrets map[string]string // by place

	mu    sync.Mutex
	sent  strings.Builder // everything sent to servers
	shown strings.Builder // all output of the program
}

// plant creates the secret for a place.
func (v *vault) plant(place string) string {
	h := sha256.Sum256([]byte("canary of " + place))
	v.secrets[place] = hex.EncodeToString(h[:16])
	return v.secrets[place]
}

func (v *vault) show(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.shown.WriteString(text + "\n")
}

// Write records what a process prints.
func (v *vault) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown.Write(p)
}

// heard wraps a server's handler, records the requests that it receives, and returns the server's address.
func (v *vault) heard(next http.Handler) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		v.mu.Lock()
		fmt.Fprintln(&v.sent, r.URL, r.Header, string(body))
		v.mu.Unlock()
		next.ServeHTTP(w, r)
	}))
	v.t.Cleanup(srv.Close)
	return srv.URL
}

// command returns a command that runs the program in the vault's folder, with the most detailed crash reports.
func (v *vault) command(args ...string) *exec.Cmd {
	c := exec.CommandContext(context.Background(), "bash", append([]string{"-c", `ulimit -c unlimited; exec "$@"`, "sh", v.bin},
		args...)...)
	c.Dir = v.dir
	c.Env = []string{"HOME=" + v.dir, "PATH=" + os.Getenv("PATH"), "GOTRACEBACK=crash", "COMPANY_KEY=" + v.secrets["COMPANY_KEY"]}
	c.Stdout, c.Stderr = v, v
	return c
}

// run runs a command, which may fail.
func (v *vault) run(args ...string) {
	v.t.Helper()
	v.show("$ spinachbot " + strings.Join(args, " "))
	c := v.command(args...)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := c.Start(); err != nil {
		v.t.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Process.Kill() })
	defer stop()
	if err := c.Wait(); err != nil && ctx.Err() != nil {
		v.t.Errorf("spinachbot %v does not end", args)
	}
}

func (v *vault) settings(lines ...string) {
	v.t.Helper()
	if err := os.WriteFile(filepath.Join(v.dir, ".env"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		v.t.Fatal(err)
	}
}

// crash starts a command, waits for output that matches ready, examines the process from outside, and makes it crash
// with a dump of all stacks.
func (v *vault) crash(ready *regexp.Regexp, look func(said string), args ...string) {
	v.t.Helper()
	c := v.command(args...)
	out := &vaultLog{v: v}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		v.t.Fatal(err)
	}
	pid := c.Process.Pid
	deadline := time.Now().Add(time.Minute)
	for !ready.MatchString(out.text()) {
		if time.Now().After(deadline) {
			_ = c.Process.Kill()
			v.t.Fatalf("spinachbot %v does not say %v:\n%s", args, ready, out.text())
		}
		time.Sleep(20 * time.Millisecond)
	}
	proc := fmt.Sprintf("/proc/%d/", pid)
	for _, file := range []string{"cmdline", "status", "comm"} {
		data, err := os.ReadFile(proc + file)
		if err != nil {
			v.t.Error(err)
		}
		v.show(string(data))
	}
	limits, err := os.ReadFile(proc + "limits")
	if err != nil || !regexp.MustCompile(`Max core file size +0 +0 `).Match(limits) {
		v.t.Errorf("%v may write core files: %v\n%s", args, err, limits)
	}
	look(out.text())
	if err := c.Process.Signal(syscall.SIGQUIT); err != nil {
		v.t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { _ = c.Process.Kill() })
	_ = c.Wait()
	late.Stop()
	if !strings.Contains(out.text(), "SIGQUIT") || !strings.Contains(out.text(), "goroutine ") {
		v.t.Errorf("%v does not crash with its stacks:\n%s", args, out.text())
	}
}

// vaultLog collects and shows the output of one process.
type vaultLog struct {
	v  *vault
	mu sync.Mutex
	b  strings.Builder
}

func (l *vaultLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b.Write(p)
	return l.v.Write(p)
}

func (l *vaultLog) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// search searches all of the program's output and files for every secret.
func (v *vault) search() {
	v.t.Helper()
	places := map[string]string{"output": v.shown.String()}
	err := filepath.WalkDir(v.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == ".env" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			if plain, err := io.ReadAll(z); err == nil {
				data = plain
			}
		}
		places[strings.TrimPrefix(path, v.dir)] = string(data)
		if strings.HasPrefix(d.Name(), "core") {
			v.t.Errorf("a core file was written: %s", path)
		}
		return nil
	})
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Logf("searched for %d secrets in %d files and %d bytes of output", len(v.secrets), len(places)-1, v.shown.Len())
	for name, secret := range v.secrets {
		for place, text := range places {
			if testutil.Leaks(text, secret) {
				v.t.Errorf("the secret of %s shows in %s", name, place)
				if place == "output" {
					i := strings.Index(text, secret)
					v.t.Logf("…%s…", text[max(0, i-300):min(len(text), max(0, i)+300)])
				}
			}
		}
	}
}

var secretSetting = regexp.MustCompile(`(?m)^  ([A-Z0-9_]+) \(no flag: secret\)`)

// TestSecretsStaySecret plants a secret in every setting and file that can contain one. It makes the program succeed,
// fail and crash, with services that work and with services that echo what they receive, and examines its process. Then
// it searches everywhere for the secrets.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	bin := binary(t)
	help := exec.CommandContext(context.Background(), bin, "config", "check", "-h")
	listed, err := help.Output()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range secretSetting.FindAllStringSubmatch(string(listed), -1) {
		names = append(names, m[1])
	}
	if len(names) < 8 {
		t.Fatalf("only %v are listed as secret settings", names)
	}
	ways := map[string][]string{"password": {"WIKI_PASSWORD"}, "OAuth 2": {"WIKI_OAUTH2_TOKEN"}, "OAuth": {
		"WIKI_OAUTH_CONSUMER_TOKEN", "WIKI_OAUTH_CONSUMER_SECRET", "WIKI_OAUTH_ACCESS_TOKEN", "WIKI_OAUTH_ACCESS_SECRET"}}
	for way, login := range ways {
		t.Run(way, func(t *testing.T) {
			v := &vault{t: t, bin: bin, dir: t.TempDir(), secrets: map[string]string{}}
			var planted []string
			for _, n := range names {
				isLogin := strings.HasPrefix(n, "WIKI_")
				if n != "DATABASE_URL" && (!isLogin || slices.Contains(login, n)) {
					planted = append(planted, n+"="+v.plant(n))
				}
			}
			v.plant("COMPANY_KEY")
			v.secretsAtWork(planted)
			if way == "password" {
				v.secretsEchoed(planted)
			}
			v.settings(append(planted, "WIKI_API=http://127.0.0.1:9/w/api.php", "WIKI_USER=Bot@x", "OPERATOR=Op", "CONTACT=op@example.org",
				"OPENAI_BASE_URL=http://127.0.0.1:9/v1",
				"DATABASE_URL=postgres://bot:"+v.plant("DATABASE_URL")+"@127.0.0.1:9/ledger")...)
			for _, args := range [][]string{{"config", "check", "--run"}, {"config", "print"}, {"ledger", "list"}, {"run", "--once", "-v"},
				{"migrate"}, {"backup", "b2.tar.gz"}} {
				v.run(args...)
			}
			// An error about an invalid setting includes the setting's name, but not its value.
			v.settings("OPENAI_BASE_URL=https://user:"+v.plant("password in an address")+"@example.org/v1",
				"OPENAI_API_KEI="+v.plant("misspelled key"), "SPARQL_ENDPOINT=://"+v.plant("broken address"),
				"WIKI_OAUTH2_TOKEN="+v.plant("token with a space")+" x")
			v.run("config", "check")
			if !testutil.Leaks("x"+v.secrets["COMPANY_KEY"]+"y", v.secrets["COMPANY_KEY"]) {
				t.Error("the search finds nothing")
			}
			v.search()
		})
	}
}

const companyGraph = `graphs:
  company:
    endpoint: %s/sparql
    headers: {X-Api-Key: $COMPANY_KEY}
`

// secretsAtWork runs the program with services that work, namely the sandbox's.
func (v *vault) secretsAtWork(planted []string) {
	sandbox := exec.CommandContext(context.Background(), v.bin, "sandbox", "--addr", "127.0.0.1:0")
	sandbox.Dir, sandbox.Env = v.t.TempDir(), []string{"HOME=" + v.dir, "PATH=" + os.Getenv("PATH")}
	said := &vaultLog{v: &vault{}}
	sandbox.Stdout, sandbox.Stderr = said, said
	if err := sandbox.Start(); err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(func() { _ = sandbox.Process.Kill(); _ = sandbox.Wait() })
	for began := time.Now(); !strings.Contains(said.text(), "OPENAI_MODEL"); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			v.t.Fatalf("the sandbox does not start:\n%s", said.text())
		}
	}
	target, err := url.Parse(address.FindString(said.text()))
	if err != nil {
		v.t.Fatal(err)
	}
	base := v.heard(httputil.NewSingleHostReverseProxy(target))
	var lines []string
	for _, line := range planted {
		if strings.HasPrefix(line, "WIKI_PASSWORD=") { // the sandbox's own password, which is also secret
			line = regexp.MustCompile(`WIKI_PASSWORD=.*`).FindString(said.text())
			v.secrets["WIKI_PASSWORD"] = strings.TrimPrefix(line, "WIKI_PASSWORD=")
		}
		lines = append(lines, line)
	}
	v.settings(append(lines, "WIKI_API="+base+"/w/api.php", "WIKI_USER=SpinachBot@sandbox", "OPERATOR=Op", "CONTACT=op@example.org",
		"SPARQL_ENDPOINT="+base+"/sparql?key="+v.plant("key in an address"), "ENTITY_API="+base+"/w/api.php",
		"OPENAI_BASE_URL="+base+"/v1", "OPENAI_MODEL=scripted", "POSTING=on", "ANSWER_SINCE=2026-01-01", "ANSWER_DELAY=0s",
		"KG_FILE=graphs.yaml")...)
	if err := os.WriteFile(filepath.Join(v.dir, "graphs.yaml"), fmt.Appendf(nil, companyGraph, base), 0o600); err != nil {
		v.t.Fatal(err)
	}
	const question = "What is the capital of Ivory Coast according to Wikidata? An item number would be nice."
	for _, args := range [][]string{{"config", "check", "--run"}, {"config", "print"}, {"run", "--once", "-v"},
		{"ask", "-v", "--record", "tape", question}, {"kg", "check", "company"}, {"kg", "show", "company"},
		{"ask", "-v", "--kg", "company", question}, {"ledger", "list"}, {"trace", "show"}, {"backup", "b.tar.gz"}} {
		v.run(args...)
	}
	v.crash(regexp.MustCompile(`http://127.0.0.1:\d+/`), func(said string) {
		page := address.FindString(said)
		for _, path := range []string{"/", "/metrics", "/healthz", "/readyz", "/knowledge_graphs", "/mcp", "/nothing",
			"/text2sparql?dataset=https://example.org/x&question=" + url.QueryEscape(question)} {
			resp, err := http.Get(page + path) //nolint:noctx // a single request
			if err != nil {
				v.t.Error(err)
				continue
			}
			data, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			v.show(fmt.Sprint(path, resp.Header, string(data), err))
		}
	}, "serve", "-v", "--addr", "127.0.0.1:0", "--dataset", "https://example.org/x")
	if slices.ContainsFunc(planted, func(line string) bool { return strings.HasPrefix(line, "WIKI_PASSWORD=") }) {
		// The sandbox's wiki supports only passwords; with other logins, the bot stops at once.
		v.crash(regexp.MustCompile(`level=INFO`), func(string) {}, "run", "-v")
	}
	sent := v.sent.String()
	for place, secret := range v.secrets {
		if strings.HasSuffix(place, "_SECRET") {
			continue // this secret is used for signing and is never sent
		}
		if !strings.HasPrefix(place, "OPERATOR_") && !strings.Contains(sent, secret) {
			v.t.Errorf("the secret of %s was never used, so the test proves nothing about it", place)
		}
	}
}

// secretsEchoed runs the program with services that echo what they receive.
func (v *vault) secretsEchoed(planted []string) {
	for _, name := range []string{"server error", "error object 200", "proxy's page"} { // the clients' tests cover all
		echo := testutil.Echoes()[name]
		base := v.heard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("type") == "login" { // without a login token, the program would not send the password
				_, _ = io.WriteString(w, `{"query":{"tokens":{"logintoken":"abc+\\"}}}`)
				return
			}
			echo(w, r)
		}))
		v.settings(append(planted, "WIKI_API="+base+"/w/api.php", "WIKI_USER=SpinachBot@sandbox", "OPERATOR=Op",
			"CONTACT=op@example.org", "SPARQL_ENDPOINT="+base+"/sparql?key="+v.secrets["key in an address"], "ENTITY_API="+base+"/w/api.php",
			"OPENAI_BASE_URL="+base+"/v1", "OPENAI_MODEL=m", "OPENAI_TIMEOUT=1s", "KG_FILE=graphs.yaml", "DATA_DIR=echo")...)
		if err := os.WriteFile(filepath.Join(v.dir, "graphs.yaml"), fmt.Appendf(nil, companyGraph, base), 0o600); err != nil {
			v.t.Fatal(err)
		}
		v.quick([]string{"run", "--once", "-v"}, []string{"ask", "-v", "--record", "tape of " + name, "What is the capital of Peru?"},
			[]string{"kg", "check", "company"})
	}
}

// quick runs commands in parallel and stops them after a few seconds, because they would wait for a service to recover.
func (v *vault) quick(calls ...[]string) {
	v.t.Helper()
	var all sync.WaitGroup
	for _, args := range calls {
		c := v.command(args...)
		if err := c.Start(); err != nil {
			v.t.Fatal(err)
		}
		stop := time.AfterFunc(4*time.Second, func() { _ = c.Process.Signal(os.Interrupt) })
		kill := time.AfterFunc(time.Minute, func() {
			v.t.Errorf("spinachbot %v does not end", args)
			_ = c.Process.Kill()
		})
		all.Go(func() {
			defer stop.Stop()
			defer kill.Stop()
			_ = c.Wait()
		})
	}
	all.Wait()
}
