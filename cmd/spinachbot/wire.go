package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/ask"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/kg/wikidata"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/mediawiki"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

const programName = "SpinachBot"

// randomUint64 is the program's source of randomness.
func randomUint64() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error; it ends the program instead
	return binary.LittleEndian.Uint64(b[:])
}

func randomFloat() float64 { return float64(randomUint64()>>11) / (1 << 53) }

// userAgent returns a User-Agent string with the program's name and version, the operator's contact address, and, if
// configured, the account.
func userAgent(cfg *config.Config, loopback bool) (string, error) {
	contact := cfg.Contact
	if contact == "" && loopback {
		contact = "local use"
	}
	ua, err := politehttp.UserAgent(programName, version(), contact)
	if err != nil {
		return "", fmt.Errorf("CONTACT: wikis and query services want a web or email address in the User-Agent: %w", err)
	}
	return ua, nil
}

func isLoopback(addr string) bool {
	u, err := url.Parse(addr)
	if err != nil {
		return false
	}
	return config.Loopback(u.Hostname())
}

// entityAPI returns the default ENTITY_API for a query service: for a loopback address, /w/api.php on the same server,
// as in the sandbox, and otherwise Wikidata's API.
func entityAPI(endpoint string) string {
	if !isLoopback(endpoint) {
		return wikidata.DefaultAPI
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return wikidata.DefaultAPI
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/w/api.php"}).String()
}

// wrapper wraps a transport in a recorder or a player. A nil wrapper leaves the transport unchanged.
type wrapper func(http.RoundTripper) http.RoundTripper

func (w wrapper) around(rt http.RoundTripper) http.RoundTripper {
	if w == nil {
		return rt
	}
	return w(rt)
}

// newGraph returns a client for the configured query service and its entity API.
func newGraph(lg *slog.Logger, cfg *config.Config, store remote.BudgetStore, wrap wrapper) (*wikidata.Client, error) {
	api := cfg.EntityAPI
	if api == "" {
		api = entityAPI(cfg.SPARQLEndpoint)
	}
	local := isLoopback(cfg.SPARQLEndpoint)
	ua, err := userAgent(cfg, local && isLoopback(api))
	if err != nil {
		return nil, err
	}
	hosts := []string{cfg.SPARQLEndpoint, api}
	for _, more := range []string{cfg.SPARQLFallback, cfg.EntityREST, cfg.VectorSearch} {
		if more != "" {
			hosts = append(hosts, more)
		}
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: hosts})
	if err != nil {
		return nil, fmt.Errorf("the query service: %w", err)
	}
	wcfg := wikidata.Config{SPARQL: cfg.SPARQLEndpoint, Fallback: cfg.SPARQLFallback,
		FallbackDialect: cfg.SPARQLFallbackDialect, API: api, REST: cfg.EntityREST, Vector: cfg.VectorSearch, UserAgent: ua}
	if local {
		// A local server does not need a budget.
		wcfg.Pace = remote.Pace{Time: time.Hour, TimeRate: time.Hour, Errors: 1e6, ErrorRate: 1e6}
	}
	return wikidata.New(lg, wcfg, wrap.around(rt), systemClock{}, randomFloat, store)
}

// modelSettings returns the language model's settings.
func modelSettings(cfg *config.Config) llm.Config {
	return llm.Config{
		BaseURL: cfg.OpenAIBaseURL, APIKey: llm.NewSecret(cfg.OpenAIKey.Reveal()), Model: cfg.OpenAIModel,
		Sampling: llm.Sampling(cfg.OpenAISampling),
		Timeout:  cfg.OpenAITimeout, InputUSDPerMTok: cfg.InputUSD, OutputUSDPerMTok: cfg.OutputUSD,
		JudgeModel: cfg.OpenAIJudgeModel, JudgeInputUSD: cfg.JudgeInputUSD, JudgeOutputUSD: cfg.JudgeOutputUSD,
	}
}

// newModel returns a client for a language model; days stores the cost per day. If days is a store, it also records,
// for all processes that share it, how long to hold off calling the service.
func newModel(lg *slog.Logger, mcfg llm.Config, dailyUSD float64, days llm.DayStore, now func() time.Time,
	wrap wrapper) (*llm.Client, error) {
	base := mcfg.BaseURL
	if base == "" {
		base = llm.DefaultBaseURL
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: programName + "/" + version(), Hosts: []string{base}})
	if err != nil {
		return nil, fmt.Errorf("the language model: %w", err)
	}
	if p, ok := days.(politehttp.Pauses); ok && mcfg.Pauses == nil {
		mcfg.Pauses = p
	}
	budget := llm.NewBudget(days, now, llm.Limits{USD: dailyUSD})
	return llm.NewClient(lg, mcfg, wrap.around(rt), systemClock{}, randomFloat, budget)
}

// newWiki returns a client for the configured wiki. session is the name of the file for the session, or ""; see
// sessionFile. pauses records the pauses that the wiki requests.
func newWiki(lg *slog.Logger, cfg *config.Config, session string,
	pauses politehttp.Pauses) (*mediawiki.Client, error) {
	ua, err := userAgent(cfg, isLoopback(cfg.WikiAPI))
	if err != nil {
		return nil, err
	}
	rt, err := politehttp.NewTransport(politehttp.Options{UserAgent: ua, Hosts: []string{cfg.WikiAPI}})
	if err != nil {
		return nil, fmt.Errorf("the wiki: %w", err)
	}
	return mediawiki.New(lg, mediawiki.Config{
		API: cfg.WikiAPI, User: cfg.WikiUser, Password: cfg.WikiPassword.Reveal(), UserAgent: ua,
		Account: account(cfg.WikiUser), Bearer: cfg.OAuth2Token.Reveal(), Session: session, Pauses: pauses,
		OAuth: mediawiki.OAuth{
			ConsumerToken: cfg.OAuth.ConsumerToken.Reveal(), ConsumerSecret: cfg.OAuth.ConsumerSecret.Reveal(),
			AccessToken: cfg.OAuth.AccessToken.Reveal(), AccessSecret: cfg.OAuth.AccessSecret.Reveal(),
		},
	}, rt, systemClock{})
}

// sessions is the folder in DATA_DIR for wiki sessions. Sessions are as secret as passwords, so backups do not contain
// them.
const sessions = "sessions"

// sessionFile returns the name of the file for the account's session on the wiki and creates its folder. Only the bot
// that holds the data folder's lock may use the file.
func sessionFile(cfg *config.Config) (string, error) {
	dir := filepath.Join(cfg.DataDir, sessions)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the folder for sessions: %w", err)
	}
	sum := sha256.Sum256([]byte(cfg.WikiAPI + "\x00" + cfg.WikiUser))
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+".json"), nil
}

// account returns the account name in a bot password's login name, such as SpinachBot for SpinachBot@posts.
func account(login string) string {
	name, _, _ := strings.Cut(login, "@")
	return strings.ReplaceAll(name, "_", " ")
}

func runLimits(cfg *config.Config) agent.Limits {
	return agent.Limits{Time: cfg.RequestTime, USD: cfg.RequestUSD}
}

// errNoModel explains how to configure a model.
var errNoModel = errors.New("no language model is configured: set OPENAI_API_KEY, or OPENAI_BASE_URL for any server that speaks the OpenAI protocol")

const trajectories = "trajectories"

// trajectoryDir creates the trajectory folder in a data folder and returns its path.
func trajectoryDir(dataDir string) (string, error) {
	dir := filepath.Join(dataDir, trajectories)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create the folder for trajectories: %w", err)
	}
	return dir, nil
}

// newAsk returns the service that runs the agent with the configured limits and writes trajectories to dir.
func newAsk(lg *slog.Logger, engine *agent.Engine, cfg *config.Config, dir string, now func() time.Time) *ask.Service {
	return &ask.Service{Log: lg, Asker: engine, Triager: engine, Same: engine, Limits: runLimits(cfg),
		Open: ask.Folder(dir, now),
		Now:  now}
}
