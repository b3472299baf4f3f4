// Measure prints the size and complexity of the code, by package, and how far three values travel through it.
//
// Usage: go run ./tools/measure [DIR [OLD]]
//
// With OLD, an older tree, it also prints how many of the older tree's statements no longer exist, and how many are
// new.
//
// Test files and generated files are ignored. Package tools/measure/code documents what is counted and how.
package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spinachbot/spinachbot/tools/measure/code"
)

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	t, err := code.Read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	printWhole(w, t)
	printPackages(w, t)
	printWalks(w, t)
	if len(os.Args) > 2 {
		old, err := code.Read(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, "measure:", err)
			os.Exit(1)
		}
		were, gone, added := code.Compare(old, t)
		fmt.Fprintf(w, "\nstatements before\tgone\tnew\n%d\t%d\t%d\n", were, gone, added)
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

func printWhole(w io.Writer, t *code.Tree) {
	var sum code.Package
	for _, p := range t.Packages {
		sum.Lines += p.Lines
		sum.Code += p.Code
		sum.Wide += p.Wide
		sum.Exported += p.Exported
		sum.Documented += p.Documented
		sum.FileLines = append(sum.FileLines, p.FileLines...)
	}
	var lines, complexities []int
	total := 0
	over := map[int]int{}
	for _, f := range t.Functions {
		lines = append(lines, f.Lines)
		complexities = append(complexities, f.Complexity)
		total += f.Complexity
		for _, limit := range []int{15, 20, 25} {
			if f.Complexity > limit {
				over[limit]++
			}
		}
	}
	row := func(name string, value any) { fmt.Fprintf(w, "%s\t%v\n", name, value) }
	row("packages", len(t.Packages))
	row("files", len(sum.FileLines))
	row("lines", sum.Lines)
	row("lines of code", sum.Code)
	row(fmt.Sprintf("lines over %d columns", code.MaxColumns), sum.Wide)
	row("lines per file: median, p90, max", quantiles(sum.FileLines, 50, 90, 100))
	row("functions", len(t.Functions))
	row("lines per function: median, p90, p99, max", quantiles(lines, 50, 90, 99, 100))
	row("complexity: mean", fmt.Sprintf("%.1f", float64(total)/float64(max(1, len(t.Functions)))))
	row("complexity: p90, p99, max", quantiles(complexities, 90, 99, 100))
	row("functions over 15, 20, 25", fmt.Sprintf("%d %d %d", over[15], over[20], over[25]))
	row("exported names, with a comment", fmt.Sprintf("%d %d", sum.Exported, sum.Documented))
}

func printPackages(w io.Writer, t *code.Tree) {
	fmt.Fprintln(w, "\npackage\tfiles\tlines\texported\tmost complex")
	for _, p := range t.Packages {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\n", p.Path, len(p.FileLines), p.Lines, p.Exported, p.Complexity)
	}
}

func printWalks(w io.Writer, t *code.Tree) {
	fmt.Fprintln(w, "\nwalk\tfunctions\treturns")
	for _, walk := range t.Walks() {
		fmt.Fprintf(w, "%s\t%d\t%d\n", walk.From, walk.Functions, walk.Returns)
	}
}

// quantiles returns the given percentiles of the list, separated by spaces.
func quantiles(list []int, percents ...int) string {
	list = slices.SortedFunc(slices.Values(list), cmp.Compare[int])
	var out []string
	for _, p := range percents {
		v := 0
		if n := len(list); n > 0 {
			v = list[min(n-1, n*p/100)]
		}
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, " ")
}
