package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link   = regexp.MustCompile(`\]\(([^)#\s]+)\)`)
	inCode = regexp.MustCompile("`((?:internal|agent|bot|forum|config|cmd|tools|docs|\\.ci)/[A-Za-z0-9_./-]+)`")
)

// Every file and folder mentioned in the guides must exist: guides become outdated before other documents do.
func TestGuidesNameWhatExists(t *testing.T) {
	guides := []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	seen := 0
	for _, g := range guides {
		b, err := os.ReadFile(filepath.Join("../..", g))
		if err != nil {
			t.Fatal(err)
		}
		for _, re := range []*regexp.Regexp{link, inCode} {
			for _, m := range re.FindAllStringSubmatch(string(b), -1) {
				if strings.Contains(m[1], "://") {
					continue
				}
				seen++
				if _, err := os.Stat(filepath.Join("../..", m[1])); err != nil {
					t.Errorf("%s names %s, which does not exist", g, m[1])
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d names found in the guides", seen)
	}
}
