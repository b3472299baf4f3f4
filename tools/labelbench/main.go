// Command labelbench benchmarks label search using a table of labels in GRASP's format and a file of queries (kind,
// text, and the ID of the entry that the query was made from). It builds our index, or SQLite's FTS5 for comparison,
// and prints the time, size and memory of the build and, for each kind of query, how often the entry is among the top
// ten hits, and the median and 99th percentile of the query time.
//
//	go run ./tools/labelbench [--fts5] [--keep FILE] LABELS.tsv QUERIES.tsv
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/tools/labelbench/bench"
)

func main() {
	fts := flag.Bool("fts5", false, "measure SQLite's FTS5")
	keep := flag.String("keep", "", "index `file` to create, or to use if it exists; the default is a temporary one")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: labelbench [--fts5] [--keep FILE] LABELS.tsv QUERIES.tsv")
		os.Exit(2)
	}
	if err := run(*fts, *keep, flag.Arg(0), flag.Arg(1)); err != nil {
		fmt.Fprintln(os.Stderr, "labelbench:", err)
		os.Exit(1)
	}
}

func run(fts bool, file, labels, queries string) error {
	if file == "" {
		dir, err := os.MkdirTemp("", "labelbench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		file = filepath.Join(dir, "labels")
	}
	if fts {
		return bench.Run(&fts5{file: file}, labels, queries)
	}
	return bench.Run(&ours{file: file}, labels, queries)
}

// ours is the index of package lookup.
type ours struct {
	file  string
	index *lookup.File
}

func (o *ours) Build(labels string) error {
	ctx := context.Background()
	if _, err := os.Stat(o.file); err != nil {
		stage := ""
		start := time.Now()
		opts := lookup.Options{Progress: func(s string, done, of int) {
			if s != stage {
				stage = s
				fmt.Fprintf(os.Stderr, "%s at %.1f s, %.0f MB\n", s, time.Since(start).Seconds(), bench.Peak())
			}
		}}
		if _, err := lookup.Create(ctx, o.file, opts, func(add func(lookup.Entry) error) error {
			return build.TableFile(ctx, labels, lookup.Entity, add)
		}); err != nil {
			return err
		}
	}
	start := time.Now()
	index, err := lookup.Open(o.file, nil)
	fmt.Printf("open %.1f ms\n", float64(time.Since(start).Microseconds())/1e3)
	o.index = index
	return err
}

func (o *ours) Find(text string) (out []string, err error) {
	p, err := o.index.Search(context.Background(), lookup.Query{Text: text})
	for _, h := range p.Hits {
		out = append(out, h.IRI)
	}
	return out, err
}

func (o *ours) Size() int64 { return bench.SizeOf(o.file) }
