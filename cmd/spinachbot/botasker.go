package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/internal/store"
)

// botAsker asks the agent on behalf of the bot, with the harvest's solved questions and the approved notes, as
// configured. Both are reread when they change, since the bot runs for months.
type botAsker struct {
	e       *env
	lg      *slog.Logger
	cfg     *config.Config
	st      *store.Store
	sources agent.Sources
	preset  *preset.Preset
	engine  func(sources agent.Sources, opts agent.Options) *agent.Engine

	mu   sync.Mutex
	pool *examples.Pool
	read [3]time.Time // modification times of the files that pool was read from
}

// mostNotes is the maximum number of approved notes shown to the bot's model, as in GRASP.
const mostNotes = 16

// Ask implements ask.Asker. If examples or notes cannot be read, the request is answered without them and a warning is
// logged.
func (b *botAsker) Ask(ctx context.Context, q agent.Question, rec agent.Recorder,
	limits agent.Limits) (*agent.Outcome, error) {
	sources, opts := b.sources, agent.Options{Preset: b.preset, Faithful: true, Proofread: b.cfg.Proofread == "on"}
	if b.cfg.LowConfidence == "ask" {
		opts.Doubt = b.cfg.AnswerConfidence
	}
	if b.cfg.AnswerNotes == "on" {
		noted, err := withNotes(openLessons(b.e, b.cfg.DataDir), sources)
		if err != nil {
			b.lg.Warn("answering without notes", "error", err)
		} else if len(noted.Notes()) > 0 {
			sources, opts.Notes = noted, mostNotes
		}
	}
	if b.cfg.AnswerExamples > 0 {
		pool, err := b.solved(ctx)
		if err != nil {
			b.lg.Warn("answering without solved questions", "error", err)
		} else if pool.Len() > 0 {
			opts.Examples = b.cfg.AnswerExamples
			sources = withExamples(sources, &examples.Besides{Pool: pool, Held: examples.Hold(itself(q))})
		}
	}
	return b.engine(sources, opts).Ask(ctx, q, rec, limits)
}

// itself returns the question and its discussion as benchmark items, so that copies of them are not shown to the model.
func itself(q agent.Question) []dataset.Item {
	items := []dataset.Item{{ID: q.ID, Question: q.Text}}
	if q.Thread != nil {
		items[0].Title, items[0].Paraphrases = q.Thread.Heading, q.Thread.Posts
		for _, query := range q.Thread.Queries {
			items = append(items, dataset.Item{SPARQL: query})
		}
	}
	return items
}

// solved returns the solved questions from the harvest, if there has been one, and from corrections on the forum.
func (b *botAsker) solved(ctx context.Context) (*examples.Pool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	folder := filepath.Join(b.cfg.DataDir, harvestFolder)
	var now [3]time.Time
	for i, path := range []string{filepath.Join(folder, dataset.CandidatesFile), filepath.Join(folder, annotationsFile),
		filepath.Join(b.cfg.DataDir, lessonsFile)} {
		switch info, err := os.Stat(path); {
		case err == nil:
			now[i] = info.ModTime()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	if b.pool != nil && now == b.read {
		return b.pool, nil
	}
	pool := &examples.Pool{}
	corrected, err := openLessons(b.e, b.cfg.DataDir).Examples()
	if err != nil {
		b.lg.Warn("answering without solved questions of the forum", "error", err)
	}
	pool.Add(forumLessons, corrected)
	if !now[0].IsZero() {
		if err := addExamples(ctx, pool, folder); err != nil {
			b.pool, b.read = &examples.Pool{}, now // logged once
			return nil, fmt.Errorf("the harvest: %w", err)
		}
	}
	if err := byMeaning(b.lg, b.e, b.cfg, pool, b.st, b.st, nil); err != nil {
		return nil, err
	}
	b.pool, b.read = pool, now
	b.lg.Info("solved questions read", "folder", folder, "questions", pool.Len())
	return pool, nil
}
