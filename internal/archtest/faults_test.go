package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var faultTest = regexp.MustCompile("`([a-z/]+)\\.(Test\\w+)`")

// TestEveryFaultIsPlayed checks that each table row in docs/faults.md describes what the bot does and names tests that
// exist in the packages given there.
func TestEveryFaultIsPlayed(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "faults.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || strings.Contains(line, "---") || strings.Contains(line, "what goes wrong") {
			continue
		}
		rows++
		if len(cells) != 3 || len(strings.TrimSpace(cells[1])) < 10 {
			t.Errorf("not three cells: %s", line)
			continue
		}
		tests := faultTest.FindAllStringSubmatch(cells[2], -1)
		if len(tests) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, m := range tests {
			if !hasTest(t, filepath.Join(root, m[1]), m[2]) {
				t.Errorf("%s has no %s", m[1], m[2])
			}
		}
	}
	if rows < 50 {
		t.Errorf("only %d rows were found", rows)
	}
}

func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}
