// Command graphbench benchmarks the embedded graph against other SPARQL engines, all with the triples and queries in
// internal/kg/embedded/benchdata: goRDFlib (the library that the embedded graph replaced), Oxigraph (npm), Virtuoso
// and, if requested, Blazegraph. tools/engines/install.sh installs the last three.
//
// The engines run one after another, each in its own process. Each query runs once to warm up and then -n times; the
// table contains medians in milliseconds. "in process" is the time inside the engine's process from the query text to
// the last row in the engine's own data structures (Oxigraph: to the JSON text, which avoids creating objects for
// JavaScript). "HTTP" is the time until a client on the same machine has read the last byte of SPARQL JSON. Memory is
// the resident set of the engine's processes, after loading and at its peak.
//
//	go run ./tools/graphbench             # the table
//	go run ./tools/graphbench -write FILE # the triples as N-Triples
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded/benchdata"
)

func main() {
	child := flag.String("child", "", "serve the given file as an `engine`: embedded or gordflib (used by the command itself)")
	write := flag.String("write", "", "write the triples to a `file` and exit")
	runs := flag.Int("n", 9, "`runs` of each query")
	engines := flag.String("engines", "embedded,gordflib,oxigraph,virtuoso", "`engines` to measure; also blazegraph")
	scripts := flag.String("scripts", "tools/engines", "`folder` of start.sh")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case *child != "":
		err = serve(ctx, *child, flag.Arg(0))
	case *write != "":
		err = writeData(*write)
	default:
		err = compare(ctx, strings.Split(*engines, ","), *scripts, *runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "graphbench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop was called
	}
}

func writeData(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := benchdata.WriteNTriples(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

type result struct {
	name                string
	load                time.Duration
	memory, peak        int64              // bytes
	inProcess, overHTTP map[string]float64 // milliseconds by query; absent if not measured
	rows                map[string]int     // by query
	failed              map[string]string  // by query
}

func compare(ctx context.Context, names []string, scripts string, runs int) error {
	dir, err := os.MkdirTemp("", "graphbench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	data := filepath.Join(dir, "data.nt")
	if err := writeData(data); err != nil {
		return err
	}
	var all []result
	for _, name := range names {
		fmt.Fprintln(os.Stderr, "measuring", name)
		work := filepath.Join(dir, name)
		if err := os.Mkdir(work, 0o700); err != nil {
			return err
		}
		r, err := measure(ctx, name, scripts, work, data, runs)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, r)
	}
	print(all, slices.Concat(benchdata.Classes, benchdata.More))
	return agree(all)
}

// agree checks that all engines found the same number of rows: the speed of wrong answers does not matter.
func agree(all []result) error {
	var wrong []string
	for _, q := range slices.Concat(benchdata.Classes, benchdata.More) {
		for _, r := range all[1:] {
			if n, ok := r.rows[q.Name]; ok && n != all[0].rows[q.Name] {
				wrong = append(wrong, fmt.Sprintf("%s: %d rows in %s, %d in %s", q.Name, all[0].rows[q.Name], all[0].name, n,
					r.name))
			}
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the engines differ: %s", strings.Join(wrong, "; "))
	}
	return nil
}

// print writes the table as Markdown, with one row for each engine and access method.
func print(all []result, queries []benchdata.Query) {
	head, rule := "| engine | load | memory, peak |", "| --- | --- | --- |"
	for _, q := range queries {
		head, rule = head+" "+q.Name+" |", rule+" --- |"
	}
	fmt.Println(head)
	fmt.Println(rule)
	for _, r := range all {
		for _, way := range []struct {
			name  string
			times map[string]float64
		}{{"in process", r.inProcess}, {"HTTP", r.overHTTP}} {
			if len(way.times) == 0 {
				continue
			}
			line := fmt.Sprintf("| %s, %s | %.1f s | %d, %d MB |", r.name, way.name, r.load.Seconds(), r.memory>>20, r.peak>>20)
			for _, q := range queries {
				switch ms, ok := way.times[q.Name]; {
				case !ok:
					line += " – |"
				case ms < 10:
					line += fmt.Sprintf(" %.2g |", ms)
				default:
					line += fmt.Sprintf(" %.0f |", ms)
				}
			}
			fmt.Println(line)
		}
	}
	for _, r := range all {
		for _, q := range queries {
			if why := r.failed[q.Name]; why != "" {
				fmt.Printf("\n%s does not answer \"%s\": %s\n", r.name, q.Name, why)
			}
		}
	}
}
