// Package archtest contains only tests. They keep the layers apart; every rule is listed with its reason.
package archtest

import (
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/spinachbot/spinachbot"

// rules lists, for every package, which of our packages it may import outside its tests, and why. A package without a
// row is an error, so that someone has to decide where a new package belongs.
var rules = []struct {
	pkg    string
	may    string // separated by spaces; a trailing /... allows all packages below
	reason string
}{
	{"internal/rdf", "", "terms are the floor: everything uses them"},
	{"internal/rdf/equal", "internal/rdf", "values of terms: it is independent of results and queries"},
	{"internal/wikitext", "", "a reader of text, good for any wiki"},
	{"internal/logid", "", "an ID in a context concerns no noun of ours"},
	{"internal/politehttp", "", "politeness to servers is not a concept of this program"},
	{"internal/picture", "internal/politehttp internal/safe", "pictures by the names of files; it is independent of results and pages"},
	{"internal/httprr", "", "recording HTTP concerns no noun of ours"},
	{"internal/sparql", "internal/rdf", "the dialect is pure: it can be used, fuzzed and trusted without a graph"},
	{"internal/sparql/check", "internal/sparql internal/rdf", "reads the tree: probable mistakes"},
	{"internal/sparql/explain", "internal/sparql internal/rdf", "reads the tree: a query in words"},
	{"internal/sparql/measure", "internal/sparql internal/rdf", "reads the tree and the tokens: how complex a query is"},
	{"internal/sparql/sparqltest", "internal/kg internal/rdf", "random queries for tests; the graph is a function"},
	{"internal/sparql/variant", "internal/sparql internal/rdf", "changes the tree: what a query may have missed"},
	{"internal/sparql/tool", "internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/measure internal/sparql/rewrite", "the dialect at the command line; labels come from outside"},
	{"internal/sparql/rewrite", "internal/sparql internal/rdf", "changes the tree: other dialects"},
	{"internal/adapter", "bot dataset/harvest internal/llm internal/mediawiki internal/politehttp",
		"joins clients to the interfaces of those who use them"},
	{"internal/lesson", "dataset internal/rdf internal/sparql", "notes in a file, and what two queries differ in; it is independent of agents and graphs"},
	{"internal/review", "agent/event agent/policy dataset internal/console internal/rdf internal/sparql", "a person's decisions at a terminal; it carries out nothing"},
	{"internal/treeview", "agent/event internal/console", "a search as lines and as a picture; it reads events only"},
	{"internal/show", "agent agent/event agent/probe bot forum internal/console internal/job internal/kg internal/lesson internal/llm internal/rdf internal/treeview",
		"what people see at a terminal; it reads nothing and decides nothing"},
	{"internal/buildinfo", "", "what the Go tool recorded concerns no noun of ours"},
	{"internal/message", "", "texts in many languages; it is independent of replies and pages"},
	{"internal/console", "", "writing to a terminal is independent of our types"},
	{"internal/kg", "internal/rdf", "nouns only"},
	{"internal/index", "", "label search uses labels, not graphs"},
	{"internal/index/bm25", "", "ranking is independent of the texts"},
	{"internal/index/lookup", "", "label search uses names, scores and vectors, not graphs or models"},
	{"internal/kg/finder", "internal/index/lookup internal/kg internal/rdf",
		"joins a label index to the agent's searches; it is independent of graphs"},
	{"internal/index/build", "internal/index/lookup internal/kg internal/rdf",
		"tables and graphs into an index; a graph is a function that answers queries"},
	{"internal/index/opensearch", "internal/index/lookup", "another index behind the same interface"},
	{"internal/index/opensearch/played", "", "a server for tests knows the protocol, not its client"},
	{"internal/index/tool", "internal/index/lookup internal/index/build",
		"the index at the command line; lock and model come from outside"},
	{"internal/kg/kgtest", "internal/kg internal/rdf", "one suite for all graphs depends on none of them"},
	{"internal/kg/survey", "internal/kg internal/kg/shape internal/rdf",
		"what a graph has about a thing is asked through a function: it is independent of graphs"},
	{"internal/kg/shape/void", "internal/kg/embedded internal/kg/shape",
		"a graph's description of itself is a small graph of its own"},
	{"internal/kg/shape", "internal/index/lookup internal/kg internal/rdf internal/sparql",
		"what classes look like is asked through a function: it is independent of graphs"},
	{"internal/kg/cache", "", "remembering concerns no noun of ours"},
	{"internal/kg/remote", "internal/kg internal/rdf internal/politehttp",
		"how services are asked does not depend on what they serve"},
	{"internal/kg/wikidata", "internal/index/lookup internal/kg internal/kg/cache internal/kg/finder internal/kg/remote internal/rdf internal/politehttp internal/sparql/rewrite", "an adapter knows its service and the nouns, no other adapter"},
	{"internal/kg/endpoint", "internal/index/lookup internal/kg internal/kg/cache internal/kg/embedded/entity internal/kg/embedded/store internal/kg/finder internal/rdf internal/sparql internal/sparql/rewrite", "any query service through a function; what a Wikibase returns is read as the embedded graph reads its own"},
	{"internal/kg/registry", "internal/kg internal/politehttp internal/rdf", "graphs by name: it opens none"},
	{"internal/graphs", "agent agent/tool internal/index/lookup internal/index/opensearch internal/kg internal/kg/embedded internal/kg/endpoint internal/kg/registry internal/kg/remote internal/kg/shape internal/kg/shape/void internal/kg/wikidata internal/politehttp", "joins the registry's graphs to the agent"},
	{"internal/kg/embedded/value", "internal/rdf", "terms and their values are independent of graphs and queries"},
	{"internal/kg/embedded/store", "internal/kg/embedded/value internal/rdf", "triples are independent of queries"},
	{"internal/kg/embedded/limit", "internal/kg", "limits are independent of graphs and queries"},
	{"internal/kg/embedded/function", "internal/kg internal/kg/embedded/value internal/kg/embedded/limit internal/rdf",
		"functions use values and limits, not graphs or queries"},
	{"internal/kg/embedded/entity", "internal/kg internal/kg/embedded/value internal/kg/embedded/store internal/kg/finder internal/rdf internal/index internal/index/lookup", "entities are read from triples, not asked for with queries"},
	{"internal/kg/embedded", "internal/kg internal/kg/embedded/entity internal/kg/embedded/value internal/kg/embedded/store internal/kg/embedded/limit internal/kg/embedded/function internal/rdf internal/sparql", "an adapter knows its store and the nouns, no other adapter"},
	{"internal/kg/embedded/benchdata", "internal/rdf", "what engines are measured on must not depend on one of them"},
	{"internal/kg/embedded/httpapi", "internal/kg internal/kg/embedded internal/rdf internal/index",
		"the protocol over the embedded graph"},
	{"internal/llm", "internal/politehttp internal/safe", "models are independent of graphs, wikis and agents"},
	{"internal/mediawiki", "internal/politehttp", "a wiki client is independent of forums and bots"},
	{"forum", "forum/parsoid internal/message internal/wikitext", "reading and writing talk pages needs no graph, no model and no network"},
	{"forum/parsoid", "internal/wikitext", "HTML back to wikitext is independent of threads and comments"},
	{"agent/render", "internal/kg internal/rdf", "how a model sees a page is a pure function of the page"},
	{"agent/event", "agent/render internal/kg internal/rdf internal/llm",
		"a log is read by many and depends on nobody who writes it"},
	{"agent/tool", "agent/tool/kbqa agent/event agent/render internal/kg internal/kg/cache internal/kg/shape internal/kg/survey internal/rdf internal/text internal/sparql internal/sparql/check internal/sparql/rewrite internal/sparql/variant internal/safe", "a tool is called: it knows no model, no protocol and no loop"},
	{"agent/tool/kbqa", "agent/render internal/kg internal/rdf internal/sparql",
		"names, queries and texts; it asks nobody"},
	{"agent/tool/kbqagraph", "internal/rdf", "graphs for tests and worked dialogues; it is independent of tools and graphs"},
	{"agent/probe", "agent/event agent/render internal/kg internal/rdf internal/sparql/variant",
		"what variants of a query would change; the graph is a function"},
	{"agent/exemplar", "", "worked dialogues as texts: whoever plays them brings the tools"},
	{"agent/protocol", "agent/render agent/tool internal/llm", "messages to calls and back, for any tools"},
	{"agent/preset", "agent/exemplar agent/probe agent/protocol agent/render agent/tool agent/tool/kbqa internal/kg internal/sparql/variant internal/text",
		"data, and what reads it"},
	{"agent/step", "internal/rdf/equal agent/event agent/preset agent/probe agent/protocol agent/render agent/tool internal/kg internal/llm internal/rdf",
		"one expansion: it is independent of loops"},
	{"agent/confidence", "agent/event", "numbers of a run in, a probability out: it is independent of runs"},
	{"agent/policy", "agent/confidence agent/event agent/preset agent/step internal/kg internal/rdf internal/rdf/equal", "a policy decides what is expanded next, not how"},
	{"agent/faithful", "internal/kg internal/rdf internal/sparql", "compares a text with a result; it asks nobody"},
	{"agent", "agent/confidence agent/faithful agent/event agent/policy agent/preset agent/render agent/step agent/tool internal/llm",
		"the face: question in, answer out"},
	{"internal/ask", "agent agent/event internal/llm", "the one place that joins agent, allowance and trajectory"},
	{"bot/identity", "forum", "which comment an entry is for, as rules; it is independent of ledgers and wikis"},
	{"bot/several", "bot", "rounds of several bots in turn; it decides nothing"},
	{"bot/tracepage", "agent agent/event bot forum internal/message", "pages of steps, of the bot's nouns; who writes and reads them is handed in"},
	{"bot/phrase", "forum", "what posts say by their words alone; user names are the forum's"},
	{"bot/figures", "agent bot bot/reply internal/kg internal/rdf internal/sparql", "units and dates of an answer's numbers; the graph is a function"},
	{"bot/reply", "agent agent/faithful forum internal/kg internal/rdf internal/sparql", "what the agent found, for people; it is independent of wikis and ledgers"},
	{"bot/digest", "bot forum", "what the ledger says of a day, as text; it reads no wiki and no store"},
	{"bot/bottest", "bot internal/job", "a ledger in memory for tests and simulations"},
	{"bot/limit", "forum", "limits on replies and requests, as rules; they are independent of ledgers and wikis"},
	{"bot/title", "forum", "what a page's title says by itself"},
	{"bot", "bot/identity bot/limit bot/phrase bot/title forum agent agent/faithful bot/reply internal/job", "the bot decides; it reaches wiki, store and agent through interfaces it owns"},
	{"dataset", "", "nouns of the benchmark, and the forms that others read"},
	{"bot/earlier", "agent bot dataset dataset/harvest internal/kg internal/lesson internal/rdf internal/sparql",
		"what the forum said before; the graph is an interface"},
	{"dataset/harvest", "dataset forum internal/job internal/sparql internal/sparql/measure internal/sparql/rewrite internal/index/bm25 internal/kg internal/rdf", "archive to candidates; never the agent: what a benchmark is made of must not depend on what it will judge"},
	{"dataset/datasettest", "dataset dataset/harvest internal/sparql internal/sparql/measure internal/kg",
		"a small harvest for tests of what comes after it"},
	{"dataset/release", "dataset dataset/harvest internal/sparql internal/sparql/measure internal/sparql/rewrite internal/kg internal/rdf", "a finished benchmark: export, split, verify, card; the graph is an interface it owns"},
	{"dataset/examples", "agent/event dataset dataset/harvest internal/index/bm25 internal/index/lookup internal/sparql internal/sparql/measure", "solved questions for whoever shows them; of the agent it knows the nouns only"},
	{"dataset/transcript", "agent/event agent/exemplar agent/render internal/llm internal/rdf",
		"a trajectory in the forms of others; it reads events, and the dialogues that others keep"},
	{"dataset/training", "agent/event dataset dataset/evalrun dataset/examples dataset/release dataset/transcript internal/sparql",
		"data sets of runs and discussions: which lines, and a card; the lines are transcript's"},
	{"dataset/stats", "dataset internal/sparql internal/sparql/measure", "tables and plots of queries"},
	{"dataset/score", "internal/rdf internal/rdf/equal", "metrics compare rows; they are independent of queries, graphs and the scored system"},
	{"dataset/score/scorefile", "dataset dataset/score internal/kg internal/sparql internal/sparql/measure",
		"files of outputs, scored; the graph is an interface it owns"},
	{"dataset/evalrun", "agent agent/confidence agent/event internal/ask dataset dataset/score dataset/score/scorefile dataset/transcript internal/job internal/sparql internal/sparql/measure internal/kg internal/llm internal/rdf internal/safe", "benchmark runs of the agent through interfaces it owns"},
	{"internal/web/annotate", "dataset dataset/annotate internal/kg internal/rdf internal/sparql internal/web/guard internal/web/layout",
		"pages use shared types and declare their own small interfaces"},
	{"internal/web", "internal/web/guard internal/web/health internal/web/layout", "puts pages and APIs together, which come as handlers"},
	{"internal/web/guard", "", "keeps strangers out of any page"},
	{"internal/web/layout", "internal/message internal/web/guard", "the frame of all pages: it depends on none of them"},
	{"internal/web/ask", "agent agent/event agent/policy internal/ask internal/kg internal/rdf internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/rewrite internal/sparql/variant internal/web/layout", "pages over runs; who answers and which graphs there are is handed in"},
	{"internal/web/health", "internal/safe", "checks come as functions"},
	{"internal/setup", "forum", "drafts of pages as texts: it is independent of wikis and settings"},
	{"internal/web/desk", "bot bot/digest dataset/annotate forum internal/web/layout internal/web/login",
		"the operator's pages over the ledger, through bot's own functions; the wiki's renderer is a function"},
	{"internal/web/runs", "agent/event dataset/evalrun internal/llm internal/treeview internal/web/layout",
		"pages over the files of runs: it reads and never asks"},
	{"internal/web/live", "agent agent/event agent/render dataset/transcript internal/ask internal/llm",
		"GRASP's protocol over an interface that it owns"},
	{"internal/web/login", "internal/web/guard internal/web/layout", "who may see which pages; it is independent of pages and keeps its notes behind an interface"},
	{"internal/web/challenge", "agent internal/sparql/rewrite", "an API over an interface that it owns"},
	{"internal/graphs/kindtest", "agent agent/event agent/preset agent/tool internal/graphs internal/kg internal/kg/kgtest internal/kg/registry internal/kg/remote internal/noisy internal/politehttp", "presets over graphs of all kinds, for tests here and with real engines"},
	{"internal/noisy", "internal/kg internal/llm internal/rdf internal/sparql",
		"plays the model: it knows requests and gold queries, never the agent"},
	{"internal/mcp", "agent agent/event agent/render agent/tool internal/ask internal/kg internal/rdf internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/rewrite", "the graphs' tools for other agents; it never writes"},
	{"internal/metrics", "agent/event internal/ask", "counts events and requests, and decides nothing"},
	{"internal/backup", "", "it copies files; what is a database is handed in"},
	{"internal/job", "", "types of durable work, independent of the work itself"},
	{"internal/bell", "", "it delivers notifications, independent of their content"},
	{"internal/crew", "bot internal/leader", "who of several processes does which part of the bot's work"},
	{"internal/leader", "", "it handles leases, not the work done under them"},
	{"internal/store", "bot dataset dataset/annotate dataset/harvest internal/job internal/leader internal/llm internal/politehttp",
		"the store implements other packages' interfaces: it needs their nouns"},
	{"dataset/annotate", "dataset dataset/harvest internal/kg internal/rdf internal/sparql internal/sparql/check internal/safe",
		"annotators' work and what a question must say; it is independent of pages and a database"},
	{"internal/chart", "", "drawing concerns no noun of ours"},
	{"internal/httpjson", "", "answering in JSON concerns no noun of ours"},
	{"internal/retain", "bot bot/identity forum", "what is kept no longer, of the bot's nouns; wiki and store are interfaces it owns"},
	{"internal/harden", "", "core files and permissions concern no noun of ours"},
	{"internal/safe", "", "catching panics concerns no noun of ours"},
	{"internal/text", "", "helpers for texts concern no noun of ours"},
	{"config", "", "only cmd knows settings; everything else is handed values"},
	{"internal/sandbox/wiki", "", "a wiki of our own for the demo must not know the bot it serves"},
	{"internal/sandbox/data", "", "files, and tests of them"},
	{"internal/integration", "", "tests of the finished program, which it reaches as a process"},
	{"internal/integration/engines", "", "tests only: the dialect and the embedded graph against other engines"},
	{"internal/sandbox", "internal/...", "assembles the embedded default"},
	{"cmd/spinachbot", "...", "wires everything"},
	{"internal/testutil", "", "help for tests is independent of what it helps to test"},
	{"internal/archtest", "", "tests only"},
}

// everywhere lists the packages that every package may import: helpers that use none of our types.
const everywhere = "internal/text internal/httpjson internal/chart internal/logid"

// only lists packages that only a few packages may import.
var only = []struct{ pkg, importers, reason string }{
	{"config", "cmd/spinachbot", "libraries get values, so that they can be used and tested without an environment"},
	{"internal/store", "cmd/spinachbot", "interfaces are declared by their consumers; a database behind them is wiring"},
	{"internal/sandbox", "cmd/spinachbot", "the demo must not leak into the product"},
	{"internal/mediawiki", "cmd/spinachbot internal/adapter",
		"only bot writes to a wiki, and it does so through bot.Wiki"},
}

func packages(t *testing.T, root string) map[string]*build.Package {
	t.Helper()
	out := map[string]*build.Package{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if n := d.Name(); n == "testdata" || (p != root && strings.HasPrefix(n, ".")) || n == "node_modules" {
			return fs.SkipDir
		}
		pkg, berr := build.ImportDir(p, 0)
		if _, none := berr.(*build.NoGoError); none {
			return nil
		}
		if berr != nil {
			return berr
		}
		rel, rerr := filepath.Rel(root, p)
		out[filepath.ToSlash(rel)] = pkg
		return rerr
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func ours(imports []string) (out []string) {
	for _, i := range imports {
		if rel, ok := strings.CutPrefix(i, module+"/"); ok {
			out = append(out, rel)
		}
	}
	sort.Strings(out)
	return out
}

func allowed(list, pkg string) bool {
	for _, a := range strings.Fields(list) {
		if a == pkg || a == "..." {
			return true
		}
		if base, ok := strings.CutSuffix(a, "/..."); ok && (pkg == base || strings.HasPrefix(pkg, base+"/")) {
			return true
		}
	}
	return false
}

func TestImportRules(t *testing.T) {
	pkgs := packages(t, "../..")
	if len(pkgs) < 10 {
		t.Fatalf("only %d packages found: is the test run from its folder?", len(pkgs))
	}
	rule := map[string]int{}
	for i, r := range rules {
		rule[r.pkg] = i
	}
	for name, pkg := range pkgs {
		if strings.HasPrefix(name, "tools/") {
			continue // maintainers' programs, not part of the product
		}
		i, ok := rule[name]
		if !ok {
			t.Errorf("%s has no row in the import rules: place it on purpose", name)
			continue
		}
		for _, imp := range ours(pkg.Imports) {
			if !allowed(rules[i].may+" "+everywhere, imp) {
				t.Errorf("%s must not import %s: %s", name, imp, rules[i].reason)
			}
		}
	}
	for _, o := range only {
		for name, pkg := range pkgs {
			for _, imp := range ours(pkg.Imports) {
				if imp == o.pkg && !allowed(o.importers, name) && !strings.HasPrefix(name, "tools/") {
					t.Errorf("%s must not import %s: %s", name, o.pkg, o.reason)
				}
			}
		}
	}
}

// Outside tests, only conformance suites such as kgtest may import testing: a program that behaves differently under
// test is not tested.
func TestNoTestingInProduction(t *testing.T) {
	for name, pkg := range packages(t, "../..") {
		for _, imp := range pkg.Imports {
			if imp == "testing" && path.Base(name) != "kgtest" && path.Base(name) != "wikitest" {
				t.Errorf("%s imports testing", name)
			}
		}
	}
}

// Libraries get the environment, the clock and randomness from their callers (invariant 7).
func TestNoAmbientState(t *testing.T) {
	banned := map[string]string{
		"os.Getenv": "environment", "os.LookupEnv": "environment", "os.Environ": "environment",
		"time.Now": "clock", "http.DefaultClient": "network", "http.Get": "network", "http.Post": "network",
		"rand.Int": "randomness", "rand.Intn": "randomness", "rand.Float64": "randomness",
	}
	for name, pkg := range packages(t, "../..") {
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "tools/") {
			continue
		}
		for _, file := range pkg.GoFiles {
			p := filepath.Join("../..", filepath.FromSlash(name), file)
			src, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			f, err := parser.ParseFile(token.NewFileSet(), p, src, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			imported := map[string]bool{}
			for _, i := range f.Imports {
				if s, err := strconv.Unquote(i.Path.Value); err == nil {
					imported[path.Base(s)] = true
				}
			}
			for n, line := range strings.Split(string(src), "\n") {
				code, _, _ := strings.Cut(line, "//")
				for b, what := range banned {
					base, _, _ := strings.Cut(b, ".")
					if imported[base] && strings.Contains(code, b+"(") || (b == "http.DefaultClient" && imported[base] &&
						strings.Contains(code, b)) {
						t.Errorf("%s/%s:%d uses %s: the %s must be handed in", name, file, n+1, b, what)
					}
				}
			}
		}
	}
}

// The functions needed for asking a question are called in only one place. Code that opened a trajectory or an
// allowance elsewhere would be a second way to ask.
func TestOneWayToAsk(t *testing.T) {
	may := map[string]string{
		"event.Create": "internal/ask",
		// adapter: a request for advice on a harvest candidate is not a question for the agent
		"llm.NewAllowance": "internal/ask internal/adapter",
	}
	for name, pkg := range packages(t, "../..") {
		for _, file := range pkg.GoFiles {
			src, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name), file))
			if err != nil {
				t.Fatal(err)
			}
			for call, where := range may {
				if strings.Contains(string(src), call+"(") && !allowed(where, name) {
					t.Errorf("%s/%s calls %s: ask through internal/ask", name, file, call)
				}
			}
		}
	}
}
