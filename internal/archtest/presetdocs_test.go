package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`(?:[a-z]+\\.)?((?:Test|Fuzz)[A-Z]\\w+)`")
	aTest     = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
)

// TestDocsNameTests checks that every test named on the preset pages exists.
func TestDocsNameTests(t *testing.T) {
	root := filepath.Join("..", "..")
	there := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range aTest.FindAllSubmatch(b, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(root, "docs", "presets*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	rows := map[string]string{"trees.md": "M1 M2 M3 M4 M5 M6 M7", "review.md": "H1 H2 H3 H4 H5 H6 H7 H8 H9 H10 H11"}
	for page := range rows {
		pages = append(pages, filepath.Join(root, "docs", page))
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.FieldsSeq(rows[filepath.Base(page)]) {
			if !regexp.MustCompile(`(?m)^\| .*\b` + row + `\b`).Match(b) {
				t.Errorf("%s has no row %s", filepath.Base(page), row)
			}
		}
		for _, m := range namedTest.FindAllSubmatch(b, -1) {
			if name := string(m[1]); !there[name] && name != "TestKBQA" { // a prefix of several test names
				t.Errorf("%s names the test %s, which does not exist", filepath.Base(page), name)
			}
		}
	}
}

var (
	presetRow = regexp.MustCompile(`(?m)^\| ([^|]+?) \|(.*)\|$`)
	rowOf     = regexp.MustCompile(`\b([SGI])([0-9]+)(?: to [SGI]([0-9]+))?\b`)
	played    = regexp.MustCompile(`\brows (G[0-9]+)`) // headings in the table that TestGraspTools runs
	reason    = regexp.MustCompile("`([a-z]+\\.)?Test|\\brows G|`[a-z]+/[a-z/]+`|\\bnot\\b|\\bleft out\\b|review|packages|`eval |limits")
)

// TestEveryRowHasATest checks that the preset pages have a row for every feature of the systems that the presets are
// modeled on. Each row must name a test or a package with tests, or explain why there is no test.
func TestEveryRowHasATest(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join(docs, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	llm := read("presets-sparql-llm.md")
	rows := map[string]string{}
	for _, m := range presetRow.FindAllStringSubmatch(llm, -1) {
		rows[m[1]] = m[2]
	}
	// Every stage of the chat, the shape checks and the challenge must have a test, or a reason why there is none.
	for _, stage := range []string{"index", "shape text", "extract", "retrieve", "generate", "prefixes", "validate", "schema check",
		"repair", "the end", "MCP: an invalid query is refused", "MCP: its other tools", "challenge"} {
		if !reason.MatchString(rows[stage]) {
			t.Errorf("presets-sparql-llm.md says of %q no test and no reason: %q", stage, rows[stage])
		}
	}
	tools := read(filepath.Join("..", "agent", "testdata", "grasp-tools.txt"))
	there := map[string]bool{}
	for _, m := range presetRow.FindAllStringSubmatch(read("presets.md")+read("presets-kbqa.md"), -1) {
		found := rowOf.FindAllStringSubmatch(m[1], -1)
		if len(found) > 0 && !reason.MatchString(m[2]) {
			t.Errorf("the row %s names no test and no reason: %s", m[1], m[2])
		}
		for _, x := range played.FindAllStringSubmatch(m[2], -1) {
			if !strings.Contains(tools, x[1]+" ") && !strings.Contains(tools, x[1]+"\n") {
				t.Errorf("grasp-tools.txt has no row %s", x[1])
			}
		}
		for _, x := range found {
			from, _ := strconv.Atoi(x[2])
			to, err := strconv.Atoi(x[3])
			if err != nil {
				to = from
			}
			for n := from; n <= to; n++ {
				there[x[1]+strconv.Itoa(n)] = true
			}
		}
	}
	for system, n := range map[string]int{"S": 25, "G": 34, "I": 20} { // number of rows for each system
		for i := range n {
			if row := system + strconv.Itoa(i+1); !there[row] {
				t.Errorf("no page has the row %s", row)
			}
		}
	}
}
