// Package sandbox assembles the embedded default: a small graph of true facts from Wikidata, a small wiki with a forum
// page, and a scripted model, all behind one HTTP handler. It is what `spinachbot demo` and `spinachbot sandbox` serve,
// and most tests run against it.
//
// The graph's data, the forum page and the model's script are files in data/, embedded in the program. Everything is
// accessed over HTTP with the protocols of the real services, so the bot runs the same code as in production: /sparql
// is a SPARQL 1.1 endpoint, /w/api.php is the wiki with Wikibase's entity search, and /v1/chat/completions is the
// model.
package sandbox

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"sync"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/embedded/httpapi"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

//go:embed data/*.ttl data/forum.wikitext data/archive.wikitext data/botpage.wikitext data/script.txt data/expected.json data/followups.txt
var files embed.FS

// Graph returns the built-in slice. It is loaded on the first call; all graphs share its triples.
func Graph(opts embedded.Options) (*embedded.Graph, error) {
	g, err := slice()
	if err != nil {
		return nil, err
	}
	return g.With(opts), nil
}

var slice = sync.OnceValues(func() (*embedded.Graph, error) {
	names, err := fs.Glob(files, "data/*.ttl")
	if err != nil {
		return nil, err
	}
	b := embedded.NewBuilder()
	for _, name := range names {
		f, err := files.Open(name)
		if err != nil {
			return nil, err
		}
		err = b.Read(name, f)
		_ = f.Close() // closing an embedded file cannot fail
		if err != nil {
			return nil, fmt.Errorf("built-in slice: %w", err)
		}
	}
	return b.Graph(embedded.Options{}), nil
})

// Script reads the built-in model's script.
func Script() (*llm.Script, error) {
	f, err := files.Open("data/script.txt")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s, err := llm.ParseScript(f)
	if err != nil {
		return nil, fmt.Errorf("built-in script: %w", err)
	}
	return s, nil
}

// ForumPage returns the wikitext of the seeded forum.
func ForumPage() (string, error) {
	b, err := files.ReadFile("data/forum.wikitext")
	return string(b), err
}

// ArchiveMonth is the month of the seeded archive page, as it appears in the page's title.
const ArchiveMonth = "2026/02"

// ArchivePage returns the wikitext of the forum's seeded archive page.
func ArchivePage() (string, error) {
	b, err := files.ReadFile("data/archive.wikitext")
	return string(b), err
}

// FollowUps returns comments on the seeded threads that the built-in script can also answer.
func FollowUps() ([]wiki.FollowUp, error) {
	b, err := files.ReadFile("data/followups.txt")
	if err != nil {
		return nil, err
	}
	var out []wiki.FollowUp
	for _, block := range strings.Split(string(b), "\n== ")[1:] {
		parts := strings.SplitN(block, "\n", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[1], "author: ") {
			return nil, fmt.Errorf("built-in follow-ups: want a heading, an author and text, got %q", block)
		}
		out = append(out, wiki.FollowUp{Heading: parts[0], Author: strings.TrimPrefix(parts[1], "author: "),
			Text: strings.TrimSpace(parts[2])})
	}
	return out, nil
}

// BotPage returns the wikitext of the bot's user page.
func BotPage() (string, error) {
	b, err := files.ReadFile("data/botpage.wikitext")
	return string(b), err
}

// Parts specifies the servers to assemble. Each may be nil, in which case requests to its paths get a 404 response.
type Parts struct {
	Graph     *embedded.Graph
	Public    bool // whether other websites may read the graph
	Parallel  int  // maximum number of concurrent queries; unlimited if 0
	Wiki      *wiki.Wiki
	ForumPage string // title of the page that / redirects to
	Script    *llm.Script

	Notice    string          // shown at the top of the forum page
	FollowUps []wiki.FollowUp // offered below the bot's comments
	Status    func() string   // what the bot is doing; may be nil
}

// Handler serves the parts. The graph handles /sparql, /wiki/Special:EntityData/… and entity search; the wiki handles
// the rest of /w/api.php and /wiki/; the scripted model handles /v1/.
func Handler(lg *slog.Logger, p Parts) http.Handler {
	mux := http.NewServeMux()
	var entities *httpapi.EntityAPI
	access := httpapi.SameOrigin
	if p.Public {
		access = httpapi.AnyOrigin
	}
	if p.Graph != nil {
		entities = httpapi.NewEntityAPI(lg, p.Graph)
		mux.Handle("/sparql", access(httpapi.NewSPARQL(lg, p.Graph, p.Parallel)))
		mux.Handle("/wiki/Special:EntityData/", access(http.HandlerFunc(entities.EntityData)))
	}
	if p.Script != nil {
		mux.Handle("/v1/", p.Script.Handler())
	}
	if p.Wiki == nil {
		if entities != nil {
			mux.Handle("/w/api.php", access(entities))
		}
		return knownMethods(mux)
	}
	h := wiki.NewHandler(p.Wiki)
	h.Forum, h.QueryURL = p.ForumPage, "/query#"
	h.Notice, h.FollowUps, h.Status = p.Notice, p.FollowUps, p.Status
	if entities != nil {
		h.SPARQL = "/sparql"
		serve := access(entities).ServeHTTP
		h.Extra = map[string]http.HandlerFunc{"wbsearchentities": serve, "wbgetentities": serve}
		mux.HandleFunc("/w/api.php", func(w http.ResponseWriter, r *http.Request) {
			if httpapi.Searches(r) {
				serve(w, r)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	mux.Handle("/", h)
	return knownMethods(mux)
}

// knownMethods rejects HTTP methods that no handler here supports.
func knownMethods(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Allow", "GET, HEAD, POST, OPTIONS")
			http.Error(w, "This server answers GET, HEAD, POST and OPTIONS only.", http.StatusMethodNotAllowed)
		}
	})
}
