package backup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var made = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		out[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func source(dir string) Source {
	return Source{Dir: dir, Version: "v9", Skip: []string{"lock", "index"},
		Databases: map[string]func(context.Context, string) error{"main.db": func(_ context.Context, to string) error {
			return os.WriteFile(to, []byte("copy of the main database"), 0o600)
		}},
		Copy: func(_ context.Context, from, to string) error {
			b, err := os.ReadFile(from)
			if err != nil {
				return err
			}
			return os.WriteFile(to, append([]byte("copy of "), b...), 0o600)
		}}
}

func archived(t *testing.T, dir string) []byte {
	t.Helper()
	var b bytes.Buffer
	m, err := Write(t.Context(), &b, source(dir), made)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Made.Equal(made) || m.Version != "v9" {
		t.Errorf("%+v", m)
	}
	return b.Bytes()
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.db": "x", "main.db-wal": "y", "main.db-shm": "z", "lock": "1", "index/big": "i",
		"trajectories/a.jsonl": "{}\n", "trajectories/empty": "", "harvest/h.db": "h", "harvest/h.db-wal": "w"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	b := archived(t, dir)
	to := filepath.Join(t.TempDir(), "new", "data")
	m, err := Restore(t.Context(), bytes.NewReader(b), to)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"main.db": "copy of the main database", "harvest/h.db": "copy of h",
		"trajectories/a.jsonl": "{}\n", "trajectories/empty": ""}
	if d := cmp.Diff(want, read(t, to)); d != "" {
		t.Error(d)
	}
	if len(m.Files) != 4 || m.Bytes() != int64(len("copy of the main database"+"copy of h"+"{}\n")) {
		t.Errorf("%+v", m)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), to); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("over a folder with files: %v", err)
	}
	if d := cmp.Diff([]string{"data"}, names(t, filepath.Dir(to))); d != "" {
		t.Errorf("something was left behind: %s", d)
	}
}

// TestRestoreIntoAFolder checks that an existing folder is filled and not replaced, because a disk may be mounted
// there. It also checks that files left by the disk's file system or by a killed restore are ignored, and that nothing
// else is overwritten.
func TestRestoreIntoAFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.db": "x", "trajectories/a.jsonl": "{}\n"})
	b := archived(t, dir)
	to := filepath.Join(t.TempDir(), "data")
	write(t, to, map[string]string{"lost+found/old": "o", ".restore-1/part": "p"})
	was, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), bytes.NewReader(b), to); err != nil {
		t.Fatal(err)
	}
	if is, err := os.Stat(to); err != nil || !os.SameFile(was, is) {
		t.Errorf("the folder was replaced: %v", err)
	}
	want := map[string]string{"main.db": "copy of the main database", "trajectories/a.jsonl": "{}\n",
		"lost+found/old": "o", ".restore-1/part": "p"}
	if d := cmp.Diff(want, read(t, to)); d != "" {
		t.Error(d)
	}
	if left := names(t, filepath.Dir(to)); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	empty := t.TempDir()
	if _, err := Restore(t.Context(), bytes.NewReader(b[:len(b)/2]), empty); !errors.Is(err, ErrDamaged) {
		t.Errorf("half an archive: %v", err)
	}
	if left := names(t, empty); len(left) > 0 {
		t.Errorf("left of half an archive: %q", left)
	}
}

// A backup removes the files left by a backup that was killed two days ago, but not the files that another backup is
// still writing.
func TestKilledBackup(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{".backup-old/copy": "x", ".backup-new/copy": "y"})
	for name, age := range map[string]time.Duration{".backup-old": 48 * time.Hour, ".backup-new": time.Minute} {
		if err := os.Chtimes(filepath.Join(dir, name), made, made.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	archived(t, dir)
	if d := cmp.Diff([]string{".backup-new"}, names(t, dir)); d != "" {
		t.Error(d)
	}
}

// full is a writer that fails like a full disk.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestFullDiskIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.db": "x"})
	_, err := Write(t.Context(), full{}, source(dir), made)
	if err == nil || strings.Count(err.Error(), "no room") != 1 {
		t.Errorf("%v", err)
	}
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		out = append(out, e.Name())
	}
	return out
}

// TestDamaged checks that restoring an archive that is truncated or modified anywhere fails and leaves no files behind.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"trajectories/a.jsonl": strings.Repeat("{\"event\":\"start\"}\n", 40)})
	b := archived(t, dir)
	for i := 0; i < len(b)-8; i += 3 { // the last eight bytes are gzip's checksum and size, after the manifest
		to := filepath.Join(t.TempDir(), "data")
		if _, err := Restore(t.Context(), bytes.NewReader(b[:i]), to); err == nil {
			// The archive was cut after the end of the manifest, and Restore needs nothing after it.
			if got := read(t, to); len(got) != 2 {
				t.Fatalf("cut at %d of %d: %v", i, len(b), got)
			}
			continue
		} else if !errors.Is(err, ErrDamaged) {
			t.Errorf("cut at %d: %v", i, err)
		}
		if left := names(t, filepath.Dir(to)); len(left) > 0 {
			t.Fatalf("cut at %d: %q is left", i, left)
		}
	}
	if _, err := Restore(t.Context(), strings.NewReader("no archive"), filepath.Join(t.TempDir(), "data")); !errors.Is(err,
		ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// TestFailingDatabase checks that a backup fails if one of its databases cannot be read.
func TestFailingDatabase(t *testing.T) {
	src := source(t.TempDir())
	wrong := errors.New("disk is gone")
	src.Databases["main.db"] = func(context.Context, string) error { return wrong }
	if _, err := Write(t.Context(), new(bytes.Buffer), src, made); !errors.Is(err, wrong) {
		t.Errorf("%v", err)
	}
	if left := names(t, src.Dir); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}
