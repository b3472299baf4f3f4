// Licenses lists the licenses of everything that is compiled into the program, on any release platform, and fails if
// one is missing, is not recognized, or requires more than including its text and stating where to find the source.
//
// Usage, in the parent folder or through `make licenses`: go run ./licenses [-check]
//
// It writes docs/licenses.md, which contains a table, and NOTICE, which contains the texts and is part of every
// release. With -check, it compares both files with what it would write.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// sourceToo is a license that also requires stating where to find the source code, as NOTICE does. According to its
// sections 3.2 and 3.3, our files that use such code remain under our license.
const sourceToo = "MPL-2.0"

// allowed lists the licenses that a dependency may have: they only require including their text, except for sourceToo.
var allowed = []string{sourceToo, "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "0BSD", "Unlicense", "CC0-1.0"}

// platforms lists the release platforms. A module is listed if it is compiled in on any of them.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// licenseFile matches the files that contain a license or notices that must be included with it.
var licenseFile = regexp.MustCompile(`(?i)^(\w+[-_])?(licen[cs]e|copying|copyright|notice)([-_.].*)?$`)

// listings contains files that list the licenses of other modules. Each key is a module and the file's name without
// extension; the value is the reason why the file is included but not checked.
var listings = map[string]string{
	"modernc.org/sqlite LICENSE-3RD-PARTY": "it names the modules that only tests use; the others are judged here",
}

func main() {
	sources := flag.String("sources", "../..", "`folder` of the sources")
	check := flag.Bool("check", false, "write nothing; fail if a file is not up to date")
	flag.Parse()
	if err := run(*sources, *check); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(sources string, check bool) error {
	modules, err := list(sources)
	if err != nil {
		return err
	}
	scripts, err := webAssets(sources)
	if err != nil {
		return err
	}
	modules = append(modules, scripts...)
	c, err := assets.DefaultClassifier()
	if err != nil {
		return err
	}
	var problems []error
	for _, m := range modules {
		problems = append(problems, m.read(c))
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	for name, text := range map[string]string{"NOTICE": notice(modules), "docs/licenses.md": table(modules)} {
		path := filepath.Join(sources, filepath.FromSlash(name))
		if !check {
			problems = append(problems, os.WriteFile(path, []byte(text), 0o644))
			continue
		}
		if old, err := os.ReadFile(path); err != nil || string(old) != text {
			problems = append(problems, fmt.Errorf("%s is not up to date: run make licenses", name))
		}
	}
	fmt.Printf("%d modules, all under licenses that are allowed\n", len(modules))
	return errors.Join(problems...)
}

type module struct {
	Path, Version, Dir string
	Main               bool

	folders map[string]bool // folders of its packages that are compiled in, and their parent folders
	names   []string        // SPDX names of its licenses
	texts   []text
}

type text struct{ file, content string }

// list returns the modules with a package in the program, and Go's standard library, by path.
func list(sources string) ([]*module, error) {
	found := map[string]*module{}
	for _, p := range platforms {
		system, arch, _ := strings.Cut(p, "/")
		c := exec.Command("go", "list", "-mod=readonly", "-deps", "-json=Dir,Module,Standard", "./cmd/spinachbot")
		c.Dir = sources
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+system, "GOARCH="+arch)
		var complaint bytes.Buffer
		c.Stderr = &complaint
		out, err := c.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w: %s", err, &complaint)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var pkg struct {
				Dir    string
				Module *module
			}
			if err := d.Decode(&pkg); err == io.EOF {
				break
			} else if err != nil {
				return nil, err
			}
			m := pkg.Module
			if m == nil || m.Main {
				continue
			}
			if found[m.Path] == nil {
				m.folders = map[string]bool{}
				found[m.Path] = m
			}
			for dir := pkg.Dir; len(dir) >= len(m.Dir); dir = filepath.Dir(dir) {
				found[m.Path].folders[dir] = true
			}
		}
	}
	root, err := exec.Command("go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	words := strings.Fields(string(root))
	// An operating system's Go package may keep the license elsewhere; the text is the same as in golang.org/x.
	std := &module{Path: "std", Version: "", Dir: words[0], folders: map[string]bool{words[0]: true}}
	if len(licenseFiles(words[0])) == 0 && found["golang.org/x/sys"] != nil {
		std.folders = map[string]bool{found["golang.org/x/sys"].Dir: true}
		std.Dir = found["golang.org/x/sys"].Dir
	}
	found["std"] = std
	return slices.SortedFunc(maps.Values(found), func(a, b *module) int { return cmp.Compare(a.Path, b.Path) }), nil
}

func licenseFiles(dir string) (out []string) {
	entries, _ := os.ReadDir(dir) // a missing folder has no license files
	for _, e := range entries {
		if e.Type().IsRegular() && licenseFile.MatchString(e.Name()) && filepath.Ext(e.Name()) != ".go" {
			out = append(out, filepath.Join(dir, e.Name()))
		}
	}
	return out
}

// webAssets returns the npm projects whose files the web pages use; make web-assets stores each project's license with
// its files.
func webAssets(sources string) ([]*module, error) {
	b, err := os.ReadFile(filepath.Join(sources, "tools", "webassets", "package.json"))
	if err != nil {
		return nil, err
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, err
	}
	var out []*module
	for _, name := range slices.Sorted(maps.Keys(p.Dependencies)) {
		file := name + ".LICENSE.txt"
		b, err := os.ReadFile(filepath.Join(sources, "internal", "web", "ask", "others", file))
		if errors.Is(err, os.ErrNotExist) { // the project is only used to build the others
			continue
		} else if err != nil {
			return nil, err
		}
		out = append(out, &module{Path: "npm " + name, Version: p.Dependencies[name], texts: []text{{file, string(b)}}})
	}
	return out, nil
}

// read finds the module's license files, identifies the licenses, and checks that they are allowed.
func (m *module) read(c *classifier.Classifier) error {
	names := map[string]bool{}
	for _, t := range m.texts {
		for _, match := range c.Match([]byte(t.content)).Matches {
			if match.MatchType == "License" {
				names[match.Name] = true
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(m.folders)) {
		for _, f := range licenseFiles(dir) {
			data, err := os.ReadFile(f)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(m.Dir, f)
			if err != nil {
				return err
			}
			m.texts = append(m.texts, text{filepath.ToSlash(rel), string(data)})
			if listings[m.Path+" "+strings.TrimSuffix(filepath.ToSlash(rel), ".md")] != "" {
				continue
			}
			for _, match := range c.Match(data).Matches {
				if match.MatchType == "License" {
					names[match.Name] = true
				}
			}
		}
	}
	m.names = slices.Sorted(maps.Keys(names))
	if len(m.names) == 0 {
		return fmt.Errorf("%s %s: no license was recognized in %d files", m.Path, m.Version, len(m.texts))
	}
	for _, n := range m.names {
		if !slices.Contains(allowed, n) {
			return fmt.Errorf("%s %s: license %s is not one of %s", m.Path, m.Version, n, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// notice returns the texts of all licenses, without duplicates.
func notice(modules []*module) string {
	type group struct {
		content string
		users   []string
	}
	var order []*group
	byHash := map[[32]byte]*group{}
	for _, m := range modules {
		for _, t := range m.texts {
			content := strings.TrimSpace(strings.ReplaceAll(t.content, "\r\n", "\n"))
			h := sha256.Sum256([]byte(content))
			if byHash[h] == nil {
				byHash[h] = &group{content: content}
				order = append(order, byHash[h])
			}
			byHash[h].users = append(byHash[h].users, m.Path+" ("+t.file+")")
		}
	}
	var b strings.Builder
	b.WriteString("SpinachBot is under the Apache License 2.0, see LICENSE. It contains the work of others under these licenses.\n" +
		"The facts of the built-in slice of Wikidata are in the public domain (CC0 1.0).\n")
	for _, m := range modules {
		if slices.Contains(m.names, sourceToo) {
			fmt.Fprintf(&b, "%s is under the Mozilla Public License 2.0. Its source, unchanged: https://pkg.go.dev/%s@%s\n",
				m.Path, m.Path, m.Version)
		}
	}
	for _, g := range order {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(g.users, "\n"), g.content)
	}
	return b.String()
}

func table(modules []*module) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Licenses

This page lists everything that is compiled into the program for any platform. `+"`make licenses`"+` generates it and
[NOTICE](../NOTICE), which contains the texts of the licenses and is part of every release. The gate fails if they are
not up to date or if a license is not one of %s. SpinachBot itself is under Apache-2.0.

| module | version | license |
| --- | --- | --- |
`, strings.Join(allowed, ", "))
	for _, m := range modules {
		version := m.Version
		if m.Path == "std" {
			version = "of the Go version that builds it"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, version, strings.Join(m.names, ", "))
	}
	b.WriteString("\nThe facts of the built-in slice of Wikidata are CC0-1.0. Tools that only tests and the gate use are not part of a\n" +
		"release and are not listed.\n")
	return b.String()
}
