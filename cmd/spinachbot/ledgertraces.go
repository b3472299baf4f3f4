package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/tracepage"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/show"
	"github.com/spinachbot/spinachbot/internal/text"
)

const ledgerTracesDoc = `Lists the pages below TRACE_PAGE with the steps behind the bot's replies, oldest first. Each has a state: waits (it
must still be made), there, empty (its time was over and the bot removed the steps; they are in its history until an
administrator deletes the page), not (it was not made, or others have taken it over; the reason is shown).`

func ledgerTracesCommand(e *env) *cobra.Command {
	c := newCmdline(e, "traces [flags]", "list the wiki pages with the steps behind replies", ledgerTracesDoc, config.Data)
	state := c.fs.String("state", "", "only those in this `state`: waits, there, empty or not")
	asJSON := c.fs.Bool("json", false, "print one JSON object per page")
	return c.command(func(ctx context.Context, args []string) int {
		if len(args) > 0 {
			return misuse(e, "ledger traces: takes no arguments; trace show ID shows the steps of an entry")
		}
		switch *state {
		case "", tracepage.Waits, tracepage.There, tracepage.Empty, tracepage.Not:
		default:
			return misuse(e, "ledger traces: --state %q: want waits, there, empty or not", *state)
		}
		return c.withLedger(ctx, *asJSON, func(l *ledger) error {
			entries, err := bot.List(ctx, l.st)
			if err != nil {
				return err
			}
			t := &console.Table{Header: []string{"STATE", "SINCE", "PAGE", "WHY"}}
			n := 0
			for _, p := range tracepage.List(entries) {
				if *state != "" && p.State != *state {
					continue
				}
				n++
				if *asJSON {
					show.JSON(e.stdout, p)
					continue
				}
				since := ""
				if !p.Since.IsZero() {
					since = p.Since.UTC().Format("2006-01-02 15:04")
				}
				t.Rows = append(t.Rows, []string{p.State, since, text.Clean(p.Title), cmp.Or(text.OneLine(text.Clean(p.Why)), "-")})
			}
			switch {
			case *asJSON:
				return nil
			case n == 0:
				fmt.Fprintln(e.stderr, "no pages")
				return nil
			}
			return t.Write(l.Out, l.Width(), func(s string) string { return l.Out.In(console.Bold, s) })
		})
	})
}
