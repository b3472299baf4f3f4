package mediawiki

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// encode5849 encodes a string according to RFC 5849, section 3.6.
func encode5849(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// base5849 returns the signature base string of a request (section 3.4.1). header contains the parameters from the
// Authorization header, body those from a form.
func base5849(method, address string, header map[string]string, body string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	type pair struct{ name, value string }
	var all []pair
	add := func(v url.Values) {
		for name, values := range v {
			for _, value := range values {
				all = append(all, pair{encode5849(name), encode5849(value)})
			}
		}
	}
	add(u.Query())
	form, err := url.ParseQuery(body)
	if err != nil {
		panic(err)
	}
	add(form)
	for name, value := range header {
		if name != "realm" && name != "oauth_signature" {
			all = append(all, pair{encode5849(name), encode5849(value)})
		}
	}
	slices.SortFunc(all, func(a, b pair) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return strings.Compare(a.value, b.value)
	})
	params := make([]string, len(all))
	for i, p := range all {
		params[i] = p.name + "=" + p.value
	}
	host := strings.ToLower(u.Host)
	if u.Scheme == "http" {
		host = strings.TrimSuffix(host, ":80")
	} else {
		host = strings.TrimSuffix(host, ":443")
	}
	return method + "&" + encode5849(u.Scheme+"://"+host+u.EscapedPath()) + "&" + encode5849(strings.Join(params, "&"))
}

// sign5849 returns the HMAC-SHA1 signature of a base string (section 3.4.2).
func sign5849(base, consumerSecret, tokenSecret string) string {
	m := hmac.New(sha1.New, []byte(encode5849(consumerSecret)+"&"+encode5849(tokenSecret)))
	_, _ = io.WriteString(m, base)
	return base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// TestVerifier checks the verifier used by these tests against the RFC's own examples: the base string of section
// 3.4.1.1 (as corrected by erratum 2550) and two signed requests of section 1.2.
func TestVerifier(t *testing.T) {
	base := base5849("POST", "http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b", map[string]string{
		"realm": "Example", "oauth_consumer_key": "9djdj82h48djs9d2", "oauth_token": "kkk9d7dh3k39sjv7",
		"oauth_signature_method": "HMAC-SHA1", "oauth_timestamp": "137131201", "oauth_nonce": "7d8f3e4a",
		"oauth_signature": "bYT5CMsGcbgUdFHObYMEfcx6bsw="}, "c2&a3=2+q")
	const want = "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540" +
		"%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1" +
		"%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
	if base != want {
		t.Errorf("base string\n%s\nwant\n%s", base, want)
	}
	for _, c := range []struct {
		method, address, secret, want string
		header                        map[string]string
	}{
		{"GET", "http://photos.example.net/photos?file=vacation.jpg&size=original", "pfkkdhi9sl3r4s00",
			"MdpQcU8iPSUjWoN/UDMsK2sui9I=", map[string]string{"oauth_consumer_key": "dpf43f3p2l4k3l03",
				"oauth_token": "nnch734d00sl2jdk", "oauth_signature_method": "HMAC-SHA1", "oauth_timestamp": "137131202",
				"oauth_nonce": "chapoH"}},
		{"POST", "https://photos.example.net/token", "hdhd0244k9j7ao03", "gKgrFCywp7rO0OXSjdot/IHF7IU=",
			map[string]string{"oauth_consumer_key": "dpf43f3p2l4k3l03", "oauth_token": "hh5s93j4hdidpola",
				"oauth_signature_method": "HMAC-SHA1", "oauth_timestamp": "137131201", "oauth_nonce": "walatlh",
				"oauth_verifier": "hfdp7dh39dks9884"}},
	} {
		if got := sign5849(base5849(c.method, c.address, c.header, ""), "kd94hf93k423kf44", c.secret); got != c.want {
			t.Errorf("%s: signature %s, want %s", c.address, got, c.want)
		}
	}
}

// TestOAuthSignatures has a server check every signature according to the RFC, even for requests with characters that
// are easy to escape incorrectly. The secrets also contain such characters. The parameter names do not: the library
// does not escape them, and no parameter name in api.php needs escaping.
func TestOAuthSignatures(t *testing.T) {
	o := OAuth{"consumer key", "c&s=e c+r%ét", "token~", "a/s*e(c)ret"}
	var base string
	checked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields, ok := strings.CutPrefix(r.Header.Get("Authorization"), "OAuth ")
		header := map[string]string{}
		for _, f := range strings.Split(fields, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(f), "=")
			plain, err := url.PathUnescape(strings.Trim(value, `"`))
			ok = ok && err == nil
			header[name] = plain
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !ok {
			t.Errorf("request %q %v", r.Header.Get("Authorization"), err)
		}
		if header["oauth_consumer_key"] != "consumer key" || header["oauth_token"] != "token~" {
			t.Errorf("header %v", header)
		}
		base = base5849(r.Method, "http://"+r.Host+r.URL.RequestURI(), header, string(body))
		if want := sign5849(base, o.ConsumerSecret, o.AccessSecret); header["oauth_signature"] != want {
			t.Errorf("%s %s: signature %s, want %s", r.Method, r.URL, header["oauth_signature"], want)
		}
		checked++
	}))
	defer srv.Close()
	rt, err := signer(o, http.DefaultTransport)
	if err != nil {
		t.Fatal(err)
	}
	send := func(r *http.Request, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		resp, err := rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	ctx := context.Background()
	for _, query := range []string{"", "?action=query&titles=A%20b%7CC", "?b5=%3D%253D&a3=a&a2=r%20b", "?text=%C3%A9%2B%F0%9F%8C%B1*()'!~"} {
		send(http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/w/api.php"+query, nil))
	}
	for _, form := range []url.Values{{"text": {"a b+c%&=\nñ 🌱 *()'!~"}, "token": {`abc+\`}}, {"summary": {""}, "a": {"x"}}} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL+"/w/api.php", strings.NewReader(form.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		send(r, err)
	}
	if checked != 6 {
		t.Errorf("%d requests were checked, not 6", checked)
	}
}

// TestOAuth2 simulates a wiki with OAuth 2. A request with the right token is authenticated as the account. A request
// with a wrong token is rejected with the same response as from MediaWiki's extension. A request without a token is
// anonymous.
func TestOAuth2(t *testing.T) {
	const token = "eyJ0eXAiOiJKV1QifQ.eyJhdWQi.c2ln-na_ture"
	p := &played{t: t}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			w.Header().Set("MediaWiki-API-Error", "mwoauth-invalid-authorization")
			_, _ = io.WriteString(w, `{"errors":[{"code":"mwoauth-invalid-authorization","text":"The authorization headers in your request are not valid: `+
				r.Header.Get("Authorization")+`"}]}`)
			return
		}
		p.ServeHTTP(w, r)
	}))
	defer srv.Close()
	client := func(token string) (*Client, *strings.Builder) {
		var log strings.Builder
		c, err := New(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Config{API: srv.URL + "/w/api.php", UserAgent: "Test/1 (x)", Account: "Test Bot", Bearer: token}, nil,
			politehttp.NewManualClock(start))
		if err != nil {
			t.Fatal(err)
		}
		return c, &log
	}
	c, log := client(token)
	if _, err := c.Save(context.Background(), edit); err != nil {
		t.Fatal(err)
	}
	if c.Account() != "Test Bot" || p.count("login") != 0 || p.count("edit") != 1 {
		t.Errorf("account %q, requests %v", c.Account(), p.seen)
	}
	const revoked = "another-token-that-was-revoked"
	bad, badLog := client(revoked)
	_, err := bad.Save(context.Background(), edit)
	if kind, _ := KindOf(err); err == nil || kind != Blocked || strings.Contains(err.Error(), revoked) {
		t.Errorf("a revoked token: %v", err)
	}
	if strings.Contains(log.String()+badLog.String(), token) || strings.Contains(badLog.String(), revoked) {
		t.Error("the log holds a token")
	}
	if p.count("edit") != 1 {
		t.Error("an edit went through with a revoked token")
	}
}
