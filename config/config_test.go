package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, dotenv string, environ []string, flags map[string]string) (*Config, []string, error) {
	t.Helper()
	src := Source{Environ: environ, Flags: flags}
	if dotenv != "" {
		src.DotEnv = strings.NewReader(dotenv)
	}
	return Load(src)
}

func TestDefaultsAreValid(t *testing.T) {
	c, warnings, err := load(t, "", nil, nil)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("warnings %v, error %v", warnings, err)
	}
	if c.Posting != "off" {
		t.Errorf("posting must be off until enabled by name, got %q", c.Posting)
	}
	if c.AnswerDelay != 15*time.Minute || c.OpenAITimeout != 2*time.Minute {
		t.Errorf("durations: %v, %v", c.AnswerDelay, c.OpenAITimeout)
	}
}

func TestFlagsOverEnvironmentOverDotEnv(t *testing.T) {
	dotenv := "FORUM_PAGE=file\nOPERATOR=file\nCONTACT=file\n"
	env := []string{"FORUM_PAGE=env", "OPERATOR=env"}
	c, _, err := load(t, dotenv, env, map[string]string{"FORUM_PAGE": "flag"})
	if err != nil {
		t.Fatal(err)
	}
	if c.ForumPage != "flag" || c.Operator != "env" || c.Contact != "file" {
		t.Errorf("got %q %q %q, want flag env file", c.ForumPage, c.Operator, c.Contact)
	}
	if c.Origin("FORUM_PAGE") != "flag" || c.Origin("OPERATOR") != "environment" || c.Origin("CONTACT") != ".env" ||
		c.Origin("POSTING") != "default" {
		t.Error("wrong origins")
	}
}

// A line without a value in the settings file, as in .env.example, sets nothing.
func TestEmptyIsDefault(t *testing.T) {
	c, _, err := load(t, "OPT_OUT_PAGE=\nCONTACT=file\n", nil, nil)
	if err != nil || c.Origin("OPT_OUT_PAGE") != "default" || c.Origin("CONTACT") != ".env" {
		t.Errorf("%v: OPT_OUT_PAGE from %s, CONTACT from %s", err, c.Origin("OPT_OUT_PAGE"), c.Origin("CONTACT"))
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	_, _, err := load(t, "POSTNG=on\nANSWER_DELAY=soon\nDAILY_USD_LIMIT=5\n",
		[]string{"POSTING=yes", "WIKI_API=ftp://x"}, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{".env:1: unknown key POSTNG; did you mean POSTING?",
		".env:2: ANSWER_DELAY: want a duration", "POSTING (environment)", "WIKI_API", "DAILY_USD_LIMIT require"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing from:\n%v", want, err)
		}
	}
}

func TestNearMissInEnvironmentIsAWarning(t *testing.T) {
	_, w, err := load(t, "", []string{"OPENAI_API_KYE=x", "PATH=/bin", "HOME=/", "OPENAI_ORG=acme"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(w) != 1 || !strings.Contains(w[0], "OPENAI_API_KEY") || strings.Contains(w[0], "=x") {
		t.Errorf("warnings: %q", w)
	}
}

func TestBadLineDoesNotShowASecret(t *testing.T) {
	_, _, err := load(t, "OPENAI_API_KEY=sk-abc\nOPENAI_API_KEY 'sk-verysecret\n", nil, nil)
	if err == nil || strings.Contains(err.Error(), "verysecret") {
		t.Errorf("error %v", err)
	}
}

func TestSecretsCannotBePrinted(t *testing.T) {
	const secret = "sk-verysecret"
	c, _, err := load(t, "", []string{"OPENAI_API_KEY=" + secret, "WIKI_USER=u", "WIKI_PASSWORD=" + secret}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.OpenAIKey.Reveal() != secret {
		t.Fatal("the secret is lost")
	}
	var log strings.Builder
	lg := slog.New(slog.NewJSONHandler(&log, nil))
	lg.Info("x", "key", c.OpenAIKey, "struct", c.OAuth)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", c.OpenAIKey)
	js, err := json.Marshal(struct{ K Secret }{c.OpenAIKey})
	if err != nil {
		t.Fatal(err)
	}
	out := log.String() + string(js) + c.Value("OPENAI_API_KEY") + c.Value("WIKI_PASSWORD")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		out += fmt.Sprintf(verb, c.OpenAIKey) + fmt.Sprintf(verb, struct{ K Secret }{c.OpenAIKey})
	}
	if strings.Contains(out, "verysecret") || strings.Contains(out, "736b2d76") {
		t.Errorf("the secret is visible in %s", out)
	}
	for _, k := range Keys() {
		if k.Secret && k.Flag() != "" {
			t.Errorf("%s can be given on the command line", k.Name)
		}
	}
}

func TestLoginSettings(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  []string
		want string
	}{
		{"half of OAuth", []string{"WIKI_OAUTH_ACCESS_TOKEN=a"}, "all four"},
		{"both ways", []string{"WIKI_USER=u", "WIKI_PASSWORD=p", "WIKI_OAUTH_CONSUMER_TOKEN=a",
			"WIKI_OAUTH_CONSUMER_SECRET=b", "WIKI_OAUTH_ACCESS_TOKEN=c", "WIKI_OAUTH_ACCESS_SECRET=d"}, "set only one"},
		{"password alone", []string{"WIKI_PASSWORD=p"}, "also set WIKI_USER"},
		{"http to a name that looks like loopback", []string{"WIKI_API=http://127.0.0.1.example.org/api.php"},
			"want https"},
		{"http to the world", []string{"WIKI_API=http://wiki.example.org/api.php"}, "want https"},
		{"user in the address", []string{"SPARQL_ENDPOINT=https://a:b@example.org/"}, "user name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := load(t, "", tt.env, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestExampleFileIsCurrent(t *testing.T) {
	got, err := os.ReadFile("../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Example() {
		t.Error(".env.example differs from the list of keys: run `make env-example`")
	}
	c, w, err := load(t, string(got), nil, nil)
	if err != nil || len(w) > 0 {
		t.Fatalf("the example itself does not load: %v %v", w, err)
	}
	for _, k := range Keys() {
		if c.Value(k.Name) != k.Default {
			t.Errorf("%s is %q in the example, want the default %q", k.Name, c.Value(k.Name), k.Default)
		}
	}
}

func TestCheckRunNamesEverythingMissing(t *testing.T) {
	c, _, err := load(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rerr := c.CheckRun()
	for _, want := range []string{"WIKI_USER", "WIKI_PASSWORD", "OPERATOR", "CONTACT", "OPENAI_API_KEY"} {
		if rerr == nil || !strings.Contains(rerr.Error(), want) {
			t.Errorf("%s is not named in %v", want, rerr)
		}
	}
}

func TestTextsThatWouldFailLater(t *testing.T) {
	for _, tt := range []struct{ kv, want string }{
		{"OPERATOR=User:Op", "OPERATOR"}, {"OPERATOR={{x}}", "OPERATOR"}, {"FORUM_PAGE=[[x]]", "FORUM_PAGE"},
		{"STOP_PAGE=a|b", "STOP_PAGE"},
		{"SHORTLINK_HOSTS=http://w.wiki/", "SHORTLINK_HOSTS"}, {"CONTACT=a\nX-Evil: b", "CONTACT"},
		{"ANSWER_DELAY=-5m", "ANSWER_DELAY"},
	} {
		if _, _, err := load(t, "", []string{tt.kv}, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v", tt.kv, err)
		}
	}
	if _, _, err := load(t, "", []string{"REPLIES_PER_HOUR=0", "POSTING=on"}, nil); err == nil ||
		!strings.Contains(err.Error(), "REPLIES_PER_HOUR") {
		t.Errorf("posting with no replies an hour: %v", err)
	}
	c, _, err := load(t, "", []string{"OPERATOR=Ada_Lovelace", "ANSWER_DELAY=90",
		"SHORTLINK_HOSTS=W.wiki, tinyurl.com"}, nil)
	if err != nil || c.Operator != "Ada Lovelace" || c.AnswerDelay != 90*time.Second ||
		strings.Join(c.ShortlinkHosts, " ") != "w.wiki tinyurl.com" {
		t.Errorf("%+v %v", c, err)
	}
}

func TestDotEnvNamesEveryBadLine(t *testing.T) {
	file := "\ufeffOPERATOR=Ada\r\nCONTACT 'sk-verysecret\r\n# note\r\nWIKI_PASSWORD=\"sk-verysecret\r\nFOO=1\r\nexport POSTING=perhaps\r\nsk-verysecret\r\n" +
		"STOP_PAGE=\"User:X/run\" sk-verysecret\r\nFORUM_PAGE=\"${OPERATOR}\"\r\n"
	c, _, err := Load(Source{DotEnv: strings.NewReader(file), DotEnvName: "conf/bot.env",
		Environ: []string{"ANSWER_DELAY=soon"}})
	want := `conf/bot.env:2: want KEY=value or KEY="value"
conf/bot.env:4: the value has no closing quote on its line
conf/bot.env:7: want KEY=value or KEY="value"
conf/bot.env:8: want KEY=value or KEY="value"
conf/bot.env:5: unknown key FOO
ANSWER_DELAY (environment): want a duration such as 90s, 15m or 2h, or a number of seconds, not "soon"
conf/bot.env:6: POSTING: want one of off, propose, on, not "perhaps"`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if c.Operator != "Ada" || c.Origin("OPERATOR") != "conf/bot.env" {
		t.Errorf("operator %q from %s", c.Operator, c.Origin("OPERATOR"))
	}
}

func TestDotEnvOfWindows(t *testing.T) {
	c, w, err := load(t, "\ufeffOPERATOR=Ada\r\n\r\nCONTACT=\"a@b\"\r\nFORUM_PAGE=${OPERATOR}x\r\n", nil, nil)
	if err != nil || len(w) > 0 || c.Operator != "Ada" || c.Contact != "a@b" || c.ForumPage != "Adax" {
		t.Errorf("%+v %v %v", c, w, err)
	}
}

func TestAddressesHideTheirSecrets(t *testing.T) {
	for _, bad := range []string{"https://u:geheim@example.org:port/", "u:geheim@example.org",
		"https://u:geheim@example.org/", "http://x/?key=geheim"} {
		for _, key := range []string{"WIKI_API", "OPENAI_BASE_URL", "SPARQL_ENDPOINT", "SPARQL_FALLBACK",
			"ENTITY_API"} {
			if _, _, err := load(t, "", []string{key + "=" + bad}, nil); err == nil ||
				strings.Contains(err.Error(), "geheim") {
				t.Errorf("%s=%s: %v", key, bad, err)
			}
		}
	}
	c, _, err := load(t, "", []string{"SPARQL_ENDPOINT=https://example.org/sparql?key=geheim&x=1", "WIKI_USER=u",
		"WIKI_PASSWORD=pass"}, nil)
	if err != nil || c.Value("SPARQL_ENDPOINT") != "https://example.org/sparql?******" ||
		!strings.HasSuffix(c.SPARQLEndpoint, "?key=geheim&x=1") {
		t.Errorf("%q %v", c.Value("SPARQL_ENDPOINT"), err)
	}
	if got := strings.Join(c.Secrets(), " "); got != "pass" {
		t.Errorf("secrets %q", got)
	}
}

func TestDays(t *testing.T) {
	for in, want := range map[string]time.Duration{"": -1, "0d": 0, "30d": 720 * time.Hour, "180d": 4320 * time.Hour,
		"30": -1, "-1d": -1, "1.5d": -1, "d": -1, "99999d": -1} {
		c, _, err := Load(Source{Environ: []string{"KEEP_REMOVED=" + in}})
		if c.KeepRemoved != want || (err != nil) != (want < 0 && in != "") {
			t.Errorf("%q: %v, %v; want %v", in, c.KeepRemoved, err, want)
		}
	}
}
