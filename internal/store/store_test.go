package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

var day = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func entry(key string, state bot.State, created time.Time) *bot.Entry {
	return &bot.Entry{Key: key, Page: "Wikidata:Request a query", Comment: "c-A-1", Thread: "c-A-1", Kind: bot.Request,
		State:   state,
		Heading: "Cats", Author: "A", Text: "aa", Created: created, Updated: created}
}

// Durability depends on these settings; a typo in the URL would silently disable them.
func TestPragmas(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "bot.db"))
	for name, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "busy_timeout": "10000",
		"foreign_keys": "1", "secure_delete": "1", "user_version": fmt.Sprint(len(migrations))} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + name).Scan(&got); err != nil || got != want {
			t.Errorf("%s = %q, want %q (%v)", name, got, want, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	healthy := func(name string) string {
		path := filepath.Join(dir, name)
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			e := entry(fmt.Sprintf("sb-%d", i), bot.Posted, day)
			e.Question = strings.Repeat("x", 500)
			if _, err := s.Add(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	newer := healthy("newer.db")
	db, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	torn := healthy("torn.db")
	raw, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(raw)-4096; i += 512 {
		copy(raw[i:], strings.Repeat("\xff", 300))
	}
	if err := os.WriteFile(torn, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("this is not a database\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	bad := map[string]string{newer: "newer program", torn: "damaged", text: "damaged", dir: "check that it is a file",
		filepath.Join(text, "below.db"): "store"}
	if os.Geteuid() != 0 { // root can write any file
		locked := healthy("locked.db")
		if err := os.Chmod(locked, 0o400); err != nil {
			t.Fatal(err)
		}
		bad[locked] = "cannot be written"
	}
	for path, want := range bad {
		s, err := Open(t.Context(), path)
		if err == nil {
			s.Close()
			t.Errorf("%s opens", filepath.Base(path))
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", filepath.Base(path), err, want)
		}
	}
}

// A full disk results in a clear error, and existing data is kept.
func TestFullDisk(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "bot.db")
	s := open(t, path)
	if _, err := s.Add(ctx, entry("sb-1", bot.Accepted, day)); err != nil {
		t.Fatal(err)
	}
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)); err != nil {
		t.Fatal(err)
	}
	big := entry("sb-2", bot.Accepted, day)
	big.Question = strings.Repeat("x", 1<<20)
	if _, err := s.Add(ctx, big); err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("full disk: %v", err)
	}
	s.Close()
	s = open(t, path)
	if es, err := s.Entries(ctx, bot.Filter{}); err != nil || len(es) != 1 || es[0].Key != "sb-1" {
		t.Errorf("after the full disk: %v %v", es, err)
	}
}

// On a full disk, SQLite may fail to extend the shared memory of the write-ahead log: 4874 is SQLITE_IOERR_SHMSIZE,
// seen on a full tmpfs; 266 is SQLITE_IOERR_READ.
func TestFullDiskAtTheLog(t *testing.T) {
	if s := ioError(4874); !strings.Contains(s, "the disk is full") {
		t.Error(s)
	}
	if s := ioError(266); strings.Contains(s, "full") {
		t.Error(s)
	}
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	release, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lock(dir)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("second lock: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Errorf("released twice: %v", err)
	}
	release, err = Lock(dir)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	release()
}

// The lock is released as soon as its holder dies, even if the holder was killed with signal 9.
func TestLockAfterKill(t *testing.T) {
	const env = "SPINACHBOT_TEST_LOCK"
	if dir := os.Getenv(env); dir != "" {
		if _, err := Lock(dir); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		select {}
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestLockAfterKill$")
	cmd.Env = append(os.Environ(), env+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 6)
	if _, err := out.Read(buf); err != nil || string(buf) != "locked" {
		t.Fatalf("the child says %q, %v", buf, err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("while the child lives: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	release, err := Lock(dir)
	if err != nil {
		t.Fatalf("after kill -9: %v", err)
	}
	release()
}

// TestPermissions checks that no other user can read the bot's files, regardless of the folder's permissions and the
// umask.
func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	path := filepath.Join(t.TempDir(), "l.db")
	modes := func(want os.FileMode) {
		t.Helper()
		s, err := Open(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Put(context.Background(), "k", []byte("v")); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", "-wal", "-shm"} {
			if info, err := os.Stat(path + end); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v; want %v", path+end, info.Mode(), err, want)
			}
		}
	}
	modes(0o600)
	if err := os.Chmod(path, 0o664); err != nil { // as left by an older version of the program
		t.Fatal(err)
	}
	modes(0o660)
}
