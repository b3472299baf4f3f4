package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/licenseclassifier/v2/assets"
)

const mit = `Copyright (c) 2026 Someone

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

func TestRead(t *testing.T) {
	c, err := assets.DefaultClassifier()
	if err != nil {
		t.Fatal(err)
	}
	gpl, err := assets.ReadLicenseFile("License/GPL-3.0/license.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, text, wrong string }{
		{"LICENSE", mit, ""},
		{"MIT-LICENSE.txt", mit, ""},
		{"COPYING", string(gpl), "GPL-3.0"},
		{"LICENSE", "Do what you like.", "no license was recognized"},
		{"README", mit, "no license was recognized"},
		{"license.go", mit, "no license was recognized"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, tt.file), []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		m := &module{Path: "example.org/m", Version: "v1.0.0", Dir: dir, folders: map[string]bool{dir: true}}
		err := m.read(c)
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s: %v, want %q", tt.file, err, tt.wrong)
		}
		if err == nil && !strings.Contains(notice([]*module{m}), "Copyright (c) 2026 Someone") {
			t.Error("the text is not passed on")
		}
	}
	m := &module{Path: "example.org/m", Version: "v1.0.0", names: []string{sourceToo}}
	if !strings.Contains(notice([]*module{m}), "https://pkg.go.dev/example.org/m@v1.0.0") {
		t.Error("the source of a module under MPL-2.0 is not named")
	}
}
