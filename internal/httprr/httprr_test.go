package httprr

import (
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "hunter2-hunter2-hunter2"

func scrub(s string) string { return strings.ReplaceAll(s, secret, "******") }

func send(t *testing.T, rt http.RoundTripper, method, url, body string) (int, string, error) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	resp, err := (&http.Client{Transport: rt}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

func TestRecordAndReplay(t *testing.T) {
	calls := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Header().Set("Set-Cookie", "session="+secret)
		w.Header().Set("Retry-After", "3")
		switch r.URL.Path {
		case "/json":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"n": `+strings.Repeat("1", calls)+`, "echo": "`+r.Header.Get("Authorization")+`"}`)
		case "/binary":
			_, _ = w.Write([]byte{0xff, 0x00, 0x01})
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
		case "/fail":
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	file := filepath.Join(t.TempDir(), "x.httprr")
	rec, err := Record(file, http.DefaultTransport, scrub)
	if err != nil {
		t.Fatal(err)
	}
	type got struct {
		status int
		body   string
		failed bool
	}
	requests := []struct{ method, path, body string }{
		{"POST", "/json?b=2&a=1", `{"x":1, "key":"` + secret + `"}`}, {"POST", "/json?b=2&a=1", `{"x":1, "key":"` + secret +
			`"}`},
		{"GET", "/binary", ""}, {"GET", "/cut", ""}, {"POST", "/fail", "not JSON"},
	}
	play := func(rt http.RoundTripper, host string) []got {
		var out []got
		for _, r := range requests {
			status, body, err := send(t, rt, r.method, host+r.path, r.body)
			out = append(out, got{status, scrub(strings.ReplaceAll(body, ": ", ":")), err != nil})
		}
		return out
	}
	recorded := play(rec, srv.URL)
	srv.Close()
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Record(file, nil, scrub); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a recording is not overwritten: %v", err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), secret) || strings.Contains(string(data), "Cookie") {
		t.Fatalf("a secret was recorded: %v\n%s", err, data)
	}
	if !strings.HasPrefix(string(data), `{"httprr":`) || strings.Count(string(data), "\n") != 1+len(requests) {
		t.Errorf("want a head and %d lines:\n%s", len(requests), data)
	}
	p, err := Replay(file, scrub)
	if err != nil {
		t.Fatal(err)
	}
	replayed := play(p, "http://another.example")
	for i := range recorded {
		want := recorded[i]
		want.body = strings.ReplaceAll(want.body, ", ", ",")
		replayed[i].body = strings.ReplaceAll(replayed[i].body, ", ", ",")
		if replayed[i] != want {
			t.Errorf("%v: replayed %+v, recorded %+v", requests[i], replayed[i], want)
		}
	}
	if recorded[0].body == recorded[1].body || !recorded[3].failed || recorded[4].status != 429 {
		t.Fatalf("the test's server is wrong: %+v", recorded)
	}
	if u := p.Unused(); len(u) != 0 {
		t.Errorf("unused: %v", u)
	}
}

func TestMiss(t *testing.T) {
	const line = `{"key":"%","request":{"method":"GET","path":"/a"},"response":{"status":200,"body":"x"}}`
	req := httptest.NewRequest("GET", "http://h/a", nil)
	text := "{\"httprr\":1}\n" + strings.Replace(line, "%", key(req, nil, scrub), 1) + "\n" + `{"key":"torn`
	p, err := ReplayFrom("x.httprr", strings.NewReader(text), scrub)
	if err != nil {
		t.Fatal(err)
	}
	if _, body, err := send(t, p, "GET", "http://h/a", ""); err != nil || body != "x" {
		t.Errorf("%q %v", body, err)
	}
	var miss *MissError
	if _, _, err := send(t, p, "GET", "http://h/a", ""); !errors.As(err, &miss) || miss.Times != 1 ||
		!strings.Contains(err.Error(), "only 1 times") {
		t.Errorf("the second time: %v", err)
	}
	if _, _, err := send(t, p, "GET", "http://h/b", ""); !errors.As(err, &miss) || miss.Times != 0 ||
		!strings.Contains(err.Error(), "x.httprr does not contain GET /b") {
		t.Errorf("another request: %v", err)
	}
	if _, err := p.RoundTrip(req); !errors.As(err, &miss) {
		t.Errorf("without a body: %v", err)
	}
}

func TestKey(t *testing.T) {
	k := func(method, url, body string) string {
		return key(httptest.NewRequest(method, url, nil), []byte(body), scrub)
	}
	same := k("POST", "http://a/p?x=1&y=2", `{"a":1,"b":[1.50]}`)
	if got := k("POST", "https://b:8080/p?y=2&x=1", "{ \"b\": [1.50],\n\"a\": 1 }"); got != same {
		t.Error("host, order and white space do not count")
	}
	for _, other := range []string{k("PUT", "http://a/p?x=1&y=2", `{"a":1,"b":[1.50]}`), k("POST", "http://a/q?x=1&y=2",
		`{"a":1,"b":[1.50]}`),
		k("POST", "http://a/p?x=2&y=2", `{"a":1,"b":[1.50]}`), k("POST", "http://a/p?x=1&y=2", `{"a":1,"b":[1.5]}`),
		k("POST", "http://a/p?x=1&y=2", "")} {
		if other == same {
			t.Error("method, path, query and body count")
		}
	}
}

func TestBadFiles(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no head": "{}\n", "newer": "{\"httprr\":2}\n", "broken line": "{\"httprr\":1}\n{\"key\n{}\n",
		"no exchange": "{\"httprr\":1}\n{}\n\n",
	} {
		if _, err := ReplayFrom(name, strings.NewReader(text), scrub); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFindSecrets(t *testing.T) {
	x := strings.Repeat("a1b2", 10)
	for _, bad := range []string{
		"key sk-" + x, `"Authorization":["Bearer ` + x + `"]`, "Bearer " + x, `"Set-Cookie":["a=b"]`, "SpinachBot@" +
			strings.Repeat("0a", 16),
		"lgpassword=" + x, `"password": "` + x + `"`, strings.Repeat("0f", 16) + `+\\`, "ghp_" + x,
		"-----BEGIN RSA PRIVATE KEY-----",
		"http://user:secret@host/", `oauth_signature="` + x + `"`,
	} {
		found := FindSecrets([]byte("fine\n" + bad))
		if len(found) == 0 || !strings.HasPrefix(found[0], "line 2: ") || strings.Contains(found[0], x) {
			t.Errorf("%s: found %q", bad, found)
		}
	}
	for _, good := range []string{"Bearer ******", "sk-****", `"Authorization":["******"]`,
		"https://www.wikidata.org/wiki/Q42", "the bearer of bad news",
		"http://user:******@host/", "mail@example.org", "SELECT ?password WHERE {}"} {
		if found := FindSecrets([]byte(good)); found != nil {
			t.Errorf("%s: found %q", good, found)
		}
	}
}

// No file of test data in the repository contains anything that looks like a secret.
func TestNoSecretsInTestdata(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal("the repository's root is not where this test looks for it")
	}
	files := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == ".git" || n == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		slashed := filepath.ToSlash(path)
		if !strings.Contains(slashed, "/testdata/") && !strings.HasSuffix(slashed, ".httprr") && !strings.HasSuffix(slashed,
			".jsonl") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, s := range FindSecrets(data) {
			t.Errorf("%s, %s", path, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files", files)
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"a": 1}`))
	f.Add([]byte(`{"base64": "AA=="}`))
	f.Add([]byte{0xff})
	f.Add([]byte("text"))
	f.Fuzz(func(t *testing.T, data []byte) {
		line, err := body{data}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var back body
		if err := back.UnmarshalJSON(line); err != nil {
			t.Fatal(err)
		}
		if string(canonical(back.data)) != string(canonical(data)) {
			t.Errorf("%q became %q by way of %s", data, back.data, line)
		}
	})
}
