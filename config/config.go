// Package config turns flags, environment and a .env file into typed settings, all checked at once.
//
// [Keys] is the one list of settings: .env.example, the -h texts and the documentation are made from it or tested against it. Flags stand above the
// environment, the environment above .env (read with godotenv). In .env an unknown key is an error; in the environment, where other programs have
// their own, a near-miss of a listed key is a warning. Secrets have the type [Secret], which no printing function reveals. Only cmd imports this package:
// everything else is handed plain values.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sort"
	"strings"
	"time"

	"github.com/joho/godotenv"
)

// Secret is a text that cannot be printed, logged or marshalled. Reveal is the one way to its content.
type Secret string

const hidden = "******"

// String returns asterisks, or "" when the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// Format prints String whatever the verb, so that %q and %x show nothing either.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText is String, for encoding/json and the like.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the content.
func (s Secret) Reveal() string { return string(s) }

// OAuth holds the four tokens of OAuth 1.0a.
type OAuth struct{ ConsumerToken, ConsumerSecret, AccessToken, AccessSecret Secret }

// Complete reports whether all four are there.
func (o OAuth) Complete() bool {
	return o.ConsumerToken != "" && o.ConsumerSecret != "" && o.AccessToken != "" && o.AccessSecret != ""
}

// Empty reports whether none is there.
func (o OAuth) Empty() bool { return o == OAuth{} }

// Config holds every setting. What each means stands at its [Key].
type Config struct {
	WikiAPI      string
	WikiUser     string
	WikiPassword Secret
	OAuth        OAuth

	ForumPage, ArchivePrefix, StopPage, Operator string
	ShortlinkHosts                               []string

	WatchSchedule, HarvestSchedule string
	AnswerDelay                    time.Duration
	AnswerSince                    time.Time
	FollowupLimit, RepliesPerHour  int
	Posting                        string

	DataDir, DatabaseURL string

	OpenAIKey                         Secret
	OpenAIBaseURL                     string
	OpenAIModel, OpenAIEmbeddingModel string
	OpenAITimeout                     time.Duration
	OpenAISampling                    string
	InputUSD, OutputUSD               float64
	RequestTime                       time.Duration
	RequestUSD, DailyUSD              float64
	SPARQLEndpoint, SPARQLFallback    string
	EntityAPI                         string // of the graph at SPARQLEndpoint; empty: the one that belongs to it
	KGFile, Contact                   string

	origin map[string]string // key to where its value came from: default, .env, environment, flag
	raw    map[string]string
}

// Origin tells where a key's value came from: "default", ".env", "environment" or "flag".
func (c *Config) Origin(key string) string { return c.origin[key] }

// Value returns a key's text as it was given, asterisks for a secret.
func (c *Config) Value(key string) string {
	for _, k := range Keys() {
		if k.Name == key && k.Secret {
			return Secret(c.raw[key]).String()
		}
	}
	return c.raw[key]
}

// HasModel reports whether a language model is configured: a key, or an address that needs none.
func (c *Config) HasModel() bool { return c.OpenAIKey != "" || c.OpenAIBaseURL != "" }

// Source is where settings come from. Flags has the keys' names, not the flags'.
type Source struct {
	DotEnv  io.Reader // content of .env; nil when there is none
	Environ []string  // as os.Environ returns it
	Flags   map[string]string
}

// Problems are all that is wrong with the settings.
type Problems []error

// Error lists the problems, one a line.
func (p Problems) Error() string {
	s := make([]string, len(p))
	for i, e := range p {
		s[i] = e.Error()
	}
	return strings.Join(s, "\n")
}

// Load reads and checks the settings. Warnings are about near-misses in the environment. The error is a [Problems] with everything that is wrong; the
// Config is returned even then, with defaults in the place of what could not be read.
func Load(src Source) (c *Config, warnings []string, err error) {
	c = &Config{origin: map[string]string{}, raw: map[string]string{}}
	var problems Problems
	dotenv := map[string]string{}
	if src.DotEnv != nil {
		m, derr := godotenv.Parse(src.DotEnv)
		if derr != nil {
			// godotenv quotes the offending line, which may hold a secret.
			problems = append(problems, errors.New(".env: a line is not of the form KEY=value or KEY=\"value\""))
		}
		dotenv = m
	}
	keys := Keys()
	known := make(map[string]bool, len(keys))
	for _, k := range keys {
		known[k.Name] = true
	}
	for _, name := range sortedKeys(dotenv) {
		if !known[name] {
			problems = append(problems, fmt.Errorf(".env: unknown key %s%s", name, suggestion(name, keys)))
		}
	}
	env := map[string]string{}
	for _, kv := range src.Environ {
		name, v, _ := strings.Cut(kv, "=")
		if known[name] {
			env[name] = v
		} else if s := suggestion(name, keys); s != "" {
			warnings = append(warnings, "environment: "+name+" is not a setting"+s)
		}
	}
	sort.Strings(warnings)
	for _, k := range keys {
		value, origin := k.Default, "default"
		if v, ok := dotenv[k.Name]; ok {
			value, origin = v, ".env"
		}
		if v, ok := env[k.Name]; ok {
			value, origin = v, "environment"
		}
		if v, ok := src.Flags[k.Name]; ok {
			value, origin = v, "flag"
		}
		value = strings.TrimSpace(value)
		if value == "" && k.Default != "" && origin != "flag" {
			value, origin = k.Default, "default"
		}
		if serr := k.set(c, value); serr != nil {
			problems = append(problems, fmt.Errorf("%s (%s): %w", k.Name, origin, serr))
			value, origin = k.Default, "default"
			_ = k.set(c, k.Default)
		}
		c.raw[k.Name], c.origin[k.Name] = value, origin
	}
	problems = append(problems, c.check()...)
	if len(problems) > 0 {
		return c, warnings, problems
	}
	return c, warnings, nil
}

// check finds what is wrong between settings.
func (c *Config) check() (p Problems) {
	if !c.OAuth.Empty() && !c.OAuth.Complete() {
		p = append(p, errors.New("WIKI_OAUTH_*: all four tokens or none"))
	}
	if !c.OAuth.Empty() && c.WikiPassword != "" {
		p = append(p, errors.New("WIKI_PASSWORD and WIKI_OAUTH_*: choose one way to log in"))
	}
	if c.WikiPassword != "" && c.WikiUser == "" {
		p = append(p, errors.New("WIKI_PASSWORD without WIKI_USER"))
	}
	if (c.RequestUSD > 0 || c.DailyUSD > 0) && (c.InputUSD == 0 || c.OutputUSD == 0) {
		p = append(p, errors.New("REQUEST_USD_LIMIT and DAILY_USD_LIMIT need OPENAI_INPUT_USD_PER_MTOK and OPENAI_OUTPUT_USD_PER_MTOK: without prices a limit in money cannot be kept"))
	}
	if c.Posting != "off" && c.RepliesPerHour == 0 {
		p = append(p, errors.New("REPLIES_PER_HOUR: must be at least 1 unless POSTING is off"))
	}
	if c.RequestTime == 0 {
		p = append(p, errors.New("REQUEST_TIME_LIMIT: must be above 0"))
	}
	if c.OpenAITimeout == 0 {
		p = append(p, errors.New("OPENAI_TIMEOUT: must be above 0"))
	}
	return p
}

// CheckRun finds what the bot needs beyond a consistent configuration.
func (c *Config) CheckRun() error {
	var p Problems
	if c.WikiUser == "" && c.OAuth.Empty() {
		p = append(p, errors.New("WIKI_USER: the bot needs an account"))
	}
	if c.WikiPassword == "" && c.OAuth.Empty() {
		p = append(p, errors.New("WIKI_PASSWORD or WIKI_OAUTH_*: the bot needs a way to log in"))
	}
	if c.WikiUser == "" && !c.OAuth.Empty() {
		p = append(p, errors.New("WIKI_USER: with OAuth too, the account's name is needed to recognise its own posts"))
	}
	if c.Operator == "" {
		p = append(p, errors.New("OPERATOR: every reply names the person who runs the bot"))
	}
	if c.Contact == "" {
		p = append(p, errors.New("CONTACT: wikis and query services want an address in the User-Agent"))
	}
	if c.ForumPage == "" {
		p = append(p, errors.New("FORUM_PAGE: which page is to be watched?"))
	}
	if c.StopPage == "" {
		p = append(p, errors.New("STOP_PAGE: the bot must be stoppable from the wiki"))
	}
	if !c.HasModel() {
		p = append(p, errors.New("OPENAI_API_KEY or OPENAI_BASE_URL: the bot needs a language model"))
	}
	if len(p) > 0 {
		return p
	}
	return nil
}

// OpenDotEnv opens the .env file at path in fsys. A missing file is no error: nil is returned.
func OpenDotEnv(fsys fs.FS, path string) (fs.File, error) {
	f, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

func sortedKeys(m map[string]string) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// suggestion returns "; did you mean X?" when name is at most two edits away from a listed key.
func suggestion(name string, keys []Key) string {
	best, at := 3, ""
	for _, k := range keys {
		if d := distance(strings.ToUpper(name), k.Name, best); d < best {
			best, at = d, k.Name
		}
	}
	if at == "" || len(name) < 5 {
		return ""
	}
	return "; did you mean " + at + "?"
}

// distance is the Levenshtein distance of a and b, or limit when it is at least that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur := make([]int, len(b)+1)
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
		}
		prev = cur
	}
	return min(prev[len(b)], limit)
}
