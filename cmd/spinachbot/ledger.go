package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/store"
)

// ledgerFile is the database's name in DATA_DIR.
const ledgerFile = "spinachbot.db"

func runLedger(ctx context.Context, e *env, args []string) int {
	c := newCmdline(e, "ledger", "list|show|approve|reject|retry [flags] [ID]",
		`The requests the bot knows, what it would post, and the say over it. ID is a key or its beginning.
list shows a line for each entry (--state limits it); show gives the draft as a diff and as wikitext; approve lets a proposed reply be posted at the next round;
reject makes sure that nothing is posted; retry has a request judged and solved again.`,
		config.Data)
	states := c.fs.String("state", "", "list: only these `states`, comma-separated: "+stateNames())
	asJSON := c.fs.Bool("json", false, "list and show: one JSON object an entry")
	by := c.fs.String("by", "", "approve: your `name`, for the record (default OPERATOR or the system's user)")
	why := c.fs.String("why", "rejected by the operator", "reject: the `reason`, for the record")
	rest, done, code := c.parse(args)
	if done {
		return code
	}
	if len(rest) == 0 {
		return misuse(e, "ledger: want list, show, approve, reject or retry; see spinachbot ledger -h")
	}
	verb, ids := rest[0], rest[1:]
	switch {
	case verb != "list" && verb != "show" && verb != "approve" && verb != "reject" && verb != "retry":
		return misuse(e, "ledger: there is no %q; want list, show, approve, reject or retry", verb)
	case verb == "list" && len(ids) > 0, verb != "list" && len(ids) != 1:
		return misuse(e, "ledger %s: want %s", verb, map[bool]string{true: "no ID", false: "one ID"}[verb == "list"])
	}
	filter, err := parseStates(*states)
	if err != nil {
		return misuse(e, "ledger: %v", err)
	}
	cfg, ok := c.load()
	if !ok {
		return exitUsage
	}
	path := filepath.Join(cfg.DataDir, ledgerFile)
	if _, err := os.Stat(path); err != nil {
		return fail(e, fmt.Errorf("there is no ledger in DATA_DIR %s yet: the bot makes it at its first round (%w)", cfg.DataDir, err))
	}
	st, err := store.Open(ctx, path)
	if err != nil {
		return fail(e, err)
	}
	defer st.Close()
	l := &ledgerCommand{e: e, st: st, json: *asJSON}
	name := *by
	if name == "" {
		name = operatorName(e, cfg)
	}
	switch verb {
	case "list":
		err = l.list(ctx, filter)
	case "show":
		err = l.show(ctx, ids[0])
	case "approve":
		err = l.changed(bot.Approve(ctx, st, e.now(), ids[0], name))
	case "reject":
		err = l.changed(bot.Reject(ctx, st, e.now(), ids[0], *why))
	case "retry":
		err = l.changed(bot.Retry(ctx, st, e.now(), ids[0]))
	}
	if err != nil {
		return fail(e, err)
	}
	return exitOK
}

type ledgerCommand struct {
	e    *env
	st   *store.Store
	json bool
}

func (l *ledgerCommand) list(ctx context.Context, states []bot.State) error {
	entries, err := bot.List(ctx, l.st, states...)
	if err != nil {
		return err
	}
	for _, en := range entries {
		if l.json {
			writeJSON(l.e.stdout, en)
			continue
		}
		fmt.Fprintln(l.e.stdout, clean(en.Line()))
	}
	if len(entries) == 0 && !l.json {
		fmt.Fprintln(l.e.stderr, "no entries")
	}
	return nil
}

func (l *ledgerCommand) show(ctx context.Context, id string) error {
	en, err := bot.Find(ctx, l.st, id)
	if err != nil {
		return err
	}
	if l.json {
		writeJSON(l.e.stdout, en)
		return nil
	}
	_, err = io.WriteString(l.e.stdout, clean(en.Describe()))
	return err
}

func (l *ledgerCommand) changed(en *bot.Entry, err error) error {
	if err == nil {
		fmt.Fprintln(l.e.stdout, clean(en.Line()))
	}
	return err
}

func stateNames() string {
	var names []string
	for _, s := range bot.States() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func parseStates(list string) ([]bot.State, error) {
	if list == "" {
		return nil, nil
	}
	var out []bot.State
next:
	for _, name := range strings.Split(list, ",") {
		for _, s := range bot.States() {
			if string(s) == strings.TrimSpace(name) {
				out = append(out, s)
				continue next
			}
		}
		return nil, fmt.Errorf("there is no state %q; the states are %s", name, stateNames())
	}
	return out, nil
}

func operatorName(e *env, cfg *config.Config) string {
	if cfg.Operator != "" {
		return cfg.Operator
	}
	for _, kv := range e.environ {
		if name, ok := strings.CutPrefix(kv, "USER="); ok && name != "" {
			return name
		}
	}
	return "operator"
}
