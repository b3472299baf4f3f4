//go:build integration

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// realWiki is a MediaWiki installed by tools/realwiki.
type realWiki struct {
	t    *testing.T
	vars map[string]string
}

var assignment = regexp.MustCompile(`(?m)^([A-Z_]+)='(.*)'$`)

func startWiki(t *testing.T) *realWiki {
	t.Helper()
	return startWikiOf(t, "")
}

// startNewerWiki starts the MediaWiki that tools/realwiki/next.sh unpacks. It has discussion tools.
func startNewerWiki(t *testing.T) *realWiki {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), "bash", "../../tools/realwiki/next.sh")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the newer MediaWiki cannot be unpacked: %v", err)
	}
	folder := strings.TrimSpace(string(out))
	w := startWikiOf(t, folder)
	w.vars["MW"] = folder
	return w
}

// maintain runs one of the wiki's maintenance scripts, and then the jobs that the script queued.
func (w *realWiki) maintain(args ...string) {
	w.t.Helper()
	for _, a := range [][]string{args, {"runJobs"}} {
		cmd := exec.CommandContext(w.t.Context(), "php", append([]string{filepath.Join(w.vars["MW"], "maintenance", "run.php")}, a...)...)
		cmd.Env = append(os.Environ(), "MW_CONFIG_FILE="+filepath.Join(w.vars["REALWIKI_DIR"], "LocalSettings.php"))
		if out, err := cmd.CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %v\n%s", a, err, out)
		}
	}
}

// startWikiOf starts the MediaWiki in a folder, or the installed one if no folder is given.
func startWikiOf(t *testing.T, folder string) *realWiki {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(context.Background(), "bash", "../../tools/realwiki/start.sh", dir)
	cmd.Env = append(os.Environ(), "REALWIKI_MW="+folder)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("MediaWiki does not start: %v", err)
	}
	w := &realWiki{t: t, vars: map[string]string{}}
	for _, m := range assignment.FindAllStringSubmatch(string(out), -1) {
		w.vars[m[1]] = m[2]
	}
	t.Cleanup(func() {
		stop := exec.CommandContext(context.Background(), "bash", "../../tools/realwiki/stop.sh", dir)
		stop.Stderr = os.Stderr
		if err := stop.Run(); err != nil {
			t.Errorf("MediaWiki does not stop: %v", err)
		}
	})
	return w
}

func (w *realWiki) page() string { return w.vars["FORUM_PAGE"] }

// user is an ordinary account, logged in with a bot password.
type user struct {
	t     *testing.T
	api   string
	name  string
	http  *http.Client
	token string
}

func (w *realWiki) user(name string) *user {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.t.Fatal(err)
	}
	u := &user{t: w.t, api: w.vars["WIKI_API"], name: name, http: &http.Client{Jar: jar, Timeout: 60 * time.Second}}
	key := "REALWIKI_" + strings.ToUpper(name)
	tok := u.call(url.Values{"action": {"query"}, "meta": {"tokens"}, "type": {"login"}})
	login := u.call(url.Values{"action": {"login"}, "lgname": {w.vars[key+"_USER"]},
		"lgpassword": {w.vars[key+"_PASSWORD"]}, "lgtoken": {str(tok, "query", "tokens", "logintoken")}})
	if str(login, "login", "result") != "Success" {
		w.t.Fatalf("%s cannot log in: %v", name, login)
	}
	u.token = str(u.call(url.Values{"action": {"query"}, "meta": {"tokens"}}), "query", "tokens", "csrftoken")
	return u
}

func (u *user) call(v url.Values) map[string]any {
	u.t.Helper()
	v.Set("format", "json")
	v.Set("formatversion", "2")
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, u.api, strings.NewReader(v.Encode()))
	if err != nil {
		u.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("User-Agent", "integration test")
	resp, err := u.http.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		u.t.Fatalf("api.php: %v", err)
	}
	return out
}

func (u *user) edit(v url.Values) {
	u.t.Helper()
	v.Set("action", "edit")
	v.Set("token", u.token)
	if v.Get("summary") == "" {
		v.Set("summary", "test")
	}
	out := u.call(v)
	if str(out, "edit", "result") != "Success" {
		u.t.Fatalf("%s cannot edit %s: %v", u.name, v.Get("title"), out)
	}
}

// ask posts a new request in a new section, as a user would. The heading is appended to each scripted request:
// otherwise, equal texts from the same user would count as repeated requests, which are not answered.
func (u *user) ask(page, heading, text string) {
	u.t.Helper()
	if text == capital || text == landlocked {
		text += " (" + heading + ")"
	}
	u.edit(url.Values{"title": {page}, "section": {"new"}, "sectiontitle": {heading}, "text": {text + " ~~~~"}})
}

// reply adds a line right after the last line that contains where, in the section with the given heading.
func (u *user) reply(page, heading, where, line string) {
	u.t.Helper()
	text := u.text(page)
	start := strings.Index(text, "== "+heading+" ==\n")
	i := strings.LastIndex(section(text, heading), where)
	if i < 0 || start < 0 {
		u.t.Fatalf("%q is not in section %q of the page:\n%s", where, heading, text)
	}
	i += start + len("== "+heading+" ==\n")
	end := i + strings.IndexByte(text[i:]+"\n", '\n')
	if end > len(text) {
		end = len(text)
	}
	u.edit(url.Values{"title": {page}, "text": {text[:end] + "\n" + line + " ~~~~" + text[end:]}})
}

func (u *user) text(page string) string {
	u.t.Helper()
	out := u.call(url.Values{"action": {"query"}, "prop": {"revisions"}, "rvprop": {"content"}, "rvslots": {"main"},
		"titles": {page}})
	pages, _ := dig(out, "query", "pages").([]any)
	if len(pages) == 0 {
		u.t.Fatalf("no page %s: %v", page, out)
	}
	revs, _ := dig(pages[0], "revisions").([]any)
	if len(revs) == 0 {
		return ""
	}
	return str(revs[0], "slots", "main", "content")
}

// html returns the page's HTML as rendered by Parsoid.
func (w *realWiki) html(page string) string {
	w.t.Helper()
	return w.get(w.vars["REALWIKI_URL"] + "/rest.php/v1/page/" + url.PathEscape(page) + "/html")
}

func (w *realWiki) get(addr string) string {
	w.t.Helper()
	resp, err := http.Get(addr) //nolint:noctx // a test request
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s %v\n%.300s", addr, resp.Status, err, b)
	}
	return string(b)
}

func dig(v any, path ...string) any {
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[p]
	}
	return v
}

func str(v any, path ...string) string {
	s, _ := dig(v, path...).(string)
	return s
}

// binaryDir is the folder that contains the program under test. All tests in a run share it.
var binaryDir string

func TestMain(m *testing.M) {
	var err error
	if binaryDir, err = os.MkdirTemp("", "spinachbot-*"); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	if err := os.RemoveAll(binaryDir); err != nil {
		log.Print(err)
	}
	os.Exit(code)
}

// build builds the program the first time it is called.
var build = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(binaryDir, "spinachbot")
	if out, err := exec.CommandContext(context.Background(), "go", "build", "-o", path, "../../cmd/spinachbot").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

// binary returns the path of the program under test.
func binary(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+`)

// startSandbox starts the graph and the scripted model and returns their address.
func startSandbox(t *testing.T, bin string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, bin, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, args...)...)
	cmd.Dir = t.TempDir()
	cmd.Stderr = os.Stderr
	cmd.Env = []string{"HOME=" + cmd.Dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	found := make(chan string, 1)
	go func() {
		buf, all := make([]byte, 4096), ""
		sent := false
		for {
			n, err := out.Read(buf)
			all += string(buf[:n])
			if a := address.FindString(all); a != "" && !sent && strings.Contains(all, "\n") {
				found <- a
				sent = true
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case a := <-found:
		return a
	case <-time.After(60 * time.Second):
		t.Fatal("the sandbox prints no address")
		return ""
	}
}
