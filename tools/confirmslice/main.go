// Command confirmslice checks the demo's slice of Wikidata (internal/sandbox/data/*.ttl) against the shared files: a
// larger slice of the real graph and the traces of question-answering runs on the real service. It is for maintainers
// and not part of the tests.
//
//	go run ./tools/confirmslice [-quiet] SHARED [DATA]
//
// SHARED is the directory with data/slice, data/spinach and papers; DATA is the directory with the Turtle files
// (default: the demo's own). Every triple gets one verdict:
//
//	confirmed   the shared files state it: as a triple, on an entity page that a run saw, or as a label
//	inverse     the shared files state its inverse (capital and capital of, father and child, the two sides of a border)
//	together    a run's query used the property, and its result or the query has both subject and value; for names:
//	            the confirmed English name is also used for a different language
//	model       it follows from Wikidata's RDF model: links to statement and value nodes, their types, normal ranks,
//	            parts of full values
//	own words   a description that we wrote
//	UNCONFIRMED none of these; each is listed, and may be kept only if it is beyond doubt
//
// Statement and value IDs are our own and are not checked. The "inverse" and "together" verdicts are weaker than
// "confirmed": the fact is true, but it is not stated in this form.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"text/tabwriter"
)

func main() {
	quiet := flag.Bool("quiet", false, "print only the counts, not the list of what could not be confirmed")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: confirmslice [-quiet] SHARED [DATA]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() < 1 || flag.NArg() > 2 {
		flag.Usage()
		os.Exit(2)
	}
	data := filepath.Join("internal", "sandbox", "data")
	if flag.NArg() == 2 {
		data = flag.Arg(1)
	}
	if err := run(os.Stdout, flag.Arg(0), data, *quiet); err != nil {
		fmt.Fprintln(os.Stderr, "confirmslice:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, shared, data string, quiet bool) error {
	ev, err := readEvidence(shared)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(data, "*.ttl"))
	if err != nil {
		return fmt.Errorf("%s: %w", data, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("no Turtle files in %s", data)
	}
	var ts []triple
	for _, f := range files {
		t, err := readTurtle(f)
		if err != nil {
			return err
		}
		ts = append(ts, t...)
	}
	j := judge{ev: ev, in: newGraph(ts), count: map[string]map[verdict]int{}}
	j.all(ts)
	return j.report(w, len(ts), quiet)
}

// report prints the counts by kind of triple and the unconfirmed triples.
func (j *judge) report(w io.Writer, n int, quiet bool) error {
	kinds := make([]string, 0, len(j.count))
	for k := range j.count {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "kind\t")
	for _, v := range verdicts {
		fmt.Fprintf(tw, "%s\t", v)
	}
	fmt.Fprintln(tw)
	total := map[verdict]int{}
	for _, k := range kinds {
		fmt.Fprintf(tw, "%s\t", k)
		for _, v := range verdicts {
			total[v] += j.count[k][v]
			fmt.Fprintf(tw, "%d\t", j.count[k][v])
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprint(tw, "all\t")
	for _, v := range verdicts {
		fmt.Fprintf(tw, "%d\t", total[v])
	}
	fmt.Fprintln(tw)
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\n%d triples, %d unconfirmed, in %d lines\n", n, total[unconfirmed], len(j.lines))
	if quiet {
		return nil
	}
	sort.Strings(j.lines)
	for _, l := range j.lines {
		fmt.Fprintln(w, l)
	}
	return nil
}
