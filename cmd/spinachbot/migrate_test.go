package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/store"
)

func TestMigrateMistakes(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	st, err := store.Open(t.Context(), filepath.Join(full, ledgerFile))
	if err != nil {
		t.Fatal(err)
	}
	st.Close()
	moved := filepath.Join(dir, "moved")
	if st, err = store.Open(t.Context(), filepath.Join(moved, ledgerFile)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.Put(t.Context(), "store:moved", []byte{}), st.Close()); err != nil { // as [store.Move] does
		t.Fatal(err)
	}
	nowhere := "DATABASE_URL=postgres://u:hush@127.0.0.1:1/x"
	for _, tt := range []struct {
		name, dir, url string
		code           int
		want           string
	}{
		{"no address", full, "DATABASE_URL=", exitUsage, "DATABASE_URL is empty"},
		{"no ledger", dir, nowhere, exitFailed, "there is no ledger"},
		{"no database", full, nowhere, exitFailed, "the database cannot be reached"},
		{"no address of a database", full, "DATABASE_URL=mysql://u:hush@h/x", exitUsage, "not the address"},
		{"a second time", moved, nowhere, exitFailed, "nothing to do"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, errs, code := invoke(t, []string{tt.url}, "migrate", "--data-dir", tt.dir)
			if code != tt.code || !strings.Contains(errs, tt.want) || strings.Contains(errs, "hush") {
				t.Errorf("%d %s; want %d and %q, without the password", code, errs, tt.code, tt.want)
			}
		})
	}
	for _, args := range []string{"config check", "ledger list", "run --once"} {
		_, errs, code := invoke(t, []string{"DATABASE_URL=postgres://u:hush@h:port/x",
			"DATA_DIR=" + t.TempDir(), "WIKI_API=http://127.0.0.1:1/w/api.php",
			"WIKI_USER=A", "WIKI_PASSWORD=b", "OPERATOR=O", "CONTACT=o@example.org", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"},
			strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(errs, "not the address") || strings.Contains(errs, "hush") {
			t.Errorf("%s: %d %s", args, code, errs)
		}
	}
	// It works as before.
	if _, errs, code := invoke(t, nil, "ledger", "list", "--data-dir", full); code != exitOK {
		t.Errorf("%d %s", code, errs)
	}
}
