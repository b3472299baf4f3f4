package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/tools/measure/code"
)

// A rule that permits an unused import misrepresents the design.
func TestRulesAreUsed(t *testing.T) {
	pkgs := packages(t)
	for _, r := range rules {
		pkg := pkgs[r.pkg]
		if pkg == nil {
			t.Errorf("the import rules have a row for %s, which does not exist", r.pkg)
			continue
		}
		for _, may := range strings.Fields(r.may) {
			if !slices.ContainsFunc(ours(pkg.Imports), func(imp string) bool { return allowed(may, imp) }) {
				t.Errorf("%s may import %s, but does not: remove the permission", r.pkg, may)
			}
		}
	}
	for _, o := range only {
		for _, importer := range strings.Fields(o.importers) {
			if pkgs[importer] == nil || !slices.Contains(ours(pkgs[importer].Imports), o.pkg) {
				t.Errorf("%s may be imported by %s, which does not import it: remove the permission", o.pkg, importer)
			}
		}
	}
}

// maxLines is the limit for a package, and maxComplexity is the limit for a function. If a package or function must
// exceed its limit, its doc comment explains why after "lines:" or "complexity:".
const (
	maxLines      = 6000
	maxComplexity = 25
)

func TestSizes(t *testing.T) {
	tree, err := code.Read("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Packages) < 30 {
		t.Fatalf("only %d packages found", len(tree.Packages))
	}
	for _, p := range tree.Packages {
		if p.Lines > maxLines && !strings.Contains(p.Doc, "lines:") {
			t.Errorf("%s has %d lines, over %d: split it, or explain in its doc comment why not", p.Path, p.Lines, maxLines)
		}
	}
	for _, f := range tree.Functions {
		if f.Complexity > maxComplexity && !strings.Contains(f.Doc, "complexity:") {
			t.Errorf("%s: %s has a complexity of %d, over %d: split it, or explain in its doc comment why not", f.Pos, f.Name, f.Complexity,
				maxComplexity)
		}
	}
}

var (
	tableRow = regexp.MustCompile("(?m)^\\| ((?:`[^`]+`(?:, )?)+) \\|")
	inTicks  = regexp.MustCompile("`([^`]+)`")
)

// The package table in ARCHITECTURE.md has a row for every package, and no other rows.
func TestArchitectureTable(t *testing.T) {
	b, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(b), "\n## Packages\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no section on packages")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]bool{}
	for _, row := range tableRow.FindAllStringSubmatch(section, -1) {
		for _, name := range inTicks.FindAllStringSubmatch(row[1], -1) {
			if listed[name[1]] {
				t.Errorf("ARCHITECTURE.md lists %s twice", name[1])
			}
			listed[name[1]] = true
		}
	}
	pkgs := packages(t)
	for name := range pkgs {
		if strings.HasPrefix(name, "tools/") {
			name = "tools"
		}
		if !listed[name] {
			t.Errorf("ARCHITECTURE.md's table of packages lacks %s", name)
		}
	}
	for name := range listed {
		if pkgs[name] == nil && name != "tools" {
			t.Errorf("ARCHITECTURE.md's table of packages has %s, which does not exist", name)
		}
	}
}

// outside maps documents from other repositories that comments may cite to the name of the repository.
var outside = map[string]string{"docs/topics/json.md": "Wikibase"}

// document matches a document's name in text.
var document = regexp.MustCompile(`[A-Za-z0-9_./*-]*[A-Za-z0-9_-]\.md\b`)

// Comments and docs refer only to documents in this repository.
func TestDocumentsExist(t *testing.T) {
	files := map[string]bool{}
	var texts []string
	err := filepath.WalkDir("../..", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == ".git" || name == "node_modules" || name == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		files[name] = true
		switch path.Ext(name) {
		case ".go", ".md", ".sh", ".yml", ".html", ".tmpl":
			texts = append(texts, p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range texts {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(b), "\n") {
			for _, m := range document.FindAllString(line, -1) {
				if strings.Contains(line, "://") || strings.Contains(m, "*") || outside[m] != "" {
					continue
				}
				seen++
				if !files[path.Base(m)] {
					t.Errorf("%s:%d names %s, which is not in the repository", p, n+1, m)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d names of documents found", seen)
	}
}
