package store

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/llm"
)

// TestEverySchema opens what the program of each schema wrote (testdata/schema; its README says how the files were made)
// and finds all of it, in a schema that is a new file's.
func TestEverySchema(t *testing.T) {
	fresh := open(t, filepath.Join(t.TempDir(), "fresh.db"))
	want := schema(t, fresh)
	for version := 1; version < len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dump, err := os.ReadFile(fmt.Sprintf("testdata/schema/%d.sql", version))
			if err != nil {
				t.Fatalf("the schema has a new step: keep what the program before it wrote, as testdata/schema/README.md says (%v)", err)
			}
			path := filepath.Join(t.TempDir(), "old.db")
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(string(dump)); err != nil {
				t.Fatal(err)
			}
			var has int
			if err := db.QueryRow("PRAGMA user_version").Scan(&has); err != nil || has != version {
				t.Fatalf("the file has schema %d (%v)", has, err)
			}
			notes := "INSERT INTO notes VALUES ('endpoint https://x/sparql', 'b')"
			if version < 8 { // the budgets of an endpoint were kept under its whole address once
				notes += ", ('endpoint https://x/sparql?key=secret', 'a')"
			}
			if _, err := db.Exec(notes); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time there is nothing to do
				s := open(t, path)
				if diff := cmp.Diff(want, schema(t, s)); diff != "" {
					t.Errorf("the schema is not that of a new file (-new +this):\n%s", diff)
				}
				checkOld(t, s, version)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			s := open(t, path)
			e := entry("sb-0000000000000004", bot.Noticed, day)
			if added, err := s.Add(t.Context(), e); !added || err != nil {
				t.Errorf("a new entry: %v, %v", added, err)
			}
		})
	}
}

// schema is what a database says about its tables and indexes, apart from spaces, comments and the order of columns.
func schema(t *testing.T, s *Store) (out []string) {
	t.Helper()
	rows, err := s.db.Query(`SELECT m.type || ' ' || m.name || ' ' || coalesce(c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk, '')
FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c WHERE m.name NOT LIKE 'sqlite_%' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil || len(out) < 20 {
		t.Fatalf("schema %v: %v", out, err)
	}
	return out
}

// checkOld looks for what the programs wrote.
func checkOld(t *testing.T, s *Store, version int) {
	t.Helper()
	ctx, at := t.Context(), time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)
	entries, err := s.Entries(ctx, bot.Filter{Page: "Wikidata:Request a query"})
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if e := entries[0]; e.Key != "sb-0000000000000001" || e.State != bot.Posted || e.Author != "Ann Ó" || !e.Time.Equal(at) ||
		e.Question != `Which tree is "largest"? 🌱` || e.Draft.Wikitext != ":It's\n{{x}} 🌱" || e.Draft.USD != 0.25 ||
		e.Save.BaseRev != 7 || !e.Save.At.Equal(at.Add(time.Minute)) || e.Rev != 8 || e.Version != 1 {
		t.Errorf("the posted entry: %+v", e)
	}
	if e := entries[1]; e.State != bot.Accepted || e.Author != "" || e.Time != nil || !e.NotBefore.Equal(at.Add(time.Hour)) {
		t.Errorf("the accepted entry: %+v", e)
	}
	for _, c := range []struct {
		what string
		f    bot.Filter
		want string
	}{
		{"origin", bot.Filter{Origin: &bot.Origin{Author: "Ann Ó", Time: at}}, "sb-0000000000000001"},
		{"no origin", bot.Filter{Origin: &bot.Origin{}}, "sb-0000000000000002"},
		{"saves", bot.Filter{SavedSince: at}, "sb-0000000000000001"},
		{"state", bot.Filter{States: []bot.State{bot.GaveUp}}, "sb-0000000000000003"},
		{"text", bot.Filter{Text: "bb"}, "sb-0000000000000002"},
		{"thread", bot.Filter{Thread: "c-Cy-3"}, "sb-0000000000000003"},
	} {
		if got, err := s.Entries(ctx, c.f); err != nil || len(got) != 1 || got[0].Key != c.want {
			t.Errorf("by %s: %v, %v; want %s", c.what, got, err, c.want)
		}
	}
	var jobs []string
	rows, err := s.db.QueryContext(ctx, "SELECT key || ' ' || kind || ' ' || state || ' ' || due FROM jobs ORDER BY key")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, line)
	}
	// 1790852400 is 2026-10-01T11:00:00Z (date -d ... +%s).
	if want := []string{"sb-0000000000000001 confirm done 0", "sb-0000000000000002 solve waiting 1790852400000000",
		"sb-0000000000000003 confirm failed 0"}; rows.Err() != nil || !slices.Equal(jobs, want) {
		t.Errorf("jobs %q, want %q", jobs, want)
	}
	if v, ok, err := s.Get(ctx, "k"); err != nil || !ok || string(v) != "\x00\x01\xffx" {
		t.Errorf("note %q, %v, %v", v, ok, err)
	}
	if _, ok, _ := s.Get(ctx, "endpoint https://x/sparql?key=secret"); ok {
		t.Error("a note holds a key that was part of an address")
	}
	if _, ok, _ := s.Get(ctx, "endpoint https://x/sparql"); !ok {
		t.Error("the budgets of an endpoint are gone")
	}
	if u, err := s.Spent(ctx, "2026-10-01"); err != nil || u != (llm.Usage{Calls: 3, InputTokens: 100, OutputTokens: 20, USD: 0.5}) {
		t.Errorf("spent %+v, %v", u, err)
	}
	if version >= 2 {
		works, err := s.Works(ctx, "c-0000000000000001")
		if err != nil || len(works) != 1 || works[0].Annotator != "Bo" || works[0].Verdict != dataset.Include || works[0].Version != 1 ||
			!strings.Contains(works[0].Query, "it''s") {
			t.Errorf("works %+v, %v", works, err)
		}
	}
	if version >= 3 {
		pages, err := s.Pages(ctx)
		if err != nil || len(pages) != 1 || pages[0].Title != "Archive/2026/10" || pages[0].Revision != 9 {
			t.Errorf("pages %+v, %v", pages, err)
		}
		found, err := s.Discussions(ctx, "Archive/2026/10")
		if err != nil || len(found) != 1 || found[0].Original != "SELECT ?x {}" {
			t.Errorf("discussions %+v, %v", found, err)
		}
	}
	if version >= 5 {
		v, err := s.Vectors(ctx, "m", []string{"cat", "dog"})
		if err != nil || !slices.Equal(v["cat"], []float32{1, -0.5}) || len(v) != 1 {
			t.Errorf("vectors %v, %v", v, err)
		}
	}
}
