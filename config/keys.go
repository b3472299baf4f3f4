package config

import (
	"strings"
	"sync"
	"time"
)

// Group is a group of related settings. Groups let a command show only the settings that it reads.
type Group string

// The groups, in display order.
const (
	Wiki   Group = "wiki"
	Forum  Group = "forum"
	Bot    Group = "bot"
	Data   Group = "data"
	Model  Group = "model"
	Limits Group = "limits"
	Graph  Group = "graph"
	Web    Group = "web"
)

// Key describes one setting. Each setting has a line in .env.example, a flag, an environment variable, and a field in
// [Config].
type Key struct {
	Name    string // its name in .env and in the environment
	Group   Group
	Default string
	Doc     string // one line, for help and .env.example
	field
}

// field describes how a value is read into a [Config] and how it may be shown.
type field struct {
	Secret bool // never shown; has no flag
	URL    bool // a URL whose parameters are never shown
	flag   string
	set    func(c *Config, value string) error
}

// Flag returns the name of the key's command-line flag: WIKI_API becomes wiki-api. Secrets have no flag, because other
// users of a machine can see command lines.
func (k Key) Flag() string {
	return k.flag
}

// Keys returns every accepted setting. The slice must not be modified.
func Keys() []Key { return keys() }

var keys = sync.OnceValue(func() []Key {
	all := []Key{
		{"WIKI_API", Wiki, "https://www.wikidata.org/w/api.php", "URL of the wiki's api.php",
			urlField(func(c *Config) *string { return &c.WikiAPI })},
		{"WIKI_USER", Wiki, "", "the bot's account; with a bot password, its login name, such as SpinachBot@name",
			strField(func(c *Config) *string { return &c.WikiUser })},
		{"WIKI_PASSWORD", Wiki, "", "a bot password of that account (Special:BotPasswords), never the account's own password",
			secretField(func(c *Config) *Secret { return &c.WikiPassword })},
		{"WIKI_OAUTH_CONSUMER_TOKEN", Wiki, "", "OAuth 1.0a consumer token; set all four tokens instead of WIKI_PASSWORD",
			secretField(func(c *Config) *Secret { return &c.OAuth.ConsumerToken })},
		{"WIKI_OAUTH_CONSUMER_SECRET", Wiki, "", "OAuth consumer secret",
			secretField(func(c *Config) *Secret { return &c.OAuth.ConsumerSecret })},
		{"WIKI_OAUTH_ACCESS_TOKEN", Wiki, "", "OAuth access token",
			secretField(func(c *Config) *Secret { return &c.OAuth.AccessToken })},
		{"WIKI_OAUTH_ACCESS_SECRET", Wiki, "", "OAuth access secret",
			secretField(func(c *Config) *Secret { return &c.OAuth.AccessSecret })},
		{"WIKI_OAUTH2_TOKEN", Wiki, "", "access token of an owner-only OAuth 2 consumer; set it instead of WIKI_PASSWORD",
			secretField(func(c *Config) *Secret { return &c.OAuth2Token })},

		{"FORUM_PAGE", Forum, "Wikidata:Request a query", "the page that the bot watches",
			titleField(func(c *Config) *string { return &c.ForumPage })},
		{"FORUM_ARCHIVE_PREFIX", Forum, "Wikidata:Request a query/Archive/",
			"beginning of the titles of archive pages, before YYYY/MM",
			titleField(func(c *Config) *string { return &c.ArchivePrefix })},
		{"STOP_PAGE", Forum, "User:SpinachBot/run", "the bot writes only while this page is empty or says run",
			titleField(func(c *Config) *string { return &c.StopPage })},
		{"OPERATOR", Forum, "", "user name of the person who runs the bot, named in every reply",
			userField(func(c *Config) *string { return &c.Operator })},
		{"MENTIONS", Forum, "off", "on: the bot also answers when it is mentioned on pages other than FORUM_PAGE; see docs/mentions.md",
			enumField(func(c *Config) *string { return &c.Mentions }, "off", "on")},
		{"MENTION_PAGES", Forum, "talk,4",
			"pages on which it answers when it is mentioned, comma-separated: talk (all talk pages), the number of a namespace, a title, or the beginning of a title with *",
			pagesField(func(c *Config) *[]string { return &c.MentionPages })},
		{"DISCUSSION_TOOLS", Forum, "on",
			"on: replies without a query are posted with DiscussionTools if the wiki has it, unless DATABASE_URL or WIKI_OAUTH2_TOKEN is set; off: every reply is a section edit",
			enumField(func(c *Config) *string { return &c.DiscussionTools }, "on", "off")},
		{"PING", Forum, "none", "who is notified of a reply; none: no one; asker: the person to whom it replies",
			enumField(func(c *Config) *string { return &c.Ping }, "none", "asker")},
		{"OPT_OUT_PAGE", Forum, "", "a page that links to the users who do not want replies; empty: only {{nobots}} on their talk pages counts",
			titleField(func(c *Config) *string { return &c.OptOutPage })},
		{"DIGEST_PAGE", Forum, "", "a subpage of the account's user page, such as User:SpinachBot/digest, to which the bot writes the output of ledger digest once a day; empty: none",
			titleField(func(c *Config) *string { return &c.DigestPage })},
		{"DIGEST_HOUR", Forum, "6", "hour (UTC) after which DIGEST_PAGE is written",
			intField(func(c *Config) *int { return &c.DigestHour })},
		{"WIKIS", Forum, "", "YAML file with additional wikis on which the bot works; docs/mentions.md describes it",
			strField(func(c *Config) *string { return &c.Wikis })},
		{"SHORTLINK_HOSTS", Forum, "w.wiki,tinyurl.com",
			"hosts of short links, comma-separated; a link to one counts as an answer, and the harvest follows it",
			hostsField(func(c *Config) *[]string { return &c.ShortlinkHosts })},

		{"WATCH_SCHEDULE", Bot, "*/10 * * * *", "when the bot reads the page (cron, UTC)",
			cronField(func(c *Config) *string { return &c.WatchSchedule })},
		{"HARVEST_SCHEDULE", Bot, "", "when the archive is harvested into DATA_DIR/harvest (cron, UTC), such as 30 3 2 * *; empty: never",
			cronField(func(c *Config) *string { return &c.HarvestSchedule })},
		{"ANSWER_DELAY", Bot, "15m", "how old a request must be before it is answered, so that its author can still correct it",
			durField(func(c *Config) *time.Duration { return &c.AnswerDelay })},
		{"ANSWER_SINCE", Bot, "", "answer requests posted since this time (2026-11-20 or 2026-11-20T12:00:00Z); empty: since the first start",
			timeField(func(c *Config) *time.Time { return &c.AnswerSince })},
		{"FOLLOWUP_LIMIT", Bot, "5", "maximum number of replies that the bot posts in a thread after its first one",
			intField(func(c *Config) *int { return &c.FollowupLimit })},
		{"REPLIES_PER_HOUR", Bot, "6", "maximum number of replies that the bot posts in any hour, in all threads together; at least 1",
			intField(func(c *Config) *int { return &c.RepliesPerHour })},
		{"REPLIES_PER_DAY", Bot, "60", "maximum number of replies that the bot posts in any 24 hours; 0: no limit except REPLIES_PER_HOUR",
			intField(func(c *Config) *int { return &c.RepliesPerDay })},
		{"REQUESTS_PER_USER", Bot, "10", "maximum number of requests by one user, including follow-ups, on which the bot works in 24 hours; others wait; 0: no limit",
			intField(func(c *Config) *int { return &c.RequestsPerUser })},
		{"THREAD_COOLDOWN", Bot, "1m", "how long the bot waits between two replies in a thread",
			durField(func(c *Config) *time.Duration { return &c.ThreadCooldown })},
		{"CORRECT_AFTER", Bot, "2m",
			"how long after posting a reply the bot runs its query again; if the result differs and no one has answered the reply, it is corrected; 0s: never",
			durField(func(c *Config) *time.Duration { return &c.CorrectAfter })},
		{"ANSWER_PRESET", Bot, "best", "preset used by the bot, and by commands without --preset; ask --preset list explains the presets",
			strField(func(c *Config) *string { return &c.AnswerPreset })},
		{"ANSWER_EXAMPLES", Bot, "0", "number of solved questions from DATA_DIR/harvest, never from the same thread, that the bot's model is shown before it begins; 0: none",
			intField(func(c *Config) *int { return &c.AnswerExamples })},
		{"ANSWER_NOTES", Bot, "on", "on: the bot's model is shown the approved notes on the graph (see lessons approve); off: none",
			enumField(func(c *Config) *string { return &c.AnswerNotes }, "on", "off")},
		{"PROOFREAD", Bot, "on", "on: in one more call, the bot's model reads its reply as an editor would, and may change its own words; off: it does not",
			enumField(func(c *Config) *string { return &c.Proofread }, "on", "off")},
		{"ANSWER_CONFIDENCE", Bot, "0",
			"the bot does not post answers that are less likely to be right than this, 0 to 1; 0: it posts every answer",
			shareField(func(c *Config) *float64 { return &c.AnswerConfidence })},
		{"LOW_CONFIDENCE", Bot, "ask",
			"what it does with such an answer; ask: it asks the poster one question instead, once per thread; silent: it posts nothing",
			enumField(func(c *Config) *string { return &c.LowConfidence }, "ask", "silent")},
		{"REPLY_TEMPLATES", Bot, "off",
			"on: the wiki has {{Q}} and {{P}}, like Wikidata, and replies use them; off: replies link items with their labels",
			enumField(func(c *Config) *string { return &c.ReplyTemplates }, "on", "off")},
		{"TRACE_URL", Bot, "", "URL of this bot's runs, such as https://bot.example.org/runs/; a reply links to it, with the entry's ID at the end; empty: no link",
			urlField(func(c *Config) *string { return &c.TraceURL })},
		{"TRACE_PAGE", Bot, "", "a subpage of the account's user page, such as User:SpinachBot/traces, below which the bot writes a page with the steps of each reply, which the reply links to; use it instead of TRACE_URL; empty: none",
			titleField(func(c *Config) *string { return &c.TracePage })},
		{"KEEP_TRAJECTORIES", Bot, "", "how long the bot keeps trajectories of requests that are finished, and the steps on the pages below TRACE_PAGE, such as 180d; empty: forever",
			daysField(func(c *Config) *time.Duration { return &c.KeepTrajectories })},
		{"KEEP_REMOVED", Bot, "", "how long the bot keeps the words of posts that are no longer on FORUM_PAGE or in its archive, such as 30d; empty: forever",
			daysField(func(c *Config) *time.Duration { return &c.KeepRemoved })},
		{"POSTING", Bot, "off", "off: nothing is posted; propose: replies wait for ledger approve; on: replies are posted",
			enumField(func(c *Config) *string { return &c.Posting }, "off", "propose", "on")},

		{"DATA_DIR", Data, "data", "folder of the ledger, the trajectories and the lock",
			strField(func(c *Config) *string { return &c.DataDir })},
		{"DATABASE_URL", Data, "", "PostgreSQL database of the ledger, for bots on several machines, such as postgres://host/name, which may include a user and a password; empty: SQLite in DATA_DIR",
			secretField(func(c *Config) *Secret { return &c.DatabaseURL })},

		{"OPENAI_API_KEY", Model, "", "key of the language model's service",
			secretField(func(c *Config) *Secret { return &c.OpenAIKey })},
		{"OPENAI_BASE_URL", Model, "", "URL of any server that supports the OpenAI protocol, ending in /v1; empty: OpenAI's own",
			urlField(func(c *Config) *string { return &c.OpenAIBaseURL })},
		{"OPENAI_MODEL", Model, "gpt-4o", "name of the model",
			strField(func(c *Config) *string { return &c.OpenAIModel })},
		{"OPENAI_JUDGE_MODEL", Model, "", "name of the model on the same server that judges the steps of a search (--policy mcts); empty: OPENAI_MODEL",
			strField(func(c *Config) *string { return &c.OpenAIJudgeModel })},
		{"OPENAI_EMBEDDING_MODEL", Model, "text-embedding-3-small", "name of the model for embeddings; if it is set, searches and --examples rank by meaning",
			strField(func(c *Config) *string { return &c.OpenAIEmbeddingModel })},
		{"OPENAI_TIMEOUT", Model, "120s", "time limit for one call",
			durField(func(c *Config) *time.Duration { return &c.OpenAITimeout })},
		{"OPENAI_SAMPLING", Model, "full", "full: all parameters are sent; none: for reasoning models, max_completion_tokens is sent but not temperature, top_p or n",
			enumField(func(c *Config) *string { return &c.OpenAISampling }, "full", "none")},

		{"OPENAI_INPUT_USD_PER_MTOK", Limits, "", "price of a million input tokens in US dollars",
			usdField(func(c *Config) *float64 { return &c.InputUSD })},
		{"OPENAI_OUTPUT_USD_PER_MTOK", Limits, "", "price of a million output tokens in US dollars",
			usdField(func(c *Config) *float64 { return &c.OutputUSD })},
		{"OPENAI_JUDGE_INPUT_USD_PER_MTOK", Limits, "", "price of a million input tokens of OPENAI_JUDGE_MODEL in US dollars; if this and the next are empty: the model's prices",
			usdField(func(c *Config) *float64 { return &c.JudgeInputUSD })},
		{"OPENAI_JUDGE_OUTPUT_USD_PER_MTOK", Limits, "", "price of a million output tokens of OPENAI_JUDGE_MODEL in US dollars",
			usdField(func(c *Config) *float64 { return &c.JudgeOutputUSD })},
		{"REQUEST_TIME_LIMIT", Limits, "10m", "time limit for one request",
			durField(func(c *Config) *time.Duration { return &c.RequestTime })},
		{"REQUEST_USD_LIMIT", Limits, "", "maximum cost of one request in US dollars; needs both prices; empty: no limit",
			usdField(func(c *Config) *float64 { return &c.RequestUSD })},
		{"DAILY_USD_LIMIT", Limits, "", "maximum cost of one day (UTC) in US dollars; needs both prices; empty: no limit",
			usdField(func(c *Config) *float64 { return &c.DailyUSD })},

		{"SPARQL_ENDPOINT", Graph, "https://query.wikidata.org/sparql",
			"query service: Wikidata's, or one that accepts its prefixes and label service; the harvest accepts any SPARQL service",
			urlField(func(c *Config) *string { return &c.SPARQLEndpoint })},
		{"SPARQL_FALLBACK", Graph, "", "second query service, used if the first one does not answer",
			urlField(func(c *Config) *string { return &c.SPARQLFallback })},
		{"SPARQL_FALLBACK_DIALECT", Graph, "auto",
			"dialect of the second query service: wdqs, qlever or standard; auto: qlever for a host with that name, otherwise wdqs",
			enumField(func(c *Config) *string { return &c.SPARQLFallbackDialect }, "auto", "wdqs", "qlever", "standard")},
		{"ENTITY_REST", Graph, "",
			"Wikibase's REST API, used for single entities before api.php, such as https://www.wikidata.org/w/rest.php/wikibase/v1; empty: only api.php",
			urlField(func(c *Config) *string { return &c.EntityREST })},
		{"VECTOR_SEARCH", Graph, "",
			"Wikidata's vector database, for searches by meaning, such as https://wd-vectordb.wmcloud.org; empty: only searches by name",
			urlField(func(c *Config) *string { return &c.VectorSearch })},
		{"ENTITY_API", Graph, "", "api.php for entity search and labels; empty: Wikidata's, or /w/api.php of a SPARQL_ENDPOINT on this machine",
			urlField(func(c *Config) *string { return &c.EntityAPI })},
		{"KG_FILE", Graph, "", "YAML file with additional graphs for --kg; docs/graphs.md describes it",
			strField(func(c *Config) *string { return &c.KGFile })},
		{"CONTACT", Graph, "", "web or email address of the operator, part of the User-Agent of every request",
			lineField(func(c *Config) *string { return &c.Contact })},

		{"OPERATOR_TOKEN", Web, "", "opens the operator's desk of serve, which may approve replies and stop the bot; at least 16 characters that no one can guess, such as from openssl rand -hex 24; without it, the desk is shown only on loopback addresses",
			secretField(func(c *Config) *Secret { return &c.OperatorToken })},
		{"PICTURES_URL", Web, "", "URL from which serve gets the pictures in results, to which the file name is added; off: results link to pictures and do not show them; empty: Wikimedia Commons, or off with a SPARQL_ENDPOINT on this machine",
			offField(func(c *Config) *string { return &c.PicturesURL })},
	}
	for i, k := range all {
		if !k.Secret {
			all[i].flag = strings.ReplaceAll(strings.ToLower(k.Name), "_", "-")
		}
	}
	return all
})
