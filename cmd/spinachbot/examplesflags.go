package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/dataset/examples"
	"github.com/spinachbot/spinachbot/dataset/release"
	"github.com/spinachbot/spinachbot/internal/lesson"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/text"
)

// exampleFlags choose the solved questions that the model may be shown.
type exampleFlags struct {
	paths   fileList
	force   int
	lessons []dataset.Item // solved questions from the forum that an operator approved
}

func (f *exampleFlags) declare(c *cmdline) {
	c.fs.Var(&f.paths, "examples", "`file` with solved questions to show the model: a benchmark in any form, or the folder of a harvest; may be given again")
	c.fs.IntVar(&f.force, "force-examples", 0, "show this `number` of them before the model's first turn, with any preset")
}

// forumLessons is the source name of solved questions that were learned from the forum.
const forumLessons = "corrections on the forum"

// learned adds the solved questions that were learned as lessons.
func (f *exampleFlags) learned(book *lesson.Book) (err error) {
	f.lessons, err = book.Examples()
	return err
}

// check returns an error if the flags are invalid. If have is set, there are solved questions even without --examples.
func (f *exampleFlags) check(have bool) error {
	switch {
	case f.force < 0:
		return usageError{errors.New("--force-examples must be positive")}
	case f.force > 0 && len(f.paths) == 0 && !have:
		return usageError{errors.New("--force-examples requires solved questions: specify a file with --examples")}
	}
	return nil
}

// read reads the solved questions, except those that held excludes. It returns nil if none were specified.
func (f *exampleFlags) read(ctx context.Context, e *env, lg *slog.Logger, held *examples.Held) (*examples.Pool, error) {
	if len(f.paths)+len(f.lessons) == 0 {
		return nil, nil
	}
	pool := &examples.Pool{}
	pool.Add(forumLessons, f.lessons)
	for _, path := range f.paths {
		if err := addExamples(ctx, pool, path); err != nil {
			return nil, err
		}
	}
	if ids := pool.Broken(); len(ids) > 0 {
		fmt.Fprintf(e.stderr, "spinachbot: warning: %s of --examples left out, because the query is not SPARQL: %s\n",
			text.Count(len(ids), "item"), listed(ids))
	}
	if held == nil {
		return pool, nil
	}
	left, gone := pool.Without(held)
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(gone)) {
		why = append(why, fmt.Sprintf("%s %d", reason, gone[reason]))
	}
	if left.Len() == 0 {
		fmt.Fprintf(e.stderr, "spinachbot: warning: none of the solved questions of %s is shown: all of them are too similar to questions of the benchmark\n",
			text.OneLine(strings.Join(pool.Sources(), ", ")))
	}
	lg.Info("solved questions", "files", strings.Join(pool.Sources(), ", "), "held_back", strings.Join(why, ", "), "left",
		left.Len())
	return left, nil
}

// listed returns the first few IDs as a comma-separated string.
func listed(ids []string) string {
	const most = 10
	out := text.OneLine(strings.Join(ids[:min(len(ids), most)], ", "))
	if more := len(ids) - most; more > 0 {
		out += fmt.Sprintf(" and %d more", more)
	}
	return out
}

// missed warns if a preset shows solved questions but there are none.
func missed(e *env, p *preset.Preset, pool *examples.Pool) {
	if pool == nil && (p.Examples.N > 0 && p.Examples.Force != "" || p.Generate.Examples > 0) {
		fmt.Fprintf(e.stderr, "spinachbot: warning: the preset %s shows solved questions, but there are none: specify a file with --examples\n",
			p.Name)
	}
}

// addExamples adds the examples found at a path. For an annotated harvest folder, the items that annotators kept come
// first.
func addExamples(ctx context.Context, pool *examples.Pool, path string) error {
	if _, err := os.Stat(filepath.Join(path, annotationsFile)); err != nil {
		return pool.Read(path)
	}
	st, err := openAnnotations(ctx, path)
	if err != nil {
		return err
	}
	defer st.Close()
	_, golds, err := readGolds(ctx, path, st, false)
	if err != nil {
		return err
	}
	items, err := release.Items(path, golds, false)
	if err != nil {
		return err
	}
	return pool.Harvest(path, items)
}

// own returns a copy of the flags. If no file was specified, the copy includes the scheduled harvest's candidates, if
// there are any.
func (f *exampleFlags) own(dataDir string) *exampleFlags {
	out := *f
	folder := filepath.Join(dataDir, harvestFolder)
	if _, err := os.Stat(filepath.Join(folder, dataset.CandidatesFile)); err == nil && len(f.paths) == 0 {
		out.paths = fileList{folder}
	}
	return &out
}

// hasEmbeddings reports whether OPENAI_EMBEDDING_MODEL, which is also used for searches, is set.
func hasEmbeddings(cfg *config.Config) bool { return cfg.Origin("OPENAI_EMBEDDING_MODEL") != "default" }

// byMeaning makes pool, which may be nil, rank questions by meaning if an embedding model is configured. Vectors are
// stored in keep, unless wrap records or replays every exchange.
func byMeaning(lg *slog.Logger, e *env, cfg *config.Config, pool *examples.Pool, days llm.DayStore,
	keep examples.Vectors, wrap wrapper) error {
	if pool == nil || !hasEmbeddings(cfg) {
		return nil
	}
	model, err := newModel(lg, modelSettings(cfg), cfg.DailyUSD, days, e.now, wrap)
	if err != nil || model.Model() == "" {
		return err
	}
	embedder := model.Embedder(cfg.OpenAIEmbeddingModel)
	if wrap != nil {
		pool.ByMeaning(lg, embedder)
		return nil
	}
	pool.ByMeaning(lg, &examples.Kept{Embedder: embedder, Model: embedder.Model(), Vectors: keep, Log: lg})
	return nil
}

// fingerprint returns a string that identifies the solved questions in a run's settings.
func (f *exampleFlags) fingerprint() (string, error) {
	var out []string
	for _, path := range f.paths {
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, dataset.CandidatesFile)
		}
		h, err := hashFile(path)
		if err != nil {
			return "", err
		}
		out = append(out, h)
	}
	if len(f.lessons) > 0 {
		content, err := json.Marshal(f.lessons)
		if err != nil {
			return "", err
		}
		out = append(out, hashOf(content))
	}
	if f.force > 0 {
		out = append(out, fmt.Sprintf("%d at the start", f.force))
	}
	return strings.Join(out, " "), nil
}

// withExamples adds the solved questions to the main graph.
func withExamples(sources agent.Sources, found agent.Examples) agent.Sources {
	out := slices.Clone(sources)
	out[0].Examples = found
	return out
}
