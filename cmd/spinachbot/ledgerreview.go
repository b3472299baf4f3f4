package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/text"
)

const reviewDoc = `Shows the replies that wait for approval, one after the other, and asks what to do with each:
approve it, edit its text, reject it, or skip to the next. With IDs, shows these entries instead.

Several lists the replies that are left with their confidence and a link to the thread, and approves those that you
name by number, such as 2,4-6.

Edit opens $VISUAL or $EDITOR, or reads the new text from the next line when neither is set.`

func ledgerReviewCommand(e *env) *cobra.Command {
	c := newCmdline(e, "review [flags] [ID...]", "go through the replies that wait for approval", reviewDoc, config.Data,
		config.Wiki)
	by := byFlag(c)
	c.cmd.ValidArgsFunction = c.completeEntries(bot.Proposed, bot.Approved)
	return c.command(func(ctx context.Context, args []string) int {
		return c.withLedger(ctx, false, func(l *ledger) error {
			return (&review{ledger: l, by: l.operator(*by), in: bufio.NewReader(e.stdin)}).run(ctx, args)
		})
	})
}

type review struct {
	*ledger
	by                       string
	in                       *bufio.Reader
	approved, rejected, left int
	rest                     []*bot.Entry // the remaining entries, starting with the one shown
}

func (r *review) run(ctx context.Context, ids []string) error {
	entries, err := r.find(ctx, ids)
	if len(ids) == 0 {
		entries, err = bot.List(ctx, r.st, bot.Proposed)
	}
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		fmt.Fprintln(r.e.stderr, "no reply waits for approval")
		return nil
	}
	for i := 0; i < len(entries); i++ {
		if i > 0 {
			fmt.Fprintln(r.Out)
		}
		r.Entry(entries[i])
		fmt.Fprintln(r.Out)
		r.rest = entries[i:]
		on, err := r.decide(ctx, entries[i], fmt.Sprintf("%d of %d", i+1, len(entries)))
		if err != nil {
			return err
		}
		if !on {
			r.left += len(r.rest)
			break
		}
		entries = append(entries[:i+1:i+1], r.rest[1:]...) // without the entries that were approved together
	}
	fmt.Fprintf(r.Out, "%d approved, %d rejected, %d left\n", r.approved, r.rejected, r.left)
	return nil
}

// decide asks what to do with an entry until the input is valid. on is false if the review is over.
func (r *review) decide(ctx context.Context, en *bot.Entry, where string) (on bool, err error) {
	prompt := where + "  approve, edit, reject, next, several, quit? "
	if width := r.Width(); width > 0 && len(prompt) > width {
		prompt = strings.Replace(prompt, "  ", "\n", 1)
	}
	for {
		answer, err := r.ask(ctx, prompt)
		if errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		done, count := true, &r.left
		switch strings.ToLower(answer) {
		case "a", "approve":
			count, err = &r.approved, r.approve(ctx, en)
		case "e", "edit":
			done, err = false, r.edit(ctx, en)
		case "r", "reject":
			var why string
			if why, err = r.ask(ctx, "reason (Enter for none): "); err == nil {
				count, err = &r.rejected, r.changed(bot.Reject(ctx, r.st, r.e.now(), en.Key, rejection(why, r.by)))
			}
		case "s", "several":
			done, err = r.several(ctx)
			if done { // already counted
				if err != nil {
					fmt.Fprintln(r.e.stderr, "spinachbot:", text.Clean(err.Error()))
				}
				return true, nil
			}
		case "n", "next", "":
		case "q", "quit":
			return false, nil
		default:
			fmt.Fprintf(r.Out, "%q is none of these: type the word or its first letter; several lists the rest and "+
				"approves by number\n", text.Clean(answer))
			continue
		}
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, io.EOF):
			return false, nil
		case err != nil: // for example, the entry's state does not allow the action: print the error and ask again
			fmt.Fprintln(r.e.stderr, "spinachbot:", text.Clean(err.Error()))
		case done:
			*count++
			return true, nil
		}
	}
}

// approve approves the reply that was shown. If the bot or another operator has changed the reply in the meantime,
// approve shows it again instead.
func (r *review) approve(ctx context.Context, shown *bot.Entry) error {
	name := "none"
	if shown.Draft != nil {
		name = shown.Draft.Name()
	}
	en, err := bot.ApproveShown(ctx, r.st, r.e.now(), shown.Key, name, r.by)
	if !errors.Is(err, bot.ErrOtherDraft) {
		return r.changed(en, err)
	}
	if en, err = bot.Find(ctx, r.st, shown.Key); err != nil {
		return err
	}
	*shown = *en
	r.Entry(shown)
	return errors.New("the reply has changed since it was shown; the new text is above")
}

// edit lets the operator change the text of a reply and shows the result.
func (r *review) edit(ctx context.Context, en *bot.Entry) error {
	now, err := bot.Find(ctx, r.st, en.Key)
	if err != nil {
		return err
	}
	if now.Draft == nil {
		return errors.New("it has no draft to edit")
	}
	var text string
	if editor := r.e.editor(); editor != "" {
		text, err = r.inEditor(ctx, editor, now)
	} else {
		text, err = r.ask(ctx, "new text: ")
	}
	if err != nil {
		return err
	}
	now, err = r.revise(ctx, now, text, r.by)
	if err == nil {
		*en = *now
		fmt.Fprintln(r.Out)
		r.Entry(en)
		fmt.Fprintln(r.Out)
	}
	return err
}

// ask prints a prompt and reads a line. Ctrl-C stops waiting.
func (r *review) ask(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(r.Out, prompt)
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := r.in.ReadString('\n')
		if err == io.EOF && text != "" {
			err = nil
		}
		read <- line{strings.TrimSpace(text), err}
	}()
	select {
	case l := <-read:
		if l.err != nil {
			fmt.Fprintln(r.Out)
		}
		return l.text, l.err
	case <-ctx.Done():
		fmt.Fprintln(r.Out)
		return "", ctx.Err()
	}
}

const editDoc = `Changes the text of drafted replies: the sentences above the query. It opens $VISUAL or $EDITOR for
each, or reads the new text from a file or from standard input with --text.

The text is plain: wiki markup in it is shown on the page, not used. The query and its rows stay those that were run;
for another query use ledger retry. An approved reply must be approved again.`

func ledgerEditCommand(e *env) *cobra.Command {
	c := newCmdline(e, "edit [flags] ID...", "change the text of drafted replies", editDoc, config.Data)
	by := byFlag(c)
	file := c.fs.String("text", "", "`file` with the new text, or - for standard input, instead of an editor")
	c.cmd.ValidArgsFunction = c.completeEntries(bot.ActEdit.On()...)
	return c.command(func(ctx context.Context, args []string) int {
		editor := e.editor()
		switch {
		case len(args) == 0:
			return misuse(e, "ledger edit: which entry? spinachbot ledger edit ID; spinachbot ledger list shows the IDs")
		case *file != "" && len(args) > 1:
			return misuse(e, "ledger edit: --text needs exactly one ID, got %d", len(args))
		case *file == "" && editor == "":
			return misuse(e, "ledger edit: no editor is set; set EDITOR, or give the new text with --text FILE or --text -")
		}
		return c.withLedger(ctx, false, func(l *ledger) error {
			return each(args, func(id string) error { return l.editOne(ctx, id, *file, editor, l.operator(*by)) })
		})
	})
}

func (l *ledger) editOne(ctx context.Context, id, file, editor, by string) error {
	en, err := bot.Find(ctx, l.st, id)
	if err != nil {
		return err
	}
	if en.Draft == nil || !slices.Contains(bot.ActEdit.On(), en.State) { // report this before the user types anything
		return fmt.Errorf("edit %s: it is %s; only a waiting draft can be edited", en.Key, en.State)
	}
	var text string
	if file != "" {
		var b []byte
		b, err = readInput(l.e, file)
		text = string(b)
	} else {
		text, err = l.inEditor(ctx, editor, en)
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", en.Key, err)
	}
	return l.changed(l.revise(ctx, en, text, by))
}

// revise replaces the text, and returns an error if the new text is the same.
func (l *ledger) revise(ctx context.Context, en *bot.Entry, given, by string) (*bot.Entry, error) {
	if text.Fold(given) == text.Fold(en.Draft.Reply.Short) {
		return en, errors.New("nothing was changed")
	}
	return bot.ReviseShown(ctx, l.st, l.e.now(), en.Key, en.Draft.Name(), given, by)
}

// inEditor opens the text of a draft in an editor and returns the new text. The query and its rows are shown below a
// line and cannot be changed.
func (l *ledger) inEditor(ctx context.Context, editor string, en *bot.Entry) (string, error) {
	below := `Change only the text above this line. Wiki markup in it is shown on the page, not used.
For another query, leave and use: spinachbot ledger retry ` + en.Key + `

` + text.Clean(en.Heading) + "\n\n" + text.Clean(en.Question) + "\n\n" + text.Clean(en.Draft.Reply.ShownQuery()) + "\n"
	s, err := console.Edit(ctx, editor, en.Draft.Reply.Short, below, l.e.stdin, l.e.stdout, l.e.stderr)
	if errors.Is(err, console.ErrBelow) {
		return "", fmt.Errorf("%w. For a different query, run: spinachbot ledger retry %s", err, en.Key)
	}
	return s, err
}

// several lists the remaining entries and approves those whose numbers the operator types. shown reports whether the
// entry under review was approved; the other approved entries are removed from the remaining entries.
func (r *review) several(ctx context.Context) (shown bool, err error) {
	for i, en := range r.rest {
		confidence := "  - "
		if en.Draft != nil {
			confidence = fmt.Sprintf("%.2f", en.Draft.Confidence)
		}
		fmt.Fprintf(r.Out, "%3d  %s  %s\n", i+1, confidence, text.OneLine(text.Clean(en.Author+": "+en.Heading)))
		if en.Draft != nil {
			fmt.Fprintf(r.Out, "     %s\n", text.Clip(text.OneLine(text.Clean(en.Draft.Reply.Short+en.Draft.Reply.Asks)), 200))
			for _, fault := range en.Draft.Faults {
				fmt.Fprintf(r.Out, "     held: %s\n", text.OneLine(text.Clean(fault)))
			}
		}
		fmt.Fprintf(r.Out, "     %s\n", r.Link(en))
	}
	typed, err := r.ask(ctx, "approve which? numbers such as 2,4-6, or Enter for none: ")
	if err != nil {
		return false, err
	}
	chosen, err := console.Numbers(typed, len(r.rest))
	if err != nil {
		return false, err
	}
	var left []*bot.Entry
	var errs []error
	for i, en := range r.rest {
		failed := false
		if chosen[i+1] {
			err := r.approve(ctx, en)
			if failed = err != nil; failed {
				errs = append(errs, err)
			} else {
				r.approved++
			}
			shown = shown || i == 0 && !failed
		}
		if i == 0 || !chosen[i+1] || failed {
			left = append(left, en)
		}
	}
	r.rest = left
	return shown, errors.Join(errs...)
}
