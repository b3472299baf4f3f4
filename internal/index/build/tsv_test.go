package build

import (
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// read reads a table. In these tests, vertical bars stand for tabs.
func read(text string, kind lookup.Type) (out []lookup.Entry, err error) {
	err = Table(context.Background(), "t.tsv", strings.NewReader(strings.ReplaceAll(text, "|", "\t")), kind,
		func(e lookup.Entry) error {
			out = append(out, e)
			return nil
		})
	return out, err
}

func TestTable(t *testing.T) {
	got, err := read("\ufefflabel|score|synonyms|id|infos|language\r\n"+
		"Douglas  Adams|5.5|DNA;;; Douglas Noel Adams;;;|<http://www.wikidata.org/entity/Q42>|writer;;;human|EN\r\n"+
		"\n"+
		"|||http://e.org/v#birthPlace_of||\n"+
		"||a synonym;;;another|<http://e.org/x>|Wikimedia disambiguation page|\n", lookup.Entity)
	want := []lookup.Entry{
		{IRI: "http://www.wikidata.org/entity/Q42", Type: lookup.Entity, Label: "Douglas Adams", Language: "en",
			Aliases: []string{"DNA", "Douglas Noel Adams"}, Infos: []string{"writer", "human"}, Score: 5.5, Uses: -1},
		{IRI: "http://e.org/v#birthPlace_of", Type: lookup.Entity, Label: "birth Place of", Uses: -1, Noise: true},
		{IRI: "http://e.org/x", Type: lookup.Entity, Label: "a synonym", Aliases: []string{"another"},
			Infos: []string{"Wikimedia disambiguation page"}, Uses: -1, Noise: true},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
}

// The paper and the program put the columns in different orders. More columns may follow.
func TestTableOrderAndFlags(t *testing.T) {
	got, err := read("id|label|score|synonyms|infos|uses|external\n<http://e/P1>|VIAF ID|1|||7|0\n<http://e/P2>|shape|1|||0|1\n", lookup.Property)
	if err != nil || len(got) != 2 || got[0].External || !got[1].External || got[0].Uses != 7 || got[1].Uses != 0 ||
		got[1].Label != "shape" {
		t.Errorf("%v, %+v", err, got)
	}
	got, err = read("id|label|score|synonyms|infos\n<http://e/P1>|VIAF ID|1||\n<http://e/P2>|ID|1||\n<http://e/P3>|MusicBrainz|1||identifier for an artist\n"+
		"<http://e/P4>|director|1||person in charge\n", lookup.Property)
	if err != nil || len(got) != 4 || !got[0].External || got[1].External || !got[2].External || got[3].External {
		t.Errorf("guessed: %v, %+v", err, got)
	}
}

func TestWrongTables(t *testing.T) {
	head := "label|score|synonyms|id|infos\n"
	for _, c := range []struct{ text, want string }{
		{"", "t.tsv: the file is empty; its first line must list the columns: label, score, synonyms, id, infos"},
		{"Berlin|7||<http://e/1>|\n", `t.tsv:1: "berlin" is not a column`},
		{"label|score|synonyms|id\n", `t.tsv:1: the column "infos" is missing`},
		{"label|label|score|synonyms|id|infos\n", `t.tsv:1: the column "label" occurs twice`},
		{head + "a|1||<http://e/1>|\nb|2\n", "t.tsv:3: has 2 columns, but the header has 5"},
		{head + "a|many||<http://e/1>|\n", `t.tsv:2: the score "many" is not a number`},
		{head + "a|NaN||<http://e/1>|\n", `t.tsv:2: the score "NaN" is not a number`},
		{head + "a|1||Q42|\n", `t.tsv:2: the id "Q42" is not an IRI; write it as <http://…>`},
		{head + "a|1||<http://e/a b>|\n", "is not an IRI"},
		{head + strings.Repeat("x", maxLine) + "\n", "t.tsv:2: the line is longer than 1048576 bytes"},
	} {
		if _, err := read(c.text, lookup.Entity); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for iri, want := range map[string]string{"http://e/birthPlace": "birth Place", "http://e/v#is_part-of": "is part of",
		"http://e/caf%C3%A9": "café",
		"http://e/things/":   "things", "urn:x": "urn:x", "http://e/ABC": "ABC"} {
		if got := NameOf(iri); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", iri, got, want)
		}
	}
}

func TestTableFileCompressed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.tsv.gz")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte("label\tscore\tsynonyms\tid\tinfos\nBerlin\t3\t\t<http://e/1>\tcity\n")); err != nil {
		t.Fatal(err)
	}
	z.Close()
	f.Close()
	n := 0
	if err := TableFile(context.Background(), path, lookup.Entity,
		func(e lookup.Entry) error { n++; return nil }); err != nil || n != 1 {
		t.Errorf("%d entries, %v", n, err)
	}
}

func FuzzTable(f *testing.F) {
	f.Add("label\tscore\tsynonyms\tid\tinfos\na\t1\tb;;;c\t<http://e/1>\td\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = Table(context.Background(), "t", strings.NewReader(text), lookup.Property, func(e lookup.Entry) error {
			if e.IRI == "" {
				t.Error("an entry without an IRI")
			}
			return nil
		})
	})
}
