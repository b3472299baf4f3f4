package config

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Group says what a setting is about, so that a command can show the settings it reads.
type Group string

// The groups, in the order in which they are shown.
const (
	Wiki   Group = "wiki"
	Forum  Group = "forum"
	Bot    Group = "bot"
	Data   Group = "data"
	Model  Group = "model"
	Limits Group = "limits"
	Graph  Group = "graph"
)

// Key describes one setting: a line of .env.example, a flag, an environment variable and a field of [Config].
type Key struct {
	Name    string // exactly as in .env and in the environment
	Group   Group
	Default string
	Secret  bool
	Doc     string // one line, for -h and .env.example
	set     func(c *Config, value string) error
}

// Flag returns the name of the key's command-line flag: WIKI_API is --wiki-api. Secrets have none, because command lines are visible to others.
func (k Key) Flag() string {
	if k.Secret {
		return ""
	}
	return strings.ReplaceAll(strings.ToLower(k.Name), "_", "-")
}

// Keys lists every setting in the order of .env.example.
func Keys() []Key {
	return []Key{
		{"WIKI_API", Wiki, "https://www.wikidata.org/w/api.php", false, "address of the wiki's api.php", urlField(func(c *Config) *string { return &c.WikiAPI })},
		{"WIKI_USER", Wiki, "", false, "the bot's account; with a bot password its login name, SpinachBot@name", strField(func(c *Config) *string { return &c.WikiUser })},
		{"WIKI_PASSWORD", Wiki, "", true, "bot password of that account (Special:BotPasswords), never the account's own", secretField(func(c *Config) *Secret { return &c.WikiPassword })},
		{"WIKI_OAUTH_CONSUMER_TOKEN", Wiki, "", true, "OAuth 1.0a instead of a bot password: all four or none", secretField(func(c *Config) *Secret { return &c.OAuth.ConsumerToken })},
		{"WIKI_OAUTH_CONSUMER_SECRET", Wiki, "", true, "OAuth consumer secret", secretField(func(c *Config) *Secret { return &c.OAuth.ConsumerSecret })},
		{"WIKI_OAUTH_ACCESS_TOKEN", Wiki, "", true, "OAuth access token", secretField(func(c *Config) *Secret { return &c.OAuth.AccessToken })},
		{"WIKI_OAUTH_ACCESS_SECRET", Wiki, "", true, "OAuth access secret", secretField(func(c *Config) *Secret { return &c.OAuth.AccessSecret })},
		{"FORUM_PAGE", Forum, "Wikidata:Request a query", false, "the page that is watched", titleField(func(c *Config) *string { return &c.ForumPage })},
		{"FORUM_ARCHIVE_PREFIX", Forum, "Wikidata:Request a query/Archive/", false, "titles of archive pages are this and YYYY/MM", titleField(func(c *Config) *string { return &c.ArchivePrefix })},
		{"STOP_PAGE", Forum, "User:SpinachBot/run", false, "the bot writes only while this page is empty or says run", titleField(func(c *Config) *string { return &c.StopPage })},
		{"OPERATOR", Forum, "", false, "user name of the person who runs the bot, named in every reply", userField(func(c *Config) *string { return &c.Operator })},
		{"SHORTLINK_HOSTS", Forum, "w.wiki,tinyurl.com", false, "hosts of short links, comma-separated: who posts one has answered; the harvest looks where it leads", hostsField(func(c *Config) *[]string { return &c.ShortlinkHosts })},
		{"WATCH_SCHEDULE", Bot, "*/10 * * * *", false, "when the bot looks at the page (cron, UTC)", cronField(func(c *Config) *string { return &c.WatchSchedule })},
		{"HARVEST_SCHEDULE", Bot, "", false, "when the archive is harvested into DATA_DIR/harvest (cron, UTC), such as 30 3 2 * *; empty: never", cronField(func(c *Config) *string { return &c.HarvestSchedule })},
		{"ANSWER_DELAY", Bot, "15m", false, "how old a request must be before it is answered, so that its poster can still mend it", durField(func(c *Config) *time.Duration { return &c.AnswerDelay })},
		{"ANSWER_SINCE", Bot, "", false, "answer requests posted since this time (2026-11-20 or 2026-11-20T12:00:00Z); empty: since the first start", timeField(func(c *Config) *time.Time { return &c.AnswerSince })},
		{"FOLLOWUP_LIMIT", Bot, "5", false, "replies in one thread after the first", intField(func(c *Config) *int { return &c.FollowupLimit })},
		{"REPLIES_PER_HOUR", Bot, "6", false, "replies in any hour, over all threads; at least 1", intField(func(c *Config) *int { return &c.RepliesPerHour })},
		{"POSTING", Bot, "off", false, "off: nothing is written; propose: replies wait for ledger approve; on", enumField(func(c *Config) *string { return &c.Posting }, "off", "propose", "on")},
		{"DATA_DIR", Data, "data", false, "folder of the ledger, the trajectories and the lock", strField(func(c *Config) *string { return &c.DataDir })},
		{"DATABASE_URL", Data, "", false, "shared database; empty: SQLite in DATA_DIR", later(func(c *Config) *string { return &c.DatabaseURL }, "a shared database")},
		{"OPENAI_API_KEY", Model, "", true, "key of the language model's service", secretField(func(c *Config) *Secret { return &c.OpenAIKey })},
		{"OPENAI_BASE_URL", Model, "", false, "address of any service that speaks the OpenAI protocol, ending in /v1; empty: OpenAI's own", urlField(func(c *Config) *string { return &c.OpenAIBaseURL })},
		{"OPENAI_MODEL", Model, "gpt-4o", false, "model name", strField(func(c *Config) *string { return &c.OpenAIModel })},
		{"OPENAI_EMBEDDING_MODEL", Model, "text-embedding-3-small", false, "model name for embeddings", strField(func(c *Config) *string { return &c.OpenAIEmbeddingModel })},
		{"OPENAI_TIMEOUT", Model, "120s", false, "time limit of one call", durField(func(c *Config) *time.Duration { return &c.OpenAITimeout })},
		{"OPENAI_SAMPLING", Model, "full", false, "full; none: no temperature, top_p, n, and max_completion_tokens, as reasoning models want it", enumField(func(c *Config) *string { return &c.OpenAISampling }, "full", "none")},
		{"OPENAI_INPUT_USD_PER_MTOK", Limits, "", false, "price of a million input tokens in US dollars", usdField(func(c *Config) *float64 { return &c.InputUSD })},
		{"OPENAI_OUTPUT_USD_PER_MTOK", Limits, "", false, "price of a million output tokens in US dollars", usdField(func(c *Config) *float64 { return &c.OutputUSD })},
		{"REQUEST_TIME_LIMIT", Limits, "10m", false, "wall-clock limit of one request", durField(func(c *Config) *time.Duration { return &c.RequestTime })},
		{"REQUEST_USD_LIMIT", Limits, "", false, "money for one request in US dollars; needs both prices; empty: no limit", usdField(func(c *Config) *float64 { return &c.RequestUSD })},
		{"DAILY_USD_LIMIT", Limits, "", false, "money for one UTC day in US dollars; needs both prices; empty: no limit", usdField(func(c *Config) *float64 { return &c.DailyUSD })},
		{"SPARQL_ENDPOINT", Graph, "https://query.wikidata.org/sparql", false, "query service: Wikidata's, or another that takes its prefixes and label service; engines of plain SPARQL serve the harvest only", urlField(func(c *Config) *string { return &c.SPARQLEndpoint })},
		{"SPARQL_FALLBACK", Graph, "", false, "second query service, asked when the first is down", urlField(func(c *Config) *string { return &c.SPARQLFallback })},
		{"ENTITY_API", Graph, "", false, "api.php for entity search and labels; empty: Wikidata's, or for a loopback SPARQL_ENDPOINT its /w/api.php, as the sandbox has", urlField(func(c *Config) *string { return &c.EntityAPI })},
		{"KG_FILE", Graph, "", false, "YAML file with more graphs", later(func(c *Config) *string { return &c.KGFile }, "a file of further graphs")},
		{"CONTACT", Graph, "", false, "web or mail address of the operator, part of the User-Agent of every request", lineField(func(c *Config) *string { return &c.Contact })},
	}
}

func strField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *f(c) = v; return nil }
}

func secretField(f func(*Config) *Secret) func(*Config, string) error {
	return func(c *Config, v string) error { *f(c) = Secret(v); return nil }
}

// hostsField reads host names, comma-separated; a loopback address may have a port.
func hostsField(f func(*Config) *[]string) func(*Config, string) error {
	return func(c *Config, v string) error {
		var out []string
		for _, s := range strings.Split(v, ",") {
			if s = strings.TrimSpace(s); s == "" {
				continue
			}
			host, port, hasPort := strings.Cut(s, ":")
			_, perr := strconv.ParseUint(port, 10, 16)
			if strings.ContainsAny(host, "/@ ?#") || !strings.Contains(host, ".") || hasPort && (perr != nil || !Loopback(host)) {
				return fmt.Errorf("want host names such as w.wiki, comma-separated, not %q", s)
			}
			out = append(out, strings.ToLower(s))
		}
		*f(c) = out
		return nil
	}
}

// titleField reads a page title: what MediaWiki forbids in one is an error here, not at the first edit.
func titleField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.ContainsAny(v, "[]{}|<>#") || hasControl(v) || len(v) > 255 {
			return fmt.Errorf("want the title of a page, without any of [ ] { } | < > #, not %q", v)
		}
		*f(c) = strings.ReplaceAll(v, "_", " ")
		return nil
	}
}

// userField reads a bare user name.
func userField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if strings.ContainsAny(v, "[]{}|<>#/@:=~\"&") || strings.Contains(v, "''") || hasControl(v) || len(v) > 85 {
			return fmt.Errorf("want a user name alone, such as Ada Lovelace, without User: before it, not %q", v)
		}
		*f(c) = strings.ReplaceAll(v, "_", " ")
		return nil
	}
}

// lineField reads one line of text.
func lineField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if hasControl(v) {
			return fmt.Errorf("want one line without control characters")
		}
		*f(c) = v
		return nil
	}
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}

func urlField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v != "" {
			u, err := url.Parse(v)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
				return fmt.Errorf("want an address such as https://example.org/path, not %q", v)
			}
			if u.User != nil {
				return fmt.Errorf("must not hold a user name or password")
			}
			if u.Scheme == "http" && !Loopback(u.Hostname()) {
				return fmt.Errorf("want https: secrets may travel there; plain http is for loopback addresses only")
			}
		}
		*f(c) = v
		return nil
	}
}

// Loopback reports whether a host name or address is this machine: localhost or an address of the loopback range.
func Loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func durField(f func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if n, nerr := strconv.Atoi(v); nerr == nil {
			d, err = time.Duration(n)*time.Second, nil
		}
		if err != nil || d < 0 {
			return fmt.Errorf("want a duration such as 90s, 15m or 2h, or a number of seconds, not %q", v)
		}
		*f(c) = d
		return nil
	}
}

func timeField(f func(*Config) *time.Time) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v == "" {
			*f(c) = time.Time{}
			return nil
		}
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z", "2006-01-02"} {
			if t, err := time.Parse(layout, v); err == nil {
				*f(c) = t.UTC()
				return nil
			}
		}
		return fmt.Errorf("want a time such as 2026-11-20 or 2026-11-20T12:00:00Z, not %q", v)
	}
}

func intField(f func(*Config) *int) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 {
			return fmt.Errorf("want a whole number from 0, not %q", v)
		}
		*f(c) = n
		return nil
	}
}

func usdField(f func(*Config) *float64) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v == "" {
			*f(c) = 0
			return nil
		}
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x > 0) || x > 1e6 {
			return fmt.Errorf("want an amount above 0 such as 2.50, not %q", v)
		}
		*f(c) = x
		return nil
	}
}

func enumField(f func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		for _, a := range allowed {
			if v == a {
				*f(c) = v
				return nil
			}
		}
		return fmt.Errorf("want one of %s, not %q", strings.Join(allowed, ", "), v)
	}
}

func cronField(f func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v != "" {
			if _, err := cron.ParseStandard(v); err != nil {
				return fmt.Errorf("want five cron fields such as */10 * * * *: %w", err)
			}
		}
		*f(c) = v
		return nil
	}
}

// later refuses a setting whose part of the program this version does not have: ignoring it in silence would be a lie.
func later(f func(*Config) *string, what string) func(*Config, string) error {
	return func(c *Config, v string) error {
		if v != "" {
			return fmt.Errorf("this version does not have %s; leave it empty", what)
		}
		*f(c) = v
		return nil
	}
}
