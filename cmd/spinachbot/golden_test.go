package main

import (
	"bytes"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the golden files")

// mistakeFiles are the files in the directory in which the mistakes run.
var mistakeFiles = map[string]string{
	"empty.json":     "",
	"binary.bin":     "\x7fELF\x02\x01\x00\x00\xff\xfe",
	"broken.json":    "[\n  {\"id\": 1, \"question\": \"Who?\", \"sparql\": \"ASK {}\"},\n  {\"id\": 2,, }\n]\n",
	"broken.jsonl":   "{\"id\":\"1\",\"question\":\"Who?\",\"sparql\":\"ASK {}\"}\n{\"id\":\"2\",\"question\":\n",
	"half.jsonl":     "{\"question\":\"Who?\"}\n{\"question\":\n",
	"notes.txt":      "Some notes.\n",
	"bench.jsonl":    "{\"id\":\"1\",\"question\":\"Which moons does Mars have?\",\"sparql\":\"SELECT ?x WHERE { ?x wdt:P397 wd:Q111 }\"}\n",
	"nosparql.json":  "[{\"id\": 1, \"question\": \"Who?\"}]\n",
	"other.json":     "{\"name\": \"value\"}\n",
	"bad.rq":         "SELECT ?x WHERE {\n  ?x wdt:P31 wd:Q5\n",
	"bad.env":        "WIKI_API=https://www.wikidata.org/w/api.php\nthis is not a setting\n",
	"typo.env":       "WIKI_APII=https://www.wikidata.org/w/api.php\nPOSTING=perhaps\n",
	"bad.ttl":        "@prefix wd: <http://www.wikidata.org/entity/> .\nwd:Q1 wd:P1\n",
	"torn.jsonl":     "{\"event\":\n",
	"script.txt":     "this is not a script\n",
	"data.csv":       "a,b\n1,2\n",
	"there.json":     "{}\n",
	"page.wikitext":  "== Cats ==\nWhich cats? [[User:Ada|Ada]] 10:20, 20 November 2026 (UTC)\n",
	"folder/file.nt": "",
}

// mistakes are command lines that fail. A word starting with @ sets an environment variable.
const mistakes = `

evla
ask-me Who
eval rnu
ledger aprove sb-1
dataset dance
sparql chekc
help evla
-frob
--frob
ask
ask --jsno Who
ask -json Who
ask -preset=spinach Who
ask -help
ask --kg moon Who
ask --preset spinch Who
ask --preset
ask --json=maybe Who
ask Who
ask --gold half.jsonl Who
ask --review --json Who
ask --review --policy linear Who
ask --review --continue missing @OPENAI_BASE_URL=http://127.0.0.1:9/v1
ask --review --gold missing.json Who
ask --review --gold bench.jsonl Who
ask --history missing.jsonl @OPENAI_BASE_URL=http://127.0.0.1:9/v1 Who
ask --history half.jsonl @OPENAI_BASE_URL=http://127.0.0.1:9/v1 Who
ask --history folder @OPENAI_BASE_URL=http://127.0.0.1:9/v1 Who
ask --replay missing.httprr Who
ask --record a --replay b Who
ask --openai-base-url localhost:8080 Who
ask --openai-timeout 30 Who
ask --request-usd-limit 1 Who
ask --data-dir /dev/null/x @OPENAI_BASE_URL=http://127.0.0.1:9/v1 Who
ask --kg embedded @OPENAI_BASE_URL=http://127.0.0.1:9/v1 Who
ask --env-file missing.env Who
ask --env-file bad.env Who
ask --env-file typo.env Who
ask --env-file folder Who
run
run extra
run --once --posting maybe
run --watch-schedule hourly
run --answer-since yesterday
run --unknown-grace 5
demo extra
demo --addr 127.0.0.1:PORT
demo --addr nowhere
demo --script script.txt --addr 127.0.0.1:0
demo --page missing.wikitext --addr 127.0.0.1:0
sandbox extra
sandbox --data missing.ttl
sandbox --data data.csv
sandbox --data bad.ttl
sandbox --data folder
sandbox --addr 127.0.0.1:PORT
harvest
harvest --out harvest extra
harvest --out harvest --from 2019-13
harvest --out harvest --from 2020-01 --to 2019-01
harvest --out harvest --source pdf
harvest --out /dev/null/x --no-run
harvest --out harvest --benchmark missing.json
ledger
ledger list sb-1
ledger list
ledger list --state waiting
ledger show
ledger show sb-1
ledger approve
ledger edit sb-1
forum parse
forum parse missing.wikitext
forum parse folder
forum parse binary.bin
forum parse --format pdf page.wikitext
forum parse --wikitext page.wikitext page.wikitext
forum parse page.wikitext extra
sparql check missing.rq
sparql check bad.rq
sparql check --json bad.rq
sparql rewrite bad.rq
sparql rewrite --to blazegraph bad.rq
sparql format --labels loud bad.rq
sparql format --posting --url bad.rq
trace show missing
trace show torn.jsonl
trace show empty.json
trace show a b
trace tree missing
trace tree torn.jsonl
trace tree --nodes 0 half.jsonl
trace tree a b
trace export missing
trace export --as csv
trace export torn.jsonl
lessons
lessons show n1
lessons approve
lessons learn
config
config check extra
config check --run
config check --daily-usd-limit lots
config check --sparql-endpoint ftp://example.org/
config check --wiki-api https://user:pw@example.org/api.php?key=secret
dataset annotate
dataset annotate folder
dataset annotate --addr 0.0.0.0:80 folder
dataset annotate --addr 8090 folder
dataset export folder
dataset export --format xml folder
dataset export
dataset split --dev 110% folder
dataset split --near far folder
dataset stats
dataset stats missing.json
dataset stats empty.json
dataset stats broken.json
dataset stats broken.jsonl
dataset stats binary.bin
dataset stats notes.txt
dataset stats other.json
dataset stats folder
dataset verify
dataset verify missing.json
eval run bench.jsonl
eval run --out run
eval run --out run missing.jsonl
eval run --out run nosparql.json
eval run --out run --jobs 0 bench.jsonl
eval run --out run --jobs four bench.jsonl
eval run --out run --as-of yesterday bench.jsonl
eval run --out run --kg embedded bench.jsonl
eval run --out run --kg embedded --script script.txt bench.jsonl
eval run --out run --kg embedded --script missing.txt bench.jsonl
eval run --out run --usd-limit 0 bench.jsonl
eval run --out run --usd-limit 5 @OPENAI_API_KEY=x bench.jsonl
eval run --out run --ids 7 bench.jsonl
eval run --out /dev/null/x --kg embedded @OPENAI_BASE_URL=http://127.0.0.1:9/v1 bench.jsonl
eval run --out run --preset grsp bench.jsonl
eval score
eval score missing.json
eval score bench.jsonl
eval score notes.txt
eval score --metric bleu bench.jsonl
eval score --kg moon bench.jsonl
eval score --keep rows.jsonl bench.jsonl
eval score --time-limit 5 bench.jsonl
eval compare a
eval compare folder folder
eval compare --items -1 a b
eval report
eval report folder
eval report --markdown --latex folder
completion
completion tcsh
man
man /dev/null/x
version nowindex
index bild
index build
index build --out ix
index build --out ix --kg embedded --data bad.ttl
index build --out ix --kg moon
index build --out ix --kg embedded --limit -1
index build --out ix --entities nosuch.tsv
index build --out ix --entities notes.txt
index build --out ix --entities empty.json
index build --out ix --data bad.ttl
index build --out ix --endpoint nonsense
index build extra --out ix --kg embedded
index search
index search --index nosuch
index search --index nosuch berlin
index search --index notes.txt berlin
index search --index empty.json berlin
index search --index nosuch --limit 0 berlin
index search --index nosuch --type lexeme berlin
`

// TestGolden compares the help for all commands and the messages for mistakes with testdata/golden/cli.txt. Changes to
// that file must be reviewed by a human: every message must state what is wrong and what to do next. To update the
// file, run go test -run Golden -update.
func TestGolden(t *testing.T) {
	golden, err := filepath.Abs("testdata/golden/cli.txt")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(mistakeFolder(t))
	var b bytes.Buffer
	b.WriteString("# Written by go test ./cmd/spinachbot -run Golden -update; read it when it changes.\n")
	for _, path := range commandPaths(newRoot(&env{})) {
		code, out, errs := goldenCall(t, nil, append(path, "-h"))
		if code != exitOK || errs != "" || out == "" {
			t.Errorf("%q -h: exit %d, %s", path, code, errs)
		}
		fmt.Fprintf(&b, "\n$ %s\n%s", strings.Join(append(append([]string{"spinachbot"}, path...), "-h"), " "), out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(mistakes, "\n"), "\n") {
		n++
		answer := mistake(t, strings.ReplaceAll(line, "PORT", port))
		fmt.Fprintf(&b, "\n$ spinachbot %s\n%s", line, strings.ReplaceAll(answer, port, "PORT"))
	}
	if n < 65 {
		t.Errorf("only %d mistakes", n)
	}
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); diff != "" {
		t.Errorf("the command line's output has changed (-golden +now); read it, then run with -update:\n%s", diff)
	}
}

func mistakeFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range mistakeFiles {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// mistake runs a command that fails and returns its output, which must not mention the program's internals.
func mistake(t *testing.T, line string) string {
	t.Helper()
	var environ, args []string
	for _, w := range strings.Fields(line) {
		if setting, ok := strings.CutPrefix(w, "@"); ok {
			environ = append(environ, setting)
			continue
		}
		args = append(args, w)
	}
	code, out, errs := goldenCall(t, environ, args)
	if code == exitOK || errs == "" && out == "" {
		t.Errorf("%s: exit %d, no message", line, code)
	}
	if strings.Contains(errs, "secret@") || strings.Contains(errs, "key=secret") {
		t.Errorf("%s: the message contains a secret: %s", line, errs)
	}
	for _, word := range []string{"strconv", " json: ", "invalid character", "unexpected end of JSON", "EOF", "pflag",
		"%!", "runtime error", "item 0", "goroutine"} {
		if strings.Contains(errs, word) {
			t.Errorf("%s: the message contains %q: %s", line, word, errs)
		}
	}
	for _, made := range []string{"data", "run", "harvest"} {
		if err := os.RemoveAll(made); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("%s%sexit %d\n", out, errs, code)
}

func goldenCall(t *testing.T, environ, args []string) (int, string, string) {
	t.Helper()
	var out, errs bytes.Buffer
	now := func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }
	e := &env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, environ: environ, now: now}
	code := run(t.Context(), e, args)
	return code, out.String(), errs.String()
}

// commandPaths lists all commands, starting with the root.
func commandPaths(cmd *cobra.Command) [][]string {
	paths := [][]string{strings.Fields(commandName(cmd))}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			paths = append(paths, commandPaths(sub)...)
		}
	}
	return paths
}
