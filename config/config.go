// Package config reads settings from flags, the environment, and a .env file into typed fields and checks all of them
// at once.
//
// [Keys] returns the complete list of settings. The .env.example file, the help text, and the documentation are
// generated from that list or tested against it. A flag overrides the environment, and the environment overrides .env.
//
// In .env, an unknown key is an error. In the environment, which also contains other programs' variables, a name that
// almost matches a key triggers a warning. Secrets have type [Secret], which printing functions do not reveal. Only cmd
// imports this package; every other package receives plain values.
package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"
)

// Secret is a string that cannot be printed, logged, or marshaled. Only Reveal returns its content.
type Secret string

const hidden = "******"

// String returns asterisks, or "" if the secret is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// GoString returns the same as String, for %#v.
func (s Secret) GoString() string { return s.String() }

// Format prints the same as String for every verb, so that %q and %x do not reveal the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns the same as String, for encoding/json and similar packages.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue returns the same as String, for log/slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Reveal returns the content.
func (s Secret) Reveal() string { return string(s) }

// OAuth contains the four tokens of OAuth 1.0a.
type OAuth struct{ ConsumerToken, ConsumerSecret, AccessToken, AccessSecret Secret }

// Complete reports whether all four tokens are set.
func (o OAuth) Complete() bool {
	return o.ConsumerToken != "" && o.ConsumerSecret != "" && o.AccessToken != "" && o.AccessSecret != ""
}

// Empty reports whether none of the tokens are set.
func (o OAuth) Empty() bool { return o == OAuth{} }

// Config contains every setting. [Keys] describes each one.
type Config struct {
	WikiAPI      string
	WikiUser     string
	WikiPassword Secret
	OAuth        OAuth
	OAuth2Token  Secret

	ForumPage, ArchivePrefix, StopPage, Operator string
	Mentions                                     string // "off" or "on"
	Wikis                                        string // file that lists more wikis; see [Config.ReadWikis]

	// for a wiki in that file; Wikidata's if empty
	QueryTemplates, ResolvedTemplates, UserNamespaces, Languages []string

	Graph string // name of a graph in KG_FILE; the graph at SPARQLEndpoint if empty

	DiscussionTools string // "on" or "off"
	Ping            string // "none" or "asker"
	MentionPages    []string
	OptOutPage      string
	ShortlinkHosts  []string

	WatchSchedule, HarvestSchedule string
	AnswerDelay                    time.Duration
	AnswerSince                    time.Time
	FollowupLimit, RepliesPerHour  int
	RepliesPerDay, RequestsPerUser int
	ThreadCooldown, CorrectAfter   time.Duration
	AnswerPreset                   string
	AnswerExamples                 int
	AnswerNotes                    string // on or off
	Proofread                      string // on or off
	Posting                        string
	AnswerConfidence               float64
	LowConfidence                  string // ask or silent
	ReplyTemplates                 string // on or off
	TraceURL, TracePage            string
	DigestPage                     string
	DigestHour                     int

	DataDir string
	// retention periods for trajectories and for the text of posts no longer on the wiki; forever if negative
	KeepTrajectories, KeepRemoved time.Duration
	DatabaseURL                   Secret // URL; may contain a password

	OpenAIKey                         Secret
	OpenAIBaseURL                     string
	OpenAIModel, OpenAIEmbeddingModel string
	OpenAIJudgeModel                  string // OpenAIModel if empty
	OpenAITimeout                     time.Duration
	OpenAISampling                    string
	InputUSD, OutputUSD               float64
	JudgeInputUSD, JudgeOutputUSD     float64 // InputUSD and OutputUSD if both are 0
	RequestTime                       time.Duration
	RequestUSD, DailyUSD              float64
	SPARQLEndpoint, SPARQLFallback    string
	SPARQLFallbackDialect             string // auto, wdqs, qlever, or standard
	EntityREST, VectorSearch          string // not used if empty
	EntityAPI                         string // the API that belongs to SPARQLEndpoint if empty
	KGFile, Contact                   string
	OperatorToken                     Secret
	PicturesURL                       string // may be [Off] or empty; see its key

	origin map[string]string // key to origin; see Origin
	raw    map[string]string // key to the value as specified

	passwords map[string]password // passwords in the settings file for the wikis in WIKIS, by name
}

// password is a password along with its position in the settings file.
type password struct {
	value Secret
	at    string
}

// Origin reports where a key's value came from: "default", the name of the settings file, "environment" or "flag".
func (c *Config) Origin(key string) string { return c.origin[key] }

// Value returns a key's value in a form that may be shown: secrets, and the parameters of URLs, which may contain an
// API key, are replaced with asterisks.
func (c *Config) Value(key string) string {
	v := c.raw[key]
	for _, k := range Keys() {
		switch {
		case k.Name != key:
		case k.Secret:
			return Secret(v).String()
		case k.URL:
			if address, _, ok := strings.Cut(v, "?"); ok {
				return address + "?" + hidden
			}
		}
	}
	return v
}

// Secrets returns the values of all secret settings, for code that must keep them out of its output.
func (c *Config) Secrets() []string {
	var out []string
	for _, k := range Keys() {
		if k.Secret && c.raw[k.Name] != "" {
			out = append(out, c.raw[k.Name])
		}
	}
	for _, p := range c.passwords {
		out = append(out, p.value.Reveal())
	}
	return out
}

// HasModel reports whether a language model is configured, either by an API key or by the URL of a server, which may
// not require a key.
func (c *Config) HasModel() bool { return c.OpenAIKey != "" || c.OpenAIBaseURL != "" }

// Source contains the sources of settings. Flags is keyed by setting names, not flag names.
type Source struct {
	DotEnv     io.Reader // content of the settings file; nil if there is none
	DotEnvName string    // the file's name, for messages; .env if empty
	Environ    []string  // as os.Environ returns it
	Flags      map[string]string
}

// Problems lists all errors in the settings.
type Problems []error

// Error lists the problems, one per line.
func (p Problems) Error() string {
	s := make([]string, len(p))
	for i, e := range p {
		s[i] = e.Error()
	}
	return strings.Join(s, "\n")
}

// Load reads and checks the settings. The warnings are about names in the environment that almost match a key and about
// settings that this version does not use. The error is a [Problems] that contains all errors. Even if there are
// errors, Load returns the Config, with defaults for the settings that could not be read.
func Load(src Source) (c *Config, warnings []string, err error) {
	c = &Config{origin: map[string]string{}, raw: map[string]string{}}
	name := src.DotEnvName
	if name == "" {
		name = ".env"
	}
	file, problems := readDotEnv(src.DotEnv, name)
	keys := Keys()
	known := make(map[string]bool, len(keys))
	for _, k := range keys {
		known[k.Name] = true
	}
	first := len(problems)
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
		value, origin, at := k.Default, "default", k.Name
		if v, ok := file.values[k.Name]; ok {
			value, origin, at = v, file.name, file.at(k.Name)+": "+k.Name
		}
		if v, ok := env[k.Name]; ok {
			value, origin, at = v, "environment", k.Name+" (environment)"
		}
		if v, ok := src.Flags[k.Name]; ok {
			value, origin, at = v, "flag", k.Name+" (flag)"
		}
		value = strings.TrimSpace(value)
		if value == "" && origin != "flag" {
			value, origin = k.Default, "default"
		}
		if serr := k.set(c, value); serr != nil {
			problems = append(problems, fmt.Errorf("%s: %w", at, serr))
			value, origin = k.Default, "default"
			_ = k.set(c, k.Default)
		}
		c.raw[k.Name], c.origin[k.Name] = value, origin
	}
	problems = slices.Insert(problems, first, c.others(file, known, keys)...)
	problems = append(problems, c.check()...)
	if len(problems) > 0 {
		return c, warnings, problems
	}
	return c, warnings, nil
}

// others stores the settings file's passwords for the wikis in WIKIS and returns a problem for every other key that is
// not a setting. [Config.ReadWikis] checks whether the passwords are needed.
func (c *Config) others(file *dotEnv, known map[string]bool, keys []Key) (p Problems) {
	c.passwords = map[string]password{}
	for _, name := range byLine(file) {
		switch {
		case known[name]:
		case c.Wikis != "" && strings.HasSuffix(name, "_PASSWORD"):
			c.passwords[name] = password{Secret(file.values[name]), file.at(name)}
		default:
			p = append(p, fmt.Errorf("%s: unknown key %s%s", file.at(name), name, suggestion(name, keys)))
		}
	}
	return p
}

// byLine returns the file's keys in line order.
func byLine(d *dotEnv) []string {
	return slices.SortedFunc(maps.Keys(d.values), func(a, b string) int { return cmp.Compare(d.lines[a], d.lines[b]) })
}

// check reports settings that conflict.
func (c *Config) check() (p Problems) {
	if !c.OAuth.Empty() && !c.OAuth.Complete() {
		p = append(p, errors.New("WIKI_OAUTH_*: set all four tokens or none"))
	}
	if !c.OAuth.Empty() && c.WikiPassword != "" {
		p = append(p, errors.New("WIKI_PASSWORD and WIKI_OAUTH_*: set only one of them"))
	}
	if c.OAuth2Token != "" && (c.WikiPassword != "" || !c.OAuth.Empty()) {
		p = append(p, errors.New("WIKI_OAUTH2_TOKEN: do not also set WIKI_PASSWORD or WIKI_OAUTH_*"))
	}
	if strings.ContainsFunc(c.OAuth2Token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		p = append(p, errors.New("WIKI_OAUTH2_TOKEN: want one word of letters, digits and punctuation, as shown by the wiki"))
	}
	if c.WikiPassword != "" && c.WikiUser == "" {
		p = append(p, errors.New("WIKI_PASSWORD: also set WIKI_USER"))
	}
	if (c.RequestUSD > 0 || c.DailyUSD > 0) && (c.InputUSD == 0 || c.OutputUSD == 0) {
		p = append(p, errors.New("REQUEST_USD_LIMIT and DAILY_USD_LIMIT require OPENAI_INPUT_USD_PER_MTOK and OPENAI_OUTPUT_USD_PER_MTOK: "+
			"a limit in dollars requires prices"))
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

// CheckRun reports missing settings that the bot needs in order to run. The error is a [Problems].
func (c *Config) CheckRun() error {
	var p Problems
	oauth := !c.OAuth.Empty() || c.OAuth2Token != ""
	if c.WikiUser == "" && !oauth {
		p = append(p, errors.New("WIKI_USER: the bot needs an account"))
	}
	if c.WikiPassword == "" && !oauth {
		p = append(p, errors.New("WIKI_PASSWORD, WIKI_OAUTH_* or WIKI_OAUTH2_TOKEN: the bot needs a way to log in"))
	}
	if c.WikiUser == "" && oauth {
		p = append(p, errors.New("WIKI_USER: even with OAuth, the bot needs the account's name to recognize its own posts"))
	}
	if c.Operator == "" {
		p = append(p, errors.New("OPERATOR: every reply names the person who runs the bot; set a user name"))
	}
	if c.Contact == "" {
		p = append(p, errors.New("CONTACT: wikis and query services require an address in the User-Agent"))
	}
	if c.ForumPage == "" {
		p = append(p, errors.New("FORUM_PAGE: set the page that the bot watches"))
	}
	if c.StopPage == "" {
		p = append(p, errors.New("STOP_PAGE: set the page from which anyone can stop the bot"))
	}
	if !c.HasModel() {
		p = append(p, errors.New("OPENAI_API_KEY or OPENAI_BASE_URL: the bot needs a language model"))
	}
	if len(p) > 0 {
		return p
	}
	return nil
}

// suggestion returns "; did you mean X?" if name is at most two edits away from a listed key, and "" otherwise.
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

// distance returns the Levenshtein distance between a and b, or limit if the distance is larger.
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
