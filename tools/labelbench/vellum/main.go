// Command vellum benchmarks blevesearch/vellum, for comparison with labelbench's engines. It is a separate module, so
// that the program does not depend on vellum. A transducer maps each folded name to its best entry, and finds names
// that start with a string. With --typos, it also finds names with one wrong letter, using a Levenshtein automaton.
//
//	go -C tools/labelbench/vellum run . [--typos] LABELS.tsv QUERIES.tsv
package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
	"github.com/spinachbot/spinachbot/tools/labelbench/bench"
)

func main() {
	typos := flag.Bool("typos", false, "also find names with one wrong letter")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: vellum [--typos] LABELS.tsv QUERIES.tsv")
		os.Exit(2)
	}
	dir, err := os.MkdirTemp("", "vellum")
	if err == nil {
		err = bench.Run(&engine{file: filepath.Join(dir, "names"), typos: *typos}, flag.Arg(0), flag.Arg(1))
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "vellum:", err)
		os.Exit(1)
	}
}

type engine struct {
	file  string
	typos bool
	iris  []string
	fst   *vellum.FST
	lev   *levenshtein.LevenshteinAutomatonBuilder
}

type name struct {
	text  string
	entry int
}

func fold(text string) string { return strings.Join(lookup.Words(text), " ") }

// Build sorts all names in memory, as vellum requires. The table is sorted by descending score, so an entry's index is
// its rank.
func (e *engine) Build(labels string) error {
	var names []name
	if err := build.TableFile(context.Background(), labels, lookup.Entity, func(x lookup.Entry) error {
		for _, n := range append([]string{x.Label}, x.Aliases...) {
			names = append(names, name{fold(n), len(e.iris)})
		}
		e.iris = append(e.iris, x.IRI)
		return nil
	}); err != nil {
		return err
	}
	slices.SortFunc(names, func(a, b name) int {
		return cmp.Or(strings.Compare(a.text, b.text), cmp.Compare(a.entry, b.entry))
	})
	names = slices.CompactFunc(names, func(a, b name) bool { return a.text == b.text })
	f, err := os.Create(e.file)
	if err != nil {
		return err
	}
	b, err := vellum.New(f, nil)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := b.Insert([]byte(n.text), uint64(n.entry)); err != nil {
			return err
		}
	}
	if err := errors.Join(b.Close(), f.Close()); err != nil {
		return err
	}
	if e.fst, err = vellum.Open(e.file); err == nil {
		e.lev, err = levenshtein.NewLevenshteinAutomatonBuilder(1, true)
	}
	return err
}

// Find returns the ten best entries with a name that starts with text, followed by names with one wrong letter.
func (e *engine) Find(text string) (iris []string, err error) {
	text = fold(text)
	from := []byte(text)
	entries, err := e.best(e.fst.Iterator(from, append(bytes.Clone(from), 0xff)))
	if err == nil && len(entries) == 0 && e.typos {
		var dfa vellum.Automaton
		if dfa, err = e.lev.BuildDfa(text, 1); err == nil {
			entries, err = e.best(e.fst.Search(dfa, nil, nil))
		}
	}
	for _, n := range entries {
		iris = append(iris, e.iris[n])
	}
	return iris, err
}

// best returns the ten smallest numbers from an iterator.
func (e *engine) best(it vellum.Iterator, err error) (out []uint64, _ error) {
	for ; err == nil; err = it.Next() {
		_, n := it.Current()
		if i, have := slices.BinarySearch(out, n); !have && i < 10 {
			out = slices.Insert(out, i, n)[:min(len(out)+1, 10)]
		}
	}
	if errors.Is(err, vellum.ErrIteratorDone) {
		err = nil
	}
	return out, err
}

// Size returns the size of the transducer, which does not include the text of the entries.
func (e *engine) Size() int64 { return bench.SizeOf(e.file) }
