package evalrun

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/dataset"
)

// File names are safe for any ID, and no two IDs share a file name.
func TestFileName(t *testing.T) {
	for id, want := range map[string]string{"dev_12": "dev_12", "42": "42", "spinach-3.b": "spinach-3.b"} {
		if got := FileName(id); got != want {
			t.Errorf("%q: %q, want %q", id, got, want)
		}
	}
	hostile := []string{"", ".", "..", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "a-b", "A", "a", "con", "CON",
		"nul.txt", "com1", "x\x00y", "x\ny", "x y", "~", "-rf", ".hidden",
		"a~2", "ä", "Ä", strings.Repeat("x", 300), strings.Repeat("x", 301), "WebQTest-12", "webqtest-12", "$(touch x)",
		"<b>", "a:b", "a|b", "trailing.", "trailing"}
	seen := map[string]string{}
	for _, id := range hostile {
		n := FileName(id)
		if other, ok := seen[n]; ok {
			t.Errorf("%q and %q share %q", id, other, n)
		}
		seen[n] = id
		if n == "" || len(n) > maxName+20 || n != strings.ToLower(n) ||
			strings.Trim(n, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || n[0] == '.' || n[0] == '-' ||
			filepath.Base(n) != n || device(n) {
			t.Errorf("%q: unsafe name %q", id, n)
		}
	}
	// An ID that equals another ID's file name does not overwrite that file.
	if n := FileName("A"); FileName(n) == n {
		t.Errorf("%q is the name of two IDs", n)
	}
}

// Items with hostile IDs and questions run like any others, and their files stay in the folder.
func TestHostileItems(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "in", "run")
	items := bench("answer ROWS a | ROWS a", "answer ROWS <script>alert(1)</script> | ROWS x",
		"no_answer \\input{x} $ & % # _ { } ~ ^ | ROWS y")
	for i, id := range []string{"../../../escape", "a/../../b", "<img src=x onerror=alert(1)>"} {
		items[i].ID = id
	}
	w := newWorld(t, dir, items)
	if sum := w.run(t); sum.Items != 3 || sum.Answered != 2 {
		t.Errorf("summary: %s", asJSON(t, sum))
	}
	var outside []string
	root := filepath.Dir(filepath.Dir(dir))
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.HasPrefix(path, dir+string(filepath.Separator)) {
			outside = append(outside, path)
		}
		return err
	})
	if err != nil || len(outside) > 0 {
		t.Errorf("written outside the run's folder: %v (%v)", outside, err)
	}
}

func TestUnique(t *testing.T) {
	items := []dataset.Item{{ID: "a"}, {ID: "b"}, {ID: "a"}, {ID: "a#2"}, {ID: "a"}}
	out, renamed := Unique(items)
	var ids []string
	for _, it := range out {
		ids = append(ids, it.ID)
	}
	if got := strings.Join(ids, " "); got != "a b a#3 a#2 a#4" || len(renamed) != 2 {
		t.Errorf("%s, renamed %v", got, renamed)
	}
}
