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

// TestEverySchema opens a file written with each earlier schema (in testdata/schema; its README describes how they were
// created). No data may be missing, and the schema must be the same as for a new file.
func TestEverySchema(t *testing.T) {
	fresh := open(t, filepath.Join(t.TempDir(), "fresh.db"))
	want := schema(t, fresh)
	for version := 1; version < len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			dump, err := os.ReadFile(fmt.Sprintf("testdata/schema/%d.sql", version))
			if err != nil {
				t.Fatalf("the schema has a new step: add a file written by the program before it, as testdata/schema/README.md says (%v)", err)
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
			if version < 8 { // an endpoint's budgets were once stored under its complete URL
				notes += ", ('endpoint https://x/sparql?key=secret', 'a')"
			}
			if _, err := db.Exec(notes); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 { // in the second iteration, there is nothing to do
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

// schema returns the definitions of a database's tables and indexes, ignoring spaces, comments and column order.
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

// checkOld checks that everything the old program wrote is still in the database.
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
		t.Error("a note contains a key that was part of an address")
	}
	if _, ok, _ := s.Get(ctx, "endpoint https://x/sparql"); !ok {
		t.Error("the budgets of an endpoint are gone")
	}
	if u, err := s.Spent(ctx, "2026-10-01"); err != nil || u != (llm.Usage{Calls: 3, InputTokens: 100, OutputTokens: 20, USD: 0.5}) {
		t.Errorf("spent %+v, %v", u, err)
	}
	if version >= 2 && !s.shared { // annotations are stored only in files
		works, err := s.Works(ctx, "c-0000000000000001")
		if err != nil || len(works) != 1 || works[0].Annotator != "Bo" || works[0].Verdict != dataset.Include || works[0].Version != 1 ||
			!strings.Contains(works[0].Query, "it''s") {
			t.Errorf("works %+v, %v", works, err)
		}
	}
	if version >= 3 && !s.shared { // harvests, too, are stored only in files
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

// sharedLike lists, for each PostgreSQL schema version in order, the file schema version that corresponds to it.
var sharedLike = []int{6, 7, 8}

// TestEverySharedSchema updates a PostgreSQL database from each earlier schema, after filling it with the data of the
// corresponding file schema. It needs a server; see sharedURL.
func TestEverySharedSchema(t *testing.T) {
	if len(sharedLike) != len(sharedMigrations)-1 {
		t.Fatalf("PostgreSQL had %d schemas before this one, and the test has %d", len(sharedMigrations)-1, len(sharedLike))
	}
	if os.Getenv(sharedURL) == "" {
		t.Skipf("needs a server: %s; the integration run has one", sharedURL)
	}
	want := sharedSchema(t, openShared(t, emptySchema(t)))
	for i, like := range sharedLike {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			address := emptySchema(t)
			pg, err := sql.Open("pgx", address)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range append([]string{"CREATE TABLE schema_version (version BIGINT NOT NULL)",
				fmt.Sprintf("INSERT INTO schema_version VALUES (%d)", i+1)}, sharedMigrations[:i+1]...) {
				if _, err := pg.Exec(step); err != nil {
					t.Fatal(err)
				}
			}
			tables := map[string]string{"entries": "key, page, thread, text, author, minute, state, saved, version, data",
				"notes": "key, value", "spent": "day, calls, input_tokens, output_tokens, usd", "vectors": "model, text, vector"}
			if i > 0 {
				tables["jobs"] = "key, kind, scope, state, reason, due, deadline, attempts, holder, fence, ends, created, updated"
			}
			old := dumped(t, like)
			for table, columns := range tables {
				copyRows(t, old, pg, table, columns)
			}
			notes := "INSERT INTO notes VALUES ('endpoint https://x/sparql', 'b')"
			if i < 2 {
				notes += ", ('endpoint https://x/sparql?key=secret', 'a')"
			}
			if _, err := pg.Exec(notes); err != nil {
				t.Fatal(err)
			}
			if err := pg.Close(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s := openShared(t, address)
				if diff := cmp.Diff(want, sharedSchema(t, s)); diff != "" {
					t.Errorf("the schema is not that of a new database (-new +this):\n%s", diff)
				}
				checkOld(t, s, like)
			}
			e := entry("sb-0000000000000004", bot.Noticed, day)
			if added, err := openShared(t, address).Add(t.Context(), e); !added || err != nil {
				t.Errorf("a new entry: %v, %v", added, err)
			}
		})
	}
	newer := emptySchema(t)
	s := openShared(t, newer)
	if _, err := s.db.Exec("INSERT INTO schema_version VALUES (1000)"); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenShared(t.Context(), newer); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("a database of a newer program: %v", err)
	}
}

// dumped returns a database written by the program version that used this schema.
func dumped(t *testing.T, version int) *sql.DB {
	t.Helper()
	dump, err := os.ReadFile(fmt.Sprintf("testdata/schema/%d.sql", version))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "old.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(string(dump)); err != nil {
		t.Fatal(err)
	}
	return db
}

func copyRows(t *testing.T, from, to *sql.DB, table, columns string) {
	t.Helper()
	rows, err := from.Query("SELECT " + columns + " FROM " + table + " ORDER BY rowid")
	if table == "vectors" { // this table has no row IDs
		rows, err = from.Query("SELECT " + columns + " FROM " + table)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names := strings.Split(columns, ", ")
	values, marks := make([]any, len(names)), make([]string, len(names))
	for i := range names {
		values[i], marks[i] = new(any), fmt.Sprint("$", i+1)
	}
	n := 0
	for rows.Next() {
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		args := make([]any, len(names))
		for i := range names {
			args[i] = *values[i].(*any)
		}
		if _, err := to.Exec("INSERT INTO "+table+" ("+columns+") VALUES ("+strings.Join(marks, ", ")+")", args...); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
		n++
	}
	if err := rows.Err(); err != nil || n == 0 {
		t.Fatalf("%d rows of %s, %v", n, table, err)
	}
}

// sharedSchema is like schema, for PostgreSQL.
func sharedSchema(t *testing.T, s *Store) (out []string) {
	t.Helper()
	rows, err := s.db.Query(`SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' || is_nullable
FROM information_schema.columns WHERE table_schema = current_schema()
UNION ALL SELECT 'index ' || tablename || ' ' || indexname || ' ' || substr(indexdef, strpos(indexdef, 'USING'))
FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`)
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
