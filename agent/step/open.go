package step

import (
	"context"

	"github.com/spinachbot/spinachbot/internal/llm"
)

// First asks for the first turn of a run that starts by judging a post, but runs none of its calls. The turn is nil if
// the model's server does not support tool calls. The returned state is the state after the call; subject is the post,
// for the scripted model. Errors are as for [Runner.Expand].
func (r *Runner) First(ctx context.Context, s State, subject string) (State, *llm.Choice, error) {
	p := r.Preset
	req := llm.Request{Purpose: "triage", Subject: subject, Temperature: p.Sampling.Temperature,
		TopP: p.Sampling.TopP, MaxTokens: p.Sampling.MaxTokens, Seed: p.Sampling.Seed, Facts: r.Facts(s)}
	b := r.Events.Branch(s.at)
	resp, speaker, err := r.propose(ctx, b, req, s)
	for r.lacks(speaker, err) {
		if r.NoTools != nil && r.NoTools.Load() {
			s.at = b.At()
			return s, nil, nil
		}
		resp, speaker, err = r.propose(ctx, b, req, s)
	}
	if err != nil {
		return s, nil, err
	}
	s.at = b.At()
	if len(resp.Choices) == 0 {
		return s, &llm.Choice{}, nil
	}
	return s, &resp.Choices[0], nil
}
