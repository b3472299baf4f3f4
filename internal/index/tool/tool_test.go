package tool

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

const entities = "label\tscore\tsynonyms\tid\tinfos\nBerlin\t46\tGerman capital\t<http://e/Q64>\tcity\nBerlin\t8\t\t<http://e/Q821244>\ttown\x1b[31m\n"

const properties = "label\tscore\tsynonyms\tid\tinfos\nplace of birth\t9\tborn in\t<http://e/P19>\twhere one was born\n"

func TestBuildAndSearch(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"e.tsv": entities, "p.tsv": properties} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	locked := 0
	var log bytes.Buffer
	b := Build{Entities: filepath.Join(dir, "e.tsv"), Properties: filepath.Join(dir, "p.tsv"), Out: filepath.Join(dir,
		"ix"), Now: time.Unix(0, 0),
		Lock: func(string) (func() error, error) {
			locked++
			return func() error { locked--; return nil },
				nil
		}, Progress: func(string) {},
		Log: func(s string) { log.WriteString(s) }}
	if err := b.Run(context.Background()); err != nil || locked != 0 || !strings.Contains(log.String(),
		"2 entities and 1 properties with 5 names") {
		t.Fatal(err, locked, log.String())
	}
	f, err := lookup.Open(b.Out, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	run := func(s Search, in string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		s.Index, s.Out, s.Err = f, bufio.NewWriter(&out), &errs
		if err := errors.Join(s.Lines(context.Background(), strings.NewReader(in)), s.Out.Flush()); err != nil {
			t.Fatal(err)
		}
		if (s.Failed() != nil) != (strings.Contains(out.String()+errs.String(), "wrong query")) {
			t.Error("failed is wrong")
		}
		return out.String(), errs.String()
	}
	for _, c := range []struct {
		s        Search
		in, want string
	}{
		{Search{JSON: true, Query: lookup.Query{Limit: 1}}, "german\n\n",
			`{"query":"german","hits":[{"iri":"http://e/Q64","type":"entity","label":"Berlin",` +
				`"score":46,"aliases":["German capital"],"info":"city","uses":null,"language":"","match":"words","name":"German capital"}],"ranked":"words"}` + "\n"},
		{Search{JSON: true}, "xyzzy", `{"query":"xyzzy","hits":[],"ranked":"words"}` + "\n"},
		{Search{JSON: true, Query: lookup.Query{Limit: -1}}, "a",
			`{"query":"a","hits":[],"error":"wrong query: limit -1 and offset 0 must not be negative"}` + "\n"},
		{Search{Query: lookup.Query{Limit: 1}}, "berlin",
			"1. Berlin, also known as German capital <http://e/Q64>: city\nThere are more; see --limit and --offset.\n"},
		{Search{Query: lookup.Query{Offset: 1}}, "berlin", "2. Berlin <http://e/Q821244>: town[31m\n"},
		{Search{Query: lookup.Query{Meaning: true, Type: lookup.Property}}, "birthplace",
			"1. place of birth, also known as born in <http://e/P19>: where one was born\n"},
		{Search{}, "xyzzy\n", "nothing was found for \"xyzzy\"\n"},
	} {
		if got, _ := run(c.s, c.in); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.in, got, c.want)
		}
	}
	if _, errs := run(Search{Query: lookup.Query{Limit: 2000}}, "a"); !strings.Contains(errs, `"a": wrong query`) {
		t.Errorf("got %q", errs)
	}
}

func TestBuildFails(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "e.tsv")
	if err := os.WriteFile(empty, []byte("label\tscore\tsynonyms\tid\tinfos\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	busy := errors.New("in use")
	b := Build{Entities: empty, Out: dir, Progress: func(string) {}, Log: func(string) {},
		Lock: func(string) (func() error, error) { return nil, busy }}
	if err := b.Run(context.Background()); !errors.Is(err, busy) {
		t.Error(err)
	}
	b.Lock = func(string) (func() error, error) { return func() error { return nil }, nil }
	if err := b.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "the index is empty") {
		t.Error(err)
	}
}
