package examples

import (
	"context"
	"log/slog"
	"slices"
)

// Vectors stores vectors across runs of the program, by model name and text.
type Vectors interface {
	// Vectors returns the stored vectors, keyed by text.
	Vectors(ctx context.Context, model string, texts []string) (map[string][]float32, error)
	// KeepVectors stores vectors, keyed by text.
	KeepVectors(ctx context.Context, model string, vectors map[string][]float32) error
}

// Kept is an [Embedder] that stores vectors and requests only missing vectors from another Embedder. If the stored
// vectors cannot be read, it requests all of them.
type Kept struct {
	Embedder Embedder
	Model    string // name of the embedder's model
	Vectors  Vectors
	Log      *slog.Logger
}

// Embed implements [Embedder].
func (k *Kept) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	have, err := k.Vectors.Vectors(ctx, k.Model, texts)
	if err != nil {
		k.Log.Info("cannot read the stored vectors", "error", err)
		have = nil
	}
	var want []string
	for _, t := range texts {
		if have[t] == nil && !slices.Contains(want, t) {
			want = append(want, t)
		}
	}
	if len(want) > 0 {
		vectors, err := k.Embedder.Embed(ctx, want)
		if err != nil {
			return nil, err
		}
		fresh := map[string][]float32{}
		for i, t := range want[:min(len(want), len(vectors))] {
			fresh[t] = vectors[i]
		}
		if err := k.Vectors.KeepVectors(ctx, k.Model, fresh); err != nil {
			k.Log.Info("vectors cannot be stored", "error", err)
		}
		if have == nil {
			have = map[string][]float32{}
		}
		for t, v := range fresh {
			have[t] = v
		}
	}
	var out [][]float32
	for _, t := range texts {
		if v := have[t]; v != nil {
			out = append(out, v)
		}
	}
	return out, nil
}
