package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// solver is the agent as the bot needs it: every run gets an account for its money and a trajectory file named after the ledger's key.
type solver struct {
	lg     *slog.Logger
	engine *agent.Engine
	dir    string // folder of the trajectories
	limits agent.Limits
	now    func() time.Time
}

var _ bot.Solver = (*solver)(nil)

// Solve answers one question.
func (s *solver) Solve(ctx context.Context, key string, q agent.Question) (*agent.Outcome, error) {
	q.ID = key
	path := trajectoryPath(s.dir, key, s.now())
	file, err := event.Create(path)
	if err != nil {
		return nil, fmt.Errorf("the trajectory cannot be written: %w", err)
	}
	allowance := llm.NewAllowance(llm.Limits{USD: s.limits.USD})
	ctx = llm.WithAllowance(ctx, allowance)
	out, err := s.engine.Ask(ctx, q, file, s.limits)
	if cerr := file.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("the trajectory %s cannot be completed: %w", path, cerr)
	}
	if err != nil {
		return nil, err
	}
	out.Usage = allowance.Used() // failed calls that were billed included
	return out, nil
}

// Triage judges the last of a thread's posts.
func (s *solver) Triage(ctx context.Context, key, heading string, posts []agent.Post) (*agent.Triage, error) {
	file, err := event.Create(trajectoryPath(s.dir, key+"-triage", s.now()))
	if err != nil {
		return nil, fmt.Errorf("the trajectory cannot be written: %w", err)
	}
	ctx = llm.WithAllowance(ctx, llm.NewAllowance(llm.Limits{USD: s.limits.USD}))
	t, err := s.engine.Triage(ctx, heading, posts, file)
	if cerr := file.Close(); err == nil && cerr != nil {
		return nil, fmt.Errorf("the trajectory cannot be completed: %w", cerr)
	}
	return t, err
}

// trajectoryPath names a run's file: the key, and the time, since a request can be tried again.
func trajectoryPath(dir, key string, now time.Time) string {
	return filepath.Join(dir, key+"-"+now.UTC().Format("20060102T150405.000")+".jsonl")
}

// trajectoryDir makes and names the folder of the trajectories in a data folder.
func trajectoryDir(dataDir string) (string, error) {
	dir := filepath.Join(dataDir, "trajectories")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("the folder of the trajectories cannot be made: %w", err)
	}
	return dir, nil
}
