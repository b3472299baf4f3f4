package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	search "github.com/spinachbot/spinachbot/agent/policy"
	"github.com/spinachbot/spinachbot/agent/preset"
	"github.com/spinachbot/spinachbot/config"
)

// Every shell gets completions for commands, flags, and flag values.
func TestCompletions(t *testing.T) {
	dir := drafted(t)
	for _, c := range []struct{ line, want string }{
		{"ev", "eval\trun benchmarks, score and compare results"},
		{"ask|--kg|", "embedded\tthe built-in slice of Wikidata\nwikidata\tWikidata\nwikidata-scholarly\tWikidata's scholarly articles\n" +
			"wikidata-qlever\tWikidata on QLever\ndbpedia\tDBpedia\ndblp\tDBLP\nuniprot\tUniProt\nosm\tOpenStreetMap\norkg\tOpen Research Knowledge Graph\n" +
			"freebase\tFreebase\nimdb\tIMDb"},
		{"ask|--preset|", strings.Join(append(preset.Names(), "list"), "\n")},
		{"ask|--la", "--language\tlanguage code of the question (default: detected)"},
		{"eval|run|--policy|", strings.Join(search.Names(), "\n")},
		{"ledger|list|--state|posted,", "posted,noticed\nposted,accepted\nposted,proposed\nposted,approved\nposted,posting\nposted,posted\nposted,gave_up\nposted,skipped\nposted,rejected"},
		{"ledger|approve|", "sb-1000000000000000\tproposed: Ada: Bridges of Königsberg\nsb-2000000000000000\tproposed: Ada: Rivers"},
		{"ledger|approve|sb-1000000000000000|", "sb-2000000000000000\tproposed: Ada: Rivers"},
		{"ledger|edit|sb-1|", "sb-1000000000000000\tproposed: Ada: Bridges of Königsberg\nsb-2000000000000000\tproposed: Ada: Rivers"},
		{"run|--posting|", "off\tnothing is written\npropose\treplies wait for ledger approve\non\treplies are posted"},
		{"sparql|rewrite|--to|", "standard\tany engine for SPARQL 1.1\nqlever\tQLever\nwdqs\tWikidata's query service"},
		{"completion|", "bash\nzsh\nfish\npowershell"},
	} {
		code, out, errs := completeCall(t, dir, strings.Split(c.line, "|"))
		got, _, _ := strings.Cut(out, "\n:")
		if code != exitOK || got != c.want {
			t.Errorf("%s: %d %s\n%s\nwant\n%s", c.line, code, errs, got, c.want)
		}
	}
	for _, shell := range shells {
		if code, out, errs := call(t, "completion", shell); code != exitOK || !strings.Contains(out, "__complete") {
			t.Errorf("%s: %d %s %.200s", shell, code, errs, out)
		}
	}
}

func completeCall(t *testing.T, dir string, words []string) (int, string, string) {
	t.Helper()
	return environCall(t, []string{"DATA_DIR=" + dir}, append([]string{"__complete"}, words...)...)
}

func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man")
	if code, out, errs := call(t, "man", dir); code != exitOK || !strings.HasSuffix(out, " pages\n") {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	page, err := os.ReadFile(filepath.Join(dir, "spinachbot-ask.1"))
	for _, want := range []string{".TH", "ask one question", "--kg", "--data-dir", "OPENAI_API_KEY"} {
		if err != nil || !strings.Contains(string(page), want) {
			t.Errorf("%q is missing from the page of ask: %v\n%s", want, err, page)
		}
	}
	if code, _, errs := call(t, "man", "/dev/null/x"); code != exitUsage || !strings.Contains(errs,
		"choose another place") {
		t.Errorf("%d %s", code, errs)
	}
}

// Presets are defined in one place: ask explains and checks them, and a file may define an additional one.
func TestPresetFlags(t *testing.T) {
	out, errs, code := invoke(t, nil, "ask", "--preset", "list")
	if code != exitOK || !strings.HasPrefix(out, "spinach: ") || !strings.Contains(out, "execute_sparql") ||
		!strings.Contains(out, "linear") {
		t.Errorf("exit %d: %s\n%s", code, errs, out)
	}
	broken := filepath.Join(t.TempDir(), "mine.json")
	if err := os.WriteFile(broken, []byte(`{"name":"mine","tool":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"ask", "--preset-file", broken, "Who?"}, exitFailed, `the member "tool" is unknown`},
		{[]string{"eval", "run", "--preset-file", broken, "--out", "out", "bench.json"}, exitFailed,
			`the member "tool" is unknown`},
		{[]string{"ask", "--preset-file", broken, "--preset", "list"}, exitUsage, "cannot be used together"},
		{[]string{"ask", "--policy", "generate", "Who?"}, exitUsage, "linear, vote, auto, bfs"},
		{[]string{"ask", "--tree", "n=2", "Who?"}, exitUsage, "does not branch"},
		{[]string{"eval", "run", "--until-f1", "0.67", "--out", "x", "b.jsonl"}, exitUsage, "does not branch"},
		{[]string{"eval", "run", "--policy", "mcts", "--until-f1", "67", "--out", "x", "b.jsonl"}, exitUsage, "from 0 to 1"},
		{[]string{"ask", "--policy", "mcts", "--tree", "width=2", "Who?"}, exitUsage, "the parameters are n, k"},
	} {
		if _, errs, code := invoke(t, nil, tt.args...); code != tt.code || !strings.Contains(errs, tt.want) {
			t.Errorf("%q: exit %d, %s; want %q", tt.args, code, errs, tt.want)
		}
	}
}

// Manual pages do not mention settings that have no effect yet.
func TestManualUnusedSettings(t *testing.T) {
	root := newRoot(&env{})
	addNotes(root)
	ask, _, err := root.Find([]string{"ask"})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	for _, k := range config.Keys() {
		shown[k.Name] = true
	}
	for _, k := range config.Keys() {
		if !shown[k.Name] && strings.Contains(ask.Long, k.Name) {
			t.Errorf("%s is named", k.Name)
		}
	}
	if !strings.Contains(ask.Long, "OPENAI_API_KEY") {
		t.Errorf("secrets are not named: %s", ask.Long)
	}
}
