// Package archtest contains only tests. They enforce the layering; every rule is listed with its reason.
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
	"sync"
	"testing"

	_ "github.com/spinachbot/spinachbot/internal/testutil/corpus" // rarer garbage collection
)

const module = "github.com/spinachbot/spinachbot"

// rules lists, for every package, which of our packages its non-test code may import, and why. A package without a
// row is an error, so that someone has to decide where a new package belongs.
var rules = []struct {
	pkg    string
	may    string // separated by spaces; a trailing /... allows all subpackages
	reason string
}{
	{"internal/rdf", "", "terms are the floor: everything uses them"},
	{"internal/rdf/equal", "internal/rdf", "values of terms, independent of results and queries"},
	{"internal/wikitext", "", "a reader of text, good for any wiki"},
	{"internal/logid", "", "an ID in a context does not involve our types"},
	{"internal/politehttp", "", "politeness to servers is independent of what this program does"},
	{"internal/picture", "internal/politehttp internal/safe", "fetches pictures by file name, independent of results and pages"},
	{"internal/httprr", "", "recording HTTP does not involve our types"},
	{"internal/sparql", "internal/rdf", "the dialect is pure: it can be used, fuzzed and trusted without a graph"},
	{"internal/sparql/check", "internal/sparql internal/rdf", "finds probable mistakes in the syntax tree"},
	{"internal/sparql/explain", "internal/sparql internal/rdf", "describes the syntax tree in words"},
	{"internal/sparql/measure", "internal/sparql internal/rdf", "measures the complexity of a query from its tree and tokens"},
	{"internal/sparql/sparqltest", "internal/kg internal/rdf", "random queries for tests; the graph is passed as a function"},
	{"internal/sparql/variant", "internal/sparql internal/rdf", "changes the tree to find what a query may have missed"},
	{"internal/sparql/tool", "internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/measure internal/sparql/rewrite", "the dialect at the command line; labels are passed in"},
	{"internal/sparql/rewrite", "internal/sparql internal/rdf", "changes the tree for other dialects"},
	{"internal/adapter", "bot dataset/harvest internal/llm internal/mediawiki internal/politehttp",
		"connects clients to the interfaces of the packages that use them"},
	{"internal/lesson", "dataset internal/rdf internal/sparql", "notes in a file, and the differences between two queries; it is independent of agents and graphs"},
	{"internal/review", "agent/event agent/policy dataset internal/console internal/rdf internal/sparql", "asks a person for decisions at a terminal; it does not carry them out"},
	{"internal/treeview", "agent/event internal/console", "shows a search as lines and as a picture; it reads only events"},
	{"internal/show", "agent agent/event agent/probe bot forum internal/console internal/job internal/kg internal/lesson internal/llm internal/rdf internal/treeview",
		"shows data at a terminal; it does not read files or make decisions"},
	{"internal/buildinfo", "", "the Go tool's build information does not involve our types"},
	{"internal/message", "", "texts in many languages; it is independent of replies and pages"},
	{"internal/console", "", "writing to a terminal is independent of our types"},
	{"internal/kg", "internal/rdf", "nouns only"},
	{"internal/index", "", "label search uses labels, not graphs"},
	{"internal/index/bm25", "", "ranking is independent of the texts"},
	{"internal/index/lookup", "", "label search uses names, scores and vectors, not graphs or models"},
	{"internal/kg/finder", "internal/index/lookup internal/kg internal/rdf",
		"connects a label index to the agent's searches; it is independent of graphs"},
	{"internal/index/build", "internal/index/lookup internal/kg internal/rdf",
		"builds an index from tables and graphs; a graph is a function that answers queries"},
	{"internal/index/opensearch", "internal/index/lookup", "another index behind the same interface"},
	{"internal/index/opensearch/played", "", "a server for tests implements the protocol, independent of its client"},
	{"internal/index/tool", "internal/index/lookup internal/index/build",
		"the index at the command line; the lock and the model are passed in"},
	{"internal/kg/kgtest", "internal/kg internal/rdf", "a suite for all graphs must not depend on one of them"},
	{"internal/kg/survey", "internal/kg internal/kg/shape internal/rdf",
		"asks about an entity through a function, so it is independent of graphs"},
	{"internal/kg/shape/void", "internal/kg/embedded internal/kg/shape",
		"a graph's description of itself is a small graph of its own"},
	{"internal/kg/shape", "internal/index/lookup internal/kg internal/rdf internal/sparql",
		"asks about classes through a function, so it is independent of graphs"},
	{"internal/kg/cache", "", "caching does not involve our types"},
	{"internal/kg/remote", "internal/kg internal/rdf internal/politehttp",
		"the way to query services does not depend on their data"},
	{"internal/kg/wikidata", "internal/index/lookup internal/kg internal/kg/cache internal/kg/finder internal/kg/remote internal/rdf internal/politehttp internal/sparql/rewrite", "an adapter uses its service and our types, but no other adapter"},
	{"internal/kg/endpoint", "internal/index/lookup internal/kg internal/kg/cache internal/kg/embedded/entity internal/kg/embedded/store internal/kg/finder internal/rdf internal/sparql internal/sparql/rewrite", "any query service, through a function; it reads a Wikibase's results in the same way as the embedded graph"},
	{"internal/kg/registry", "internal/kg internal/politehttp internal/rdf", "lists graphs by name, but does not open them"},
	{"internal/graphs", "agent agent/tool internal/index/lookup internal/index/opensearch internal/kg internal/kg/embedded internal/kg/endpoint internal/kg/registry internal/kg/remote internal/kg/shape internal/kg/shape/void internal/kg/wikidata internal/politehttp", "connects the registry's graphs to the agent"},
	{"internal/kg/embedded/value", "internal/rdf", "terms and their values are independent of graphs and queries"},
	{"internal/kg/embedded/store", "internal/kg/embedded/value internal/rdf", "triples are independent of queries"},
	{"internal/kg/embedded/limit", "internal/kg", "limits are independent of graphs and queries"},
	{"internal/kg/embedded/function", "internal/kg internal/kg/embedded/value internal/kg/embedded/limit internal/rdf",
		"functions use values and limits, not graphs or queries"},
	{"internal/kg/embedded/entity", "internal/kg internal/kg/embedded/value internal/kg/embedded/store internal/kg/finder internal/rdf internal/index internal/index/lookup", "entities are read from triples, not with queries"},
	{"internal/kg/embedded", "internal/kg internal/kg/embedded/entity internal/kg/embedded/value internal/kg/embedded/store internal/kg/embedded/limit internal/kg/embedded/function internal/rdf internal/sparql", "an adapter uses its store and our types, but no other adapter"},
	{"internal/kg/embedded/benchdata", "internal/rdf", "a benchmark for engines must not depend on one of them"},
	{"internal/kg/embedded/httpapi", "internal/kg internal/kg/embedded internal/rdf internal/index",
		"the protocol over the embedded graph"},
	{"internal/llm", "internal/politehttp internal/safe", "models are independent of graphs, wikis and agents"},
	{"internal/mediawiki", "internal/politehttp", "a wiki client is independent of forums and bots"},
	{"forum", "forum/already forum/escape forum/parsoid forum/queryscan forum/wrap internal/message internal/wikitext", "reading and writing talk pages does not require a graph, a model or a network"},
	{"forum/already", "", "reads an answer; it knows no pages and no replies"},
	{"forum/queryscan", "", "finds the ends of queries; it knows no pages"},
	{"forum/wrap", "", "breaks words; it knows no pages and no replies"},
	{"forum/escape", "", "makes texts harmless in wikitext; it knows no pages and no replies"},
	{"forum/parsoid", "internal/wikitext", "HTML back to wikitext is independent of threads and comments"},
	{"agent/render", "internal/kg internal/rdf", "a model's view of a page is a pure function of the page"},
	{"agent/event", "agent/render internal/kg internal/rdf internal/llm",
		"many packages read a log, and it must not depend on those that write it"},
	{"agent/tool", "agent/tool/kbqa agent/event agent/render internal/kg internal/kg/cache internal/kg/shape internal/kg/survey internal/rdf internal/text internal/sparql internal/sparql/check internal/sparql/rewrite internal/sparql/variant internal/safe", "tools are called, independent of models, protocols and loops"},
	{"agent/tool/kbqa", "agent/render internal/kg internal/rdf internal/sparql",
		"names, queries and texts; it does not query anything"},
	{"agent/tool/kbqagraph", "internal/rdf", "graphs for tests and worked dialogues, independent of tools and other graphs"},
	{"agent/probe", "agent/event agent/render internal/kg internal/rdf internal/sparql/variant",
		"finds what variants of a query would change; the graph is passed as a function"},
	{"agent/exemplar", "", "worked dialogues as texts; the caller that plays them provides the tools"},
	{"agent/protocol", "agent/render agent/tool internal/llm", "converts messages to calls and back, for any tools"},
	{"agent/preset", "agent/exemplar agent/probe agent/protocol agent/render agent/tool agent/tool/kbqa internal/kg internal/sparql/variant internal/text",
		"data and its readers"},
	{"agent/step", "internal/rdf/equal agent/event agent/preset agent/probe agent/protocol agent/render agent/tool internal/kg internal/llm internal/rdf",
		"a single expansion, independent of loops"},
	{"agent/confidence", "agent/event", "turns the figures of a run into a probability, independent of runs"},
	{"agent/policy", "agent/confidence agent/event agent/preset agent/step internal/kg internal/rdf internal/rdf/equal", "a policy decides what is expanded next, not how"},
	{"agent/faithful", "internal/kg internal/rdf internal/sparql", "compares a text with a result; it does not query anything"},
	{"agent", "agent/confidence agent/faithful agent/event agent/policy agent/preset agent/render agent/step agent/tool internal/llm",
		"the face: question in, answer out"},
	{"internal/ask", "agent agent/event internal/llm", "the only place that brings together agent, allowance and trajectory"},
	{"bot/identity", "forum", "rules that match entries to comments, independent of ledgers and wikis"},
	{"bot/several", "bot", "runs the rounds of several bots in turn; it makes no decisions"},
	{"bot/tracepage", "agent agent/event bot forum internal/message", "pages of steps, using the bot's types; functions that read and write pages are passed in"},
	{"bot/phrase", "forum", "judges posts only by their words; user names come from the forum"},
	{"bot/figures", "agent bot bot/reply internal/kg internal/rdf internal/sparql", "units and dates of an answer's numbers; the graph is passed as a function"},
	{"bot/reply", "agent agent/faithful forum internal/kg internal/rdf internal/sparql", "shows the agent's results to people, independent of wikis and ledgers"},
	{"bot/digest", "bot forum", "describes a day of the ledger as text; it does not read a wiki or a store"},
	{"bot/bottest", "bot internal/job", "a ledger in memory for tests and simulations"},
	{"bot/limit", "forum", "limits on replies and requests, as rules; they are independent of ledgers and wikis"},
	{"bot/title", "forum", "what a page's title says by itself"},
	{"bot", "bot/identity bot/limit bot/phrase bot/title forum agent agent/faithful bot/reply internal/job", "the bot makes the decisions; it reaches wiki, store and agent through its own interfaces"},
	{"dataset", "", "types of the benchmark, and the formats that other programs read"},
	{"bot/earlier", "agent bot dataset dataset/harvest internal/kg internal/lesson internal/rdf internal/sparql",
		"earlier answers on the forum; the graph is an interface"},
	{"dataset/harvest", "dataset forum internal/job internal/sparql internal/sparql/measure internal/sparql/rewrite internal/index/bm25 internal/kg internal/rdf", "turns the archive into candidates, never with the agent: a benchmark must not depend on the system that it judges"},
	{"dataset/datasettest", "dataset dataset/harvest internal/sparql internal/sparql/measure internal/kg",
		"a small harvest for tests of the later steps"},
	{"dataset/release", "dataset dataset/harvest internal/sparql internal/sparql/measure internal/sparql/rewrite internal/kg internal/rdf", "exports, splits, verifies and describes a finished benchmark; it declares an interface for the graph"},
	{"dataset/examples", "agent/event dataset dataset/harvest internal/index/bm25 internal/index/lookup internal/sparql internal/sparql/measure", "solved questions for any package that shows them; it uses only types of the agent"},
	{"dataset/transcript", "agent/event agent/exemplar agent/render internal/llm internal/rdf",
		"converts trajectories to other formats; it reads events and other systems' dialogues"},
	{"dataset/training", "agent/event dataset dataset/evalrun dataset/examples dataset/release dataset/transcript internal/sparql",
		"selects and describes the lines of data sets; package transcript writes the lines"},
	{"dataset/stats", "dataset internal/sparql internal/sparql/measure", "tables and plots of queries"},
	{"dataset/score", "internal/rdf internal/rdf/equal", "metrics compare rows; they are independent of queries, graphs and the scored system"},
	{"dataset/score/scorefile", "dataset dataset/score internal/kg internal/sparql internal/sparql/measure",
		"scores files of outputs; it declares an interface for the graph"},
	{"dataset/evalrun", "agent agent/confidence agent/event internal/ask dataset dataset/score dataset/score/scorefile dataset/transcript internal/job internal/sparql internal/sparql/measure internal/kg internal/llm internal/rdf internal/safe", "runs benchmarks of the agent through its own interfaces"},
	{"internal/web/annotate", "dataset dataset/annotate internal/kg internal/rdf internal/sparql internal/web/guard internal/web/layout",
		"pages use shared types and declare their own small interfaces"},
	{"internal/web", "internal/web/guard internal/web/health internal/web/layout", "assembles pages and APIs, which are passed as handlers"},
	{"internal/web/guard", "", "protects any page from strangers"},
	{"internal/web/layout", "internal/message internal/web/guard", "the frame of all pages must not depend on one of them"},
	{"internal/web/ask", "agent agent/event agent/policy internal/ask internal/kg internal/rdf internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/rewrite internal/sparql/variant internal/web/layout", "pages about runs; the service that answers and the graphs are passed in"},
	{"internal/web/health", "internal/safe", "checks are passed as functions"},
	{"internal/setup", "forum", "drafts pages as texts, independent of wikis and settings"},
	{"internal/web/desk", "bot bot/digest dataset/annotate forum internal/web/layout internal/web/login",
		"the operator's pages about the ledger, through bot's own functions; the wiki's renderer is passed as a function"},
	{"internal/web/runs", "agent/event dataset/evalrun internal/llm internal/treeview internal/web/layout",
		"pages about the files of runs; it reads them and never asks questions"},
	{"internal/web/live", "agent agent/event agent/render dataset/transcript internal/ask internal/llm",
		"GRASP's protocol, on top of its own interface"},
	{"internal/web/login", "internal/web/guard internal/web/layout", "decides who may see which pages, independent of the pages; its notes are stored through an interface"},
	{"internal/web/challenge", "agent internal/sparql/rewrite", "an API on top of its own interface"},
	{"internal/graphs/kindtest", "agent agent/event agent/preset agent/tool internal/graphs internal/kg internal/kg/kgtest internal/kg/registry internal/kg/remote internal/noisy internal/politehttp", "presets on graphs of all kinds, for tests with and without real engines"},
	{"internal/noisy", "internal/kg internal/llm internal/rdf internal/sparql",
		"plays the model; it uses requests and gold queries, never the agent"},
	{"internal/mcp", "agent agent/event agent/render agent/tool internal/ask internal/kg internal/rdf internal/sparql internal/sparql/check internal/sparql/explain internal/sparql/rewrite", "the graphs' tools for other agents; it never writes"},
	{"internal/metrics", "agent/event internal/ask", "counts events and requests; it makes no decisions"},
	{"internal/backup", "", "it copies files; databases are passed in"},
	{"internal/job", "", "types of durable work, independent of the work itself"},
	{"internal/bell", "", "it delivers notifications, independent of their content"},
	{"internal/crew", "bot internal/leader", "divides the bot's work among several processes"},
	{"internal/leader", "", "it handles leases, not the work done under them"},
	{"internal/store", "bot dataset dataset/annotate dataset/harvest internal/job internal/leader internal/llm internal/politehttp",
		"the store implements other packages' interfaces, so it needs their types"},
	{"dataset/annotate", "dataset dataset/harvest internal/kg internal/rdf internal/sparql internal/sparql/check internal/safe",
		"annotators' work and what a question must say; it is independent of pages and a database"},
	{"internal/chart", "", "drawing does not involve our types"},
	{"internal/httpjson", "", "answering in JSON does not involve our types"},
	{"internal/retain", "bot bot/identity forum", "deletes data of the bot's types whose time is over; it declares interfaces for the wiki and the store"},
	{"internal/harden", "", "core files and permissions do not involve our types"},
	{"internal/safe", "", "catching panics does not involve our types"},
	{"internal/text", "", "helpers for texts do not involve our types"},
	{"config", "", "only cmd uses settings; everything else is passed values"},
	{"internal/sandbox/wiki", "", "our own wiki for the demo must not depend on the bot that uses it"},
	{"internal/sandbox/data", "", "files and their tests"},
	{"internal/integration", "", "tests of the finished program, which it reaches as a process"},
	{"internal/integration/engines", "", "tests only: the dialect and the embedded graph against other engines"},
	{"internal/sandbox", "internal/...", "assembles the embedded default"},
	{"cmd/spinachbot", "...", "wires everything"},
	{"internal/testutil", "", "helpers for tests must not depend on the packages under test"},
	{"internal/testutil/corpus", "", "helpers for tests must not depend on the packages under test"},
	{"internal/archtest", "", "tests only"},
}

// everywhere lists the packages that every package may import: helpers that do not depend on our types.
const everywhere = "internal/text internal/httpjson internal/chart internal/logid"

// only lists packages that may be imported only by specific packages.
var only = []struct{ pkg, importers, reason string }{
	{"config", "cmd/spinachbot", "libraries get values, so that they can be used and tested without an environment"},
	{"internal/store", "cmd/spinachbot", "interfaces are declared by their consumers; a database behind them is wiring"},
	{"internal/sandbox", "cmd/spinachbot", "the demo must not leak into the product"},
	{"internal/mediawiki", "cmd/spinachbot internal/adapter",
		"only bot writes to a wiki, and it does so through bot.Wiki"},
}

func packages(t *testing.T) map[string]*build.Package {
	t.Helper()
	out, err := readPackages()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var readPackages = sync.OnceValues(func() (map[string]*build.Package, error) {
	const root = "../.."
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
	return out, err
})

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
	pkgs := packages(t)
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
			t.Errorf("%s has no row in the import rules: decide where it belongs", name)
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

// Outside tests, only conformance suites such as kgtest may import testing: if a program behaves differently under
// test, the test says nothing about the real program.
func TestNoTestingInProduction(t *testing.T) {
	for name, pkg := range packages(t) {
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
	for name, pkg := range packages(t) {
		if strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "tools/") || name == "internal/testutil/corpus" {
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
						t.Errorf("%s/%s:%d uses %s: the %s must be passed in", name, file, n+1, b, what)
					}
				}
			}
		}
	}
}

// The functions needed for asking a question are called in only one place. Code that opened a trajectory or an
// allowance elsewhere would be a second way to ask a question.
func TestOneWayToAsk(t *testing.T) {
	may := map[string]string{
		"event.Create": "internal/ask",
		// adapter: advice on a harvest candidate is not a question for the agent
		"llm.NewAllowance": "internal/ask internal/adapter",
	}
	for name, pkg := range packages(t) {
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
