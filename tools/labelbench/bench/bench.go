// Package bench benchmarks label search engines.
package bench

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Engine is a label search engine.
type Engine interface {
	Build(labels string) error                   // reads a table in GRASP's format, or opens an existing index
	Find(text string) (iris []string, err error) // at most ten results
	Size() int64                                 // bytes on disk
}

// Run builds an engine's index, runs the queries in a file on it, and prints the cost of both.
func Run(e Engine, labels, queries string) error {
	start := time.Now()
	if err := e.Build(labels); err != nil {
		return err
	}
	fmt.Printf("build %.1f s, %.0f MB on disk, %.0f MB of memory at most\n", time.Since(start).Seconds(),
		float64(e.Size())/1e6, Peak())
	return measure(e, queries)
}

// Peak returns the process's peak memory in MB.
func Peak() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Maxrss) / 1e3
}

// processorTime returns the CPU time of this thread; on a busy machine, the elapsed time is longer.
func processorTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func measure(e Engine, queries string) error {
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
		found, err := e.Find(c[1])
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
		fmt.Printf("%-8s %5.1f%%  %9.3f  %8.3f  %9.3f  %24.3f  %8.3f\n", k, 100*float64(r.hits)/float64(n),
			ms(r.times[n/2]), ms(r.times[n*99/100]),
			ms(r.times[n-1]), ms(r.cpu[n/2]), ms(r.cpu[n*99/100]))
	}
	return nil
}

// SizeOf returns the size of a file, or 0 if it does not exist.
func SizeOf(file string) int64 {
	i, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return i.Size()
}
