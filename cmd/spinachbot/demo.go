package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/metrics"
	"github.com/spinachbot/spinachbot/internal/politehttp"
	"github.com/spinachbot/spinachbot/internal/store"
)

// demoSince is earlier than every seeded request, so that the bot answers all of them when the demo first starts.
var demoSince = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func demoCommand(e *env) *cobra.Command {
	c := newCmdline(e, "demo [--addr A] [--once]", "watch the bot at work on its own small wiki; start here",
		`Shows the bot at work: a small wiki with a forum, a small real slice of Wikidata, a scripted model, and the
bot on its schedule. When OPENAI_API_KEY or OPENAI_BASE_URL is set, your model is used instead of the scripted one.
Open the address that is printed, read the replies, post a request, reply to one. The state is kept in DATA_DIR, or in
a temporary folder when that is not set.`,
		config.Data, config.Model, config.Limits)
	once := c.fs.Bool("once", false, "do one round, then print the page's wikitext")
	addr := c.fs.String("addr", "", "`address` to listen on (default 127.0.0.1:8484, with --once a free port)")
	script := c.fs.String("script", "", "`file` with the model's script instead of the built-in one")
	page := c.fs.String("page", "", "`file` with the forum page's wikitext instead of the seeded one")
	schedule := c.fs.String("schedule", "@every 5s", "`schedule` on which the bot reads the page")
	return c.command(func(ctx context.Context, rest []string) int {
		if !c.noArguments(rest) {
			return exitUsage
		}
		cfg, ok := c.load()
		if !ok {
			return exitUsage
		}
		if *addr == "" {
			*addr = map[bool]string{true: "127.0.0.1:0", false: "127.0.0.1:8484"}[*once]
		}
		if err := console.CheckAddress(*addr, "127.0.0.1:8484"); err != nil {
			return misuse(e, "demo: %v", err)
		}
		d := &demo{e: e, lg: c.logger(slog.LevelWarn), cfg: cfg, once: *once, schedule: *schedule}
		if err := d.run(ctx, sandboxOptions{addr: *addr, script: *script, page: *page,
			timeout: 20 * time.Second}); err != nil {
			return fail(e, err)
		}
		return exitOK
	})
}

type demo struct {
	e        *env
	lg       *slog.Logger
	cfg      *config.Config
	once     bool
	schedule string
}

func (d *demo) run(ctx context.Context, o sandboxOptions) error {
	if d.cfg.Origin("DATA_DIR") == "default" {
		dir, err := os.MkdirTemp("", "spinachbot-demo-")
		if err != nil {
			return fmt.Errorf("cannot create a temporary folder; set DATA_DIR: %w", err)
		}
		defer os.RemoveAll(dir)
		d.cfg.DataDir = dir
	}
	unlock, err := store.Lock(d.cfg.DataDir)
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	if err := forumAndLedger(d.cfg.DataDir); err != nil {
		return err
	}
	o.notice = d.notice()
	o.title, o.wikiFile = d.cfg.ForumPage, filepath.Join(d.cfg.DataDir, wikiName)
	sb, err := openSandbox(ctx, d.lg, d.e, o)
	if err != nil {
		return err
	}
	defer sb.close()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- sb.serve(serving) }()
	defer func() {
		stop()
		if err := <-served; err != nil {
			d.lg.Warn("the sandbox", "error", err)
		}
	}()

	own := d.point(sb)
	own.DatabaseURL = "" // the demo has its own ledger
	st, err := openLedger(ctx, own)
	if err != nil {
		return err
	}
	defer st.Close()
	b, err := wireBot(ctx, d.lg, own, st, d.e, d.model(sb), d.policy(), metrics.New(version(), d.e.now))
	if err != nil {
		return err
	}
	if !d.once {
		fmt.Fprintf(d.e.stdout, "%s/\n", sb.url)
		fmt.Fprintln(d.e.stderr, "Open this address in a browser. The bot reads the page every few seconds; Ctrl-C ends the demo.")
		return watch(ctx, d.lg, func(ctx context.Context) error {
			_, err := b.Round(ctx)
			return err
		}, d.schedule)
	}
	sum, err := b.Round(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(d.e.stderr, sum)
	_, err = io.WriteString(d.e.stdout, sb.wiki.Page(d.cfg.ForumPage).Text)
	return err
}

// forumAndLedger returns an error if the ledger in a data folder belongs to a forum that no longer exists, because the
// bot would then treat every request on a new forum as already answered.
func forumAndLedger(dir string) error {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	if has(ledgerFile) && !has(wikiName) {
		return fmt.Errorf("DATA_DIR %s has a ledger (%s) but no forum (%s): choose a different DATA_DIR, or remove the ledger to start over", dir, ledgerFile, wikiName)
	}
	return nil
}

// point returns settings that point to the sandbox and, unless a model is configured, to the scripted model.
func (d *demo) point(sb *sandboxServer) *config.Config {
	cfg := *d.cfg
	cfg.WikiAPI, cfg.WikiUser, cfg.WikiPassword = sb.url+"/w/api.php", sandboxLogin, config.Secret(sb.password)
	cfg.OAuth, cfg.OAuth2Token = config.OAuth{}, ""
	cfg.SPARQLEndpoint, cfg.SPARQLFallback, cfg.EntityAPI = sb.url+"/sparql", "", ""
	cfg.EntityREST, cfg.VectorSearch = "", ""
	return &cfg
}

// notice returns the notice on the forum page that tells visitors who answers their requests.
func (d *demo) notice() string {
	if d.cfg.HasModel() {
		return "The bot reads this page every few seconds and answers new requests with the language model " +
			d.cfg.OpenAIModel +
			", about the small part of Wikidata that comes with the demo."
	}
	return "The bot reads this page every few seconds. Its language model is a script that can answer only the requests on this page and the replies marked “Try” " +
		"below the bot’s answers. For your own questions, set OPENAI_API_KEY or OPENAI_BASE_URL and start the demo again."
}

func (d *demo) model(sb *sandboxServer) llm.Config {
	if d.cfg.HasModel() {
		return modelSettings(d.cfg)
	}
	return llm.Config{
		BaseURL: sb.url + "/v1", Model: llm.ScriptModel, Timeout: 20 * time.Second,
		Retry: politehttp.Policy{Attempts: 4, Base: 50 * time.Millisecond, Max: time.Second},
	}
}

func (d *demo) policy() bot.Config {
	return bot.Config{
		Page: d.cfg.ForumPage, Account: sandboxBot, Operator: sandboxOperator, StopPage: "User:" + sandboxBot + "/run",
		Posting:     bot.On,
		AnswerSince: demoSince, FollowupLimit: 5, RepliesPerHour: 1000, ReplyOnFailure: true, RetryDelay: 10 * time.Second,
		UnknownGrace: 5 * time.Second, UnsignedDelay: time.Second,
	}
}
