package mediawiki

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mwclient "cgt.name/pkg/go-mwclient"
	"golang.org/x/oauth2"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Config specifies the wiki and the account.
type Config struct {
	API       string   // URL of api.php, such as "https://www.wikidata.org/w/api.php"
	User      string   // login name of the bot password, such as "SpinachBot@answers"
	Password  string   // bot password
	OAuth     OAuth    // instead of User and Password
	Bearer    string   // access token of an owner-only OAuth 2 consumer, instead of User and Password
	Account   string   // the expected account name; if "", the name that the wiki returns at login
	UserAgent string   // such as "SpinachBot/1.0 (https://…; mail@…)"; the library's name is appended
	Hosts     []string // hosts or addresses that may be contacted; only the API's own host if empty
	Anonymous bool     // read without an account; nothing can be saved
	Bot       bool     // mark edits as bot edits and assert the bot right, which this requires
	MaxLag    int      // in seconds; 5 if 0
	Attempts  int      // maximum number of attempts for a read; 6 if 0
	Timeout   time.Duration
	// Session is the path of a file that stores the current session. A client that logs in with a password uses it to keep
	// late requests from having an effect; see session.go. Only one client may use the file. If "", the session is not
	// stored.
	Session string
	// pauses shared with other clients of the same wiki; if nil, a Retry-After applies only to this client
	Pauses politehttp.Pauses
}

// OAuth contains the four tokens of an owner-only OAuth 1.0a consumer (Special:OAuthConsumerRegistration/propose).
type OAuth struct {
	ConsumerToken, ConsumerSecret, AccessToken, AccessSecret string
}

// The client's own limits.
const (
	maxAnswer  = 32 << 20        // maximum response size in bytes; a page is at most 2 MB, its JSON at most six times that
	maxSummary = 500             // in characters; MediaWiki truncates longer summaries, and the ledger's key is at the end
	maxWait    = 2 * time.Minute // the caller handles longer waits
	firstWait  = 5 * time.Second // doubled with each attempt, if the wiki does not specify a time
)

// Client is a logged-in account on one wiki. It is safe for concurrent use; it sends one request at a time.
type Client struct {
	lg    *slog.Logger
	cfg   Config
	clock politehttp.Clock
	base  http.RoundTripper // signs requests with OAuth, then checks the host, then sends

	turn chan struct{} // holds one token; only its holder may send
	door chan struct{} // holds one token; only its holder may log in or forget a login

	scrub *politehttp.Scrubber // removes the password and the tokens

	mu      sync.Mutex       // guards the fields below
	mw      *mwclient.Client // stores the cookies
	account string           // as the wiki writes it; "" until logged in
	csrf    string           // token for saving; "" if it must be fetched
	reached atomic.Bool      // whether the wiki has ever responded
}

// New returns a client. It checks the settings but sends nothing; the first request logs in. If the transport is nil,
// it uses politehttp's default transport, which reaches loopback addresses only if the settings contain one.
func New(lg *slog.Logger, cfg Config, transport http.RoundTripper, clock politehttp.Clock) (*Client, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.setDefaults()
	mw, err := mwclient.New(cfg.API, cfg.UserAgent)
	if err != nil {
		return nil, fmt.Errorf("wiki: %w", err)
	}
	c := &Client{lg: lg, cfg: cfg, clock: clock, mw: mw, turn: make(chan struct{}, 1),
		door: make(chan struct{}, 1), scrub: scrubber(cfg)}
	if c.base, err = politehttp.NewTransport(politehttp.Options{UserAgent: mw.UserAgent, Hosts: cfg.Hosts,
		Base: transport}); err != nil {
		return nil, fmt.Errorf("wiki: %w", err)
	}
	if cfg.OAuth != (OAuth{}) {
		if c.base, err = signer(cfg.OAuth, c.base); err != nil {
			return nil, fmt.Errorf("wiki: OAuth: %w", err)
		}
	}
	if cfg.Bearer != "" {
		c.base = &oauth2.Transport{Source: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: cfg.Bearer}), Base: c.base}
	}
	if c.cfg.Pauses == nil {
		c.cfg.Pauses = politehttp.NewPauses(clock)
	}
	c.turn <- struct{}{}
	c.door <- struct{}{}
	return c, nil
}

// check returns an error that describes what is wrong with the settings and how to fix them.
func (cfg *Config) check() error {
	api, err := url.Parse(cfg.API)
	if err != nil || api.Host == "" || (api.Scheme != "http" && api.Scheme != "https") ||
		!strings.HasSuffix(api.Path, "api.php") {
		return fmt.Errorf("wiki: WIKI_API %q is not the address of an api.php, such as https://www.wikidata.org/w/api.php",
			cfg.API)
	}
	if strings.TrimSpace(cfg.UserAgent) == "" {
		return errors.New("wiki: set CONTACT: the User-Agent requires a contact")
	}
	oauth := cfg.OAuth != OAuth{} || cfg.Bearer != ""
	switch {
	case cfg.OAuth != OAuth{} && cfg.Bearer != "":
		return errors.New("wiki: set either the four WIKI_OAUTH_… tokens or WIKI_OAUTH2_TOKEN, not both")
	case cfg.OAuth != OAuth{} && (cfg.OAuth.ConsumerToken == "" || cfg.OAuth.ConsumerSecret == "" ||
		cfg.OAuth.AccessToken == "" || cfg.OAuth.AccessSecret == ""):
		return errors.New("wiki: set all four of WIKI_OAUTH_CONSUMER_TOKEN, …_CONSUMER_SECRET, …_ACCESS_TOKEN and …_ACCESS_SECRET")
	case cfg.Anonymous && (oauth || cfg.Password != ""):
		return errors.New("wiki: remove the password and the OAuth tokens to read without an account")
	case oauth && cfg.Password != "":
		return errors.New("wiki: set either WIKI_PASSWORD or OAuth tokens, not both")
	case !oauth && !cfg.Anonymous && (cfg.User == "" || cfg.Password == ""):
		return errors.New("wiki: set WIKI_USER and WIKI_PASSWORD (a bot password), WIKI_OAUTH2_TOKEN, or the four WIKI_OAUTH_… tokens")
	}
	return nil
}

func (cfg *Config) setDefaults() {
	if len(cfg.Hosts) == 0 {
		cfg.Hosts = []string{cfg.API}
	}
	if cfg.MaxLag == 0 {
		cfg.MaxLag = 5
	}
	if cfg.Attempts <= 0 {
		cfg.Attempts = 6
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 45 * time.Second
	}
}

// scrubber returns a scrubber for every secret that a request can contain, so that errors contain no secrets even if a
// wiki or a proxy echoes the request.
func scrubber(cfg Config) *politehttp.Scrubber {
	o := cfg.OAuth
	secrets := append(politehttp.URLSecrets(cfg.API), cfg.Password, cfg.Bearer,
		o.ConsumerToken, o.ConsumerSecret, o.AccessToken, o.AccessSecret)
	return politehttp.NewScrubber(secrets...)
}

// Account returns the name of the account as the wiki writes it, or "" before the first request.
func (c *Client) Account() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.account
}

func (c *Client) token() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.csrf
}

func (c *Client) setToken(t string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.csrf = t
}

func (c *Client) setAccount(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account, c.csrf = name, ""
}

// forget drops the session and its cookies. MediaWiki rejects a bot password login in a session that was itself started
// by a bot password login.
func (c *Client) forget() error {
	mw, err := mwclient.New(c.cfg.API, c.cfg.UserAgent)
	if err != nil {
		return err
	}
	<-c.door // a login takes two requests, which must not be interrupted
	defer func() { c.door <- struct{}{} }()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mw, c.account, c.csrf = mw, "", ""
	return nil
}

// library returns a copy of the library's client for one call. The copies share their cookies.
func (c *Client) library() mwclient.Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *c.mw
}

// noteTime is the time limit for looking up or recording a pause.
const noteTime = 5 * time.Second

// silence returns the time left in the pause that the wiki requested.
func (c *Client) silence(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	left, err := c.cfg.Pauses.Paused(ctx, c.server())
	if err != nil {
		c.lg.Warn("cannot determine whether the wiki requested a pause", "err", err)
	}
	return left
}

func (c *Client) keepSilent(ctx context.Context, d time.Duration) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	if err := c.cfg.Pauses.Pause(ctx, c.server(), d); err != nil {
		c.lg.Warn("the pause that the wiki requested was not recorded", "err", err)
	}
}

// server returns the name under which the wiki's pauses are recorded.
func (c *Client) server() string { return "wiki " + politehttp.ShownURL(c.cfg.API) }
