// Command labelbench measures label search: on a table of labels in GRASP's form and a file of queries with the entry
// that each was made from, as kind, text and id. It builds our index, or SQLite's FTS5 for comparison, and prints
// time, size and memory of the build, and for each kind of query how often the entry is among the first ten, and the
// median and the 99th percentile of the time.
//
//	go run ./tools/labelbench [--fts5] [--keep FILE] LABELS.tsv QUERIES.tsv
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/spinachbot/spinachbot/internal/index/build"
	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// engine is something that finds labels.
type engine interface {
	build(labels string) error
	find(text string) ([]string, error)
	size() int64
}

func main() {
	fts := flag.Bool("fts5", false, "measure SQLite's FTS5")
	keep := flag.String("keep", "", "index `file` to make, or to use when it is there; the default is a temporary one")
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
	var e engine = &ours{file: file}
	if fts {
		e = &fts5{file: file}
	}
	start := time.Now()
	if err := e.build(labels); err != nil {
		return err
	}
	fmt.Printf("build %.1f s, %.0f MB on disk, %.0f MB of memory at most\n", time.Since(start).Seconds(),
		float64(e.size())/1e6, peak())
	return measure(e, queries)
}

// peak is the most memory that the process had, in MB.
func peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / 1e3
}

// processorTime is the time that the processor spent on this thread; on a busy machine the clock says more.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func measure(e engine, queries string) error {
	f, err := os.Open(queries)
	if err != nil {
		return err
	}
	defer f.Close()
	type result struct {
		times, cpu []time.Duration
		hits       int
	}
	runtime.LockOSThread()
	by := map[string]*result{}
	var kinds []string
	for s := bufio.NewScanner(f); s.Scan(); {
		c := strings.Split(s.Text(), "\t")
		if len(c) != 3 {
			return fmt.Errorf("%s: want kind, text and id, got %q", queries, s.Text())
		}
		r := by[c[0]]
		if r == nil {
			r = &result{}
			by[c[0]] = r
			kinds = append(kinds, c[0])
		}
		start, cpu := time.Now(), processorTime()
		found, err := e.find(c[1])
		if err != nil {
			return fmt.Errorf("%q: %w", c[1], err)
		}
		r.times, r.cpu = append(r.times, time.Since(start)), append(r.cpu, processorTime()-cpu)
		if slices.Contains(found, strings.Trim(c[2], "<>")) {
			r.hits++
		}
	}
	fmt.Println("kind     in ten    median ms   p99 ms   worst ms   of the processor: median   p99 ms")
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
	for _, k := range kinds {
		r := by[k]
		slices.Sort(r.times)
		n := len(r.times)
		slices.Sort(r.cpu)
		fmt.Printf("%-8s %5.1f %%  %9.3f  %8.3f  %9.3f  %24.3f  %8.3f\n", k, 100*float64(r.hits)/float64(n),
			ms(r.times[n/2]), ms(r.times[n*99/100]),
			ms(r.times[n-1]), ms(r.cpu[n/2]), ms(r.cpu[n*99/100]))
	}
	return nil
}

// ours is the index of package lookup.
type ours struct {
	file  string
	index *lookup.File
}

func (o *ours) build(labels string) error {
	ctx := context.Background()
	if _, err := os.Stat(o.file); err != nil {
		stage := ""
		start := time.Now()
		opts := lookup.Options{Progress: func(s string, done, of int) {
			if s != stage {
				stage = s
				fmt.Fprintf(os.Stderr, "%s at %.1f s, %.0f MB\n", s, time.Since(start).Seconds(), peak())
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

func (o *ours) find(text string) (out []string, err error) {
	p, err := o.index.Search(context.Background(), lookup.Query{Text: text})
	for _, h := range p.Hits {
		out = append(out, h.IRI)
	}
	return out, err
}

func (o *ours) size() int64 { return sizeOf(o.file) }

func sizeOf(file string) int64 {
	i, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return i.Size()
}
