// Package several runs the bots for several wikis in one process.
package several

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"

	"github.com/spinachbot/spinachbot/bot"
)

// Bots runs bots for different wikis that share a ledger. The first is the main bot, whose errors are returned. Errors
// from the others are logged and do not stop the remaining bots. A bot that is blocked on its wiki is skipped until the
// program is restarted, so the operator should restart it after resolving the problem.
type Bots struct {
	Log  *slog.Logger
	Bots []*bot.Bot

	blocked sync.Map // by index in Bots
	turn    int      // index of the bot that goes first
}

// Round runs one round of each bot, in turn. The summaries are in the order of the bots; the summary of a skipped bot
// is empty.
func (s *Bots) Round(ctx context.Context) ([]bot.Summary, error) {
	return s.each(ctx, (*bot.Bot).Round)
}

// Notice calls [bot.Bot.Notice] on each bot.
func (s *Bots) Notice(ctx context.Context) error {
	_, err := s.each(ctx, (*bot.Bot).Notice)
	return err
}

// Publish calls [bot.Bot.Publish] on each bot.
func (s *Bots) Publish(ctx context.Context) error {
	_, err := s.each(ctx, (*bot.Bot).Publish)
	return err
}

func (s *Bots) each(ctx context.Context,
	do func(*bot.Bot, context.Context) (bot.Summary, error)) ([]bot.Summary, error) {
	out := make([]bot.Summary, len(s.Bots))
	var first error
	for i, b := range s.inTurn() {
		sum, err := do(b, ctx)
		out[i] = sum
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil && i == 0:
			first = err
		case errors.Is(err, bot.ErrBlocked):
			s.blocked.Store(i, true)
			s.Log.Error("on another wiki: it is left out until the program is started again", "wiki", b.Wiki(),
				"error", err)
		case err != nil:
			s.Log.Error("on another wiki", "wiki", b.Wiki(), "error", err)
		}
	}
	return out, first
}

// inTurn returns the bots that are not skipped, with their indexes in Bots. Each call starts with a different bot. If
// the order were fixed, the first bot would use up what all wikis share, such as the replies per hour.
func (s *Bots) inTurn() iter.Seq2[int, *bot.Bot] {
	start := s.turn
	s.turn++
	return func(yield func(int, *bot.Bot) bool) {
		for n := range s.Bots {
			i := (start + n) % len(s.Bots)
			if _, left := s.blocked.Load(i); !left && !yield(i, s.Bots[i]) {
				return
			}
		}
	}
}

// Work calls [bot.Bot.Work] on each bot until one of them has work to do. Each call starts with a different bot.
func (s *Bots) Work(ctx context.Context) (worked bool, err error) {
	var errs []error
	for _, b := range s.inTurn() {
		worked, err := b.Work(ctx)
		if worked || ctx.Err() != nil {
			return worked, err
		}
		errs = append(errs, err)
	}
	return false, errors.Join(errs...)
}
