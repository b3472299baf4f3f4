package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All commands exit with one status if a file is missing and with another if its content is invalid.
func TestFileStatuses(t *testing.T) {
	t.Chdir(mistakeFolder(t))
	if err := os.Mkdir("annotated", 0o700); err != nil {
		t.Fatal(err)
	}
	model := []string{"OPENAI_BASE_URL=http://127.0.0.1:9/v1"}
	for _, call := range []string{
		"ask --history FILE Who", "ask --replay FILE Who", "ask --preset-file FILE Who",
		"demo --once --page FILE", "demo --once --script FILE",
		"sandbox --data FILE.nt", "sandbox --script FILE", "sandbox --page FILE",
		"harvest --out out --benchmark FILE",
		"forum parse FILE", "forum parse --format html --wikitext FILE page.wikitext",
		"sparql check FILE", "sparql format FILE", "sparql explain FILE", "sparql rewrite --to standard FILE",
		"sparql check --json FILE",
		"trace show FILE",
		"dataset stats FILE", "dataset stats --results FILE bench.jsonl", "dataset stats --pageviews FILE bench.jsonl",
		"dataset verify --kg embedded FILE", "dataset annotate --addr 127.0.0.1:0 FILE", "dataset export FILE",
		"dataset split --dev 1 FILE",
		"eval run --out out FILE", "eval run --out out --kg embedded --script FILE bench.jsonl",
		"eval run --out out --kg embedded --recorded FILE bench.jsonl",
		"eval run --out out --kg embedded --data FILE.nt bench.jsonl", "eval run --out out --preset-file FILE bench.jsonl",
		"eval score FILE", "eval score --gold FILE bench.jsonl", "eval score --results FILE bench.jsonl",
		"eval score --log FILE bench.jsonl",
		"eval score --data FILE.nt bench.jsonl", "eval compare FILE FILE", "eval report FILE",
		"config check --env-file FILE",
	} {
		code, _, errs := goldenCall(t, model, strings.Fields(strings.ReplaceAll(call, "FILE", "missing")))
		if code != exitUsage || !strings.Contains(errs, "missing") {
			t.Errorf("%s: exit %d, %s", call, code, errs)
		}
		for _, made := range []string{"data", "out"} {
			if err := os.RemoveAll(made); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, call := range []string{
		"ask --history half.jsonl Who", "ask --replay notes.txt Who", "ask --preset-file broken.json Who",
		"demo --once --script script.txt", "sandbox --data bad.ttl", "sandbox --script script.txt",
		"harvest --out out --benchmark broken.json", "forum parse binary.bin", "forum parse empty.json",
		"forum parse notes.txt",
		"forum parse --format html notes.txt", "sparql check bad.rq", "trace show torn.jsonl", "dataset stats broken.json",
		"dataset verify --kg embedded broken.json",
		"dataset export folder", "eval run --out out broken.json",
		"eval run --out out --kg embedded --script script.txt bench.jsonl",
		"eval score notes.txt", "eval score --gold broken.json bench.jsonl", "eval compare folder folder",
		"eval report folder",
	} {
		if code, _, errs := goldenCall(t, model, strings.Fields(call)); code != exitFailed {
			t.Errorf("%s: exit %d, %s", call, code, errs)
		}
	}
}

// If nothing is listening at the wiki's address, the command says so immediately and exits with the status for a failed
// service.
func TestNoWiki(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	environ := []string{"WIKI_API=http://" + addr + "/w/api.php", "SPARQL_ENDPOINT=http://" + addr + "/sparql",
		"SHORTLINK_HOSTS=", "DATA_DIR=" + dir,
		"OPENAI_BASE_URL=http://" + addr + "/v1"}
	account := []string{"WIKI_USER=Bot@x", "WIKI_PASSWORD=0123456789abcdef0123456789abcdef", "OPERATOR=Ann",
		"CONTACT=ann@example.org"}
	for _, c := range []struct {
		environ []string
		args    []string
	}{
		{environ, []string{"harvest", "--out", filepath.Join(dir, "harvest")}},
		{append(environ, account...), []string{"run", "--once"}},
	} {
		_, errs, code := invoke(t, c.environ, c.args...)
		if code != exitService || !strings.Contains(errs, "nothing answers at http://"+addr+"/w/api.php") ||
			strings.Contains(errs, "waiting") {
			t.Errorf("%q: exit %d, %s", c.args, code, errs)
		}
	}
}
