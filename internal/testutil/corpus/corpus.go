// Package corpus chooses between a sample and all cases of a large corpus. Only tests may import it. It is not part of
// package testutil, which links an HTTP server into every test program that imports it.
package corpus

import (
	"os"
	"runtime/debug"
	"slices"
	"strings"
)

// Tests create a lot of garbage but use little memory, so the collector runs less often unless GOGC is set or
// benchmarks run. At its usual rate, it took a seventh of the tests' total processor time.
func init() {
	bench := slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.bench=") })
	if os.Getenv("GOGC") == "" && !bench {
		debug.SetGCPercent(400)
	}
}

// Pick returns all if all cases of a large corpus must be tested, as in .ci/run, which sets TESTS=all. Otherwise, it
// returns sample. Each argument is a number of random cases, or the distance between the tested cases in a list, which
// is 1 if all of them are tested. A sample is always the same, and contains every kind of case.
func Pick(sample, all int) int {
	if os.Getenv("TESTS") == "all" {
		return all
	}
	return sample
}
