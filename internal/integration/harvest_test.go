//go:build integration

package integration

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/dataset"
	"github.com/spinachbot/spinachbot/internal/sparql"
)

// shape is a planted discussion: its wikitext and the expected result.
type shape struct {
	heading, text string
	query         string         // the last query in the discussion, or ""
	reason        dataset.Reason // "" if it must become a candidate
	requester     string
	responses     int
}

func stamp(user string, hour, day int) string {
	return fmt.Sprintf("[[User:%s|%s]] ([[User talk:%s|talk]]) %02d:00, %d June 2019 (UTC)", user, user, user, hour, day)
}

// countries returns a query with results in the built-in slice. A different n gives a different query.
func countries(n int) string {
	return fmt.Sprintf("SELECT ?c WHERE { ?c wdt:P31 wd:Q6256 } LIMIT %d", n)
}

// shapes returns the discussions for one archive month. short is the link shortener's address; n makes the queries
// differ from month to month.
func shapes(short string, n int) []shape {
	tmpl := func(q string) string { return "{{SPARQL|query=" + strings.ReplaceAll(q, "|", "{{!}}") + "\n}}" }
	ask := func(text string) string { return text + " " + stamp("Ann", 10, 3) + "\n" }
	reply := func(level int, user, text string, hour int) string {
		return strings.Repeat(":", level) + text + " " + stamp(user, hour, 4) + "\n"
	}
	one := func(heading, answer, query string, reason dataset.Reason) shape {
		return shape{heading, ask("A request, named "+heading+".") + reply(1, "Bob", answer, 11), query, reason, "Ann", 1}
	}
	const glued = "SELECT ?c WHERE { ?c wdt:P31 wd:Q6256 }"
	return []shape{
		{"Nested replies", ask("Which countries are there?") + reply(1, "Bob", "Try "+tmpl(countries(n+1)), 11) +
			reply(2, "Ann", "Thanks, but fewer?", 12) +
			reply(3, "Bob", "Then "+tmpl(countries(n+2)), 13) + reply(4, "Ann", "Perfect, thank you!", 14) +
			"* And a word from the side. " + stamp("Cid", 15, 5) + "\n", countries(n + 2), "", "Ann", 5},
		{"Unsigned", "I forgot to sign this. {{unsigned|Eve|10:00, 3 June 2019}}\n" + reply(1, "Bob", tmpl(countries(n+3)),
			11), countries(n + 3), "", "Eve", 1},
		one("Raw pipes", "{{SPARQL|query=SELECT ?c WHERE { ?c wdt:P31|wdt:P279 wd:Q6256 } LIMIT 7\n}}",
			"SELECT ?c WHERE { ?c wdt:P31|wdt:P279 wd:Q6256 } LIMIT 7", ""),
		one("Glued braces", "{{SPARQL|query="+glued+"}}", glued, ""),
		one("Escaped pipes", tmpl("SELECT ?c WHERE { ?c wdt:P31|wdt:P279 wd:Q6256 } LIMIT 8"),
			"SELECT ?c WHERE { ?c wdt:P31|wdt:P279 wd:Q6256 } LIMIT 8", ""),
		{"Several", ask("Two ways?") + reply(1, "Bob", "First "+tmpl(countries(n+4))+" and second "+tmpl(countries(n+5)),
			11) +
			reply(1, "Cid", "Or <syntaxhighlight lang=\"sparql\" inline>"+countries(n+6)+"</syntaxhighlight>", 12),
			countries(n + 6), "", "Ann", 2},
		one("A link", "See ["+strings.ReplaceAll(sparql.URL(countries(n+7)), "_", "%5F")+" the query]", countries(n+7), ""),
		one("A short link", "See "+short+"/good"+fmt.Sprint(n)+" please", countries(n+8), ""),
		one("A short link to elsewhere", "See "+short+"/elsewhere please", "", dataset.BadShortLink),
		{"Resolved", "{{Section resolved|1=" + stamp("Ann", 18, 6) + "}}\n" + ask("Done already?") +
			reply(1, "Bob", tmpl(countries(n+9)), 11), countries(n + 9), "", "Ann", 1},
		{"Sub-headings", ask("A long one.") + "=== First try ===\n" + reply(1, "Bob", tmpl(countries(n+10)), 11) +
			"=== Second try ===\n" + reply(1, "Bob", tmpl(countries(n+11)), 12), countries(n + 11), "", "Ann", 2},
		one("Broken markup", "''open italics, '''bold'', [[a broken link and <b>open "+tmpl(countries(n+12)), countries(n+12),
			""),
		one("No query", "Sorry, that is not in the data.", "", dataset.NoQuery),
		{"Only the bot", ask("Dear bot?") + reply(1, "SpinachBot", tmpl(countries(n+13)), 11), "", dataset.BotOnly, "Ann", 1},
		{"The bot came last", ask("Dear all?") + reply(1, "Bob", tmpl(countries(n+14)), 11) + reply(1, "SpinachBot",
			tmpl(countries(n+15)), 12), countries(n + 14), "", "Ann", 2},
		one("Nothing found", tmpl("SELECT ?c WHERE { ?c wdt:P31 wd:Q999999999 }"),
			"SELECT ?c WHERE { ?c wdt:P31 wd:Q999999999 }", dataset.Empty),
		one("Not SPARQL", tmpl("SELECT ?c WHERE { ?c wdt:P31 }"), "SELECT ?c WHERE { ?c wdt:P31 }", dataset.SyntaxError),
		one("Elsewhere", tmpl("SELECT ?c WHERE { SERVICE <https://evil.example/sparql> { ?c ?p ?o } }"),
			"SELECT ?c WHERE { SERVICE <https://evil.example/sparql> { ?c ?p ?o } }", dataset.RefusedHost),
		one("Papers", tmpl("SELECT ?c WHERE { ?c wdt:P2860 wd:Q999999999 }"),
			"SELECT ?c WHERE { ?c wdt:P2860 wd:Q999999999 }", dataset.Scholarly),
	}
}

// harvestSite runs the program with a MediaWiki that has an archive, a graph, and a link shortener.
type harvestSite struct {
	t       *testing.T
	bin     string
	env     []string
	planted map[string]shape // by page and heading
	admin   *user
}

func newHarvestSite(t *testing.T) *harvestSite {
	t.Helper()
	short := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/good%d", &n); err == nil {
			w.Header().Set("Location", sparql.URL(countries(n+8)))
		} else {
			w.Header().Set("Location", "https://example.org/")
		}
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(short.Close)
	w := startWiki(t)
	s := &harvestSite{t: t, bin: binary(t), planted: map[string]shape{}}
	graph := startSandbox(t, s.bin)
	admin := w.user("Admin")
	s.admin = admin
	for i, month := range []string{"2019/11", "2019/12", "2020/01"} {
		title, text := w.vars["FORUM_ARCHIVE_PREFIX"]+month, "{{Archive header}}\nThis is an archive.\n\n"
		for _, x := range shapes(short.URL, 100*i) {
			text += "== " + x.heading + " ==\n" + x.text + "\n"
			s.planted[title+"#"+x.heading] = x
		}
		admin.edit(url.Values{"title": {title}, "text": {text}})
	}
	admin.edit(url.Values{"title": {w.vars["FORUM_ARCHIVE_PREFIX"] + "2019/11/fr"},
		"text": {"== Non ==\nPas une archive. " + stamp("Ann", 10, 3)}})
	s.env = []string{"HOME=" + t.TempDir(), "WIKI_API=" + w.vars["WIKI_API"], "FORUM_ARCHIVE_PREFIX=" +
		w.vars["FORUM_ARCHIVE_PREFIX"], "SPARQL_ENDPOINT=" + graph + "/sparql",
		"SHORTLINK_HOSTS=" + strings.TrimPrefix(short.URL, "http://")}
	return s
}

func (s *harvestSite) start(ctx context.Context, dir string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	cmd := exec.CommandContext(ctx, s.bin, append([]string{"harvest", "--out", dir}, args...)...)
	var out bytes.Buffer
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = s.env, s.t.TempDir(), &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, &out
}

// whole runs a harvest to completion.
func (s *harvestSite) whole(dir string, args ...string) {
	s.t.Helper()
	cmd, out := s.start(context.Background(), dir, args...)
	if err := cmd.Wait(); err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
}

func (s *harvestSite) read(dir, name string) []dataset.Candidate {
	s.t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	cs, err := dataset.ReadCandidates(f)
	if err != nil {
		s.t.Fatal(err)
	}
	return cs
}

// times matches the parts that may differ between two harvests of the same archive.
var times = regexp.MustCompile(`"(read|ran_at)":"[^"]*"|"ms":\d+`)

// content returns the contents of a harvest's files without the times.
func (s *harvestSite) content(dir string) map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, name := range []string{dataset.CandidatesFile, dataset.RejectedFile, dataset.FunnelFile,
		dataset.FunnelPicture} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			s.t.Fatal(err)
		}
		out[name] = times.ReplaceAllString(string(b), "")
	}
	files, err := os.ReadDir(filepath.Join(dir, dataset.ResultsFolder))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(filepath.Join(dir, dataset.ResultsFolder, f.Name()))
		if err != nil {
			s.t.Fatal(err)
		}
		out[f.Name()] = string(b)
	}
	return out
}

// TestHarvest checks that every planted discussion and every planted last query is harvested exactly from a real
// MediaWiki, that HTML and wikitext produce the same result, that the funnel's figures match the planted discussions,
// and that thirty kills at random moments change nothing.
func TestHarvest(t *testing.T) {
	t.Parallel()
	s := newHarvestSite(t)
	dir := filepath.Join(t.TempDir(), "whole")
	begin := time.Now()
	s.whole(dir)
	took := time.Since(begin)
	s.compare(dir)
	want := s.content(dir)
	t.Run("readers agree", func(t *testing.T) {
		for _, source := range []string{"html", "wikitext"} {
			other := filepath.Join(t.TempDir(), source)
			s.whole(other, "--source", source)
			for name, body := range s.content(other) {
				if body != want[name] {
					t.Errorf("%s: %s differs:\n%s", source, name, firstDifference(body, want[name]))
				}
			}
		}
	})
	t.Run("kills", func(t *testing.T) {
		seed := uint64(time.Now().UnixNano())
		rnd := rand.New(rand.NewPCG(seed, 1))
		t.Logf("seed %d, a whole harvest takes %v", seed, took)
		for killed, round := 0, 0; killed < 30; round++ {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(round))
			for killed < 30 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.Int64N(int64(took))/3))
				cmd, _ := s.start(ctx, dir)
				err := cmd.Wait()
				cancel()
				if err == nil {
					break // the harvest ended before the kill
				}
				killed++
			}
			s.whole(dir)
			for name, body := range s.content(dir) {
				if body != want[name] {
					t.Fatalf("round %d: %s differs:\n%s", round, name, firstDifference(body, want[name]))
				}
			}
		}
	})
	t.Run("taken away", s.takenAway)
}

// compare compares a harvest with the planted discussions.
func (s *harvestSite) compare(dir string) {
	t := s.t
	t.Helper()
	seen := map[string]bool{}
	var total dataset.Counts
	total.Rejected = map[dataset.Reason]int{}
	for _, c := range append(s.read(dir, dataset.CandidatesFile), s.read(dir, dataset.RejectedFile)...) {
		key := c.Provenance.Page + "#" + c.Provenance.Heading
		x, ok := s.planted[key]
		if !ok || seen[key] {
			t.Errorf("%s was not planted, or came twice", key)
			continue
		}
		seen[key] = true
		stage := dataset.Staged
		if x.reason != "" {
			stage = dataset.Rejected
		}
		if c.Original != x.query || c.Stage != stage || c.Reason != x.reason || c.Conversation.Requester != x.requester ||
			c.Conversation.Responses != x.responses {
			t.Errorf("%s: query %q, %s %s (%s), %s, %d responses; want %+v", key, c.Original, c.Stage, c.Reason, c.Detail,
				c.Conversation.Requester, c.Conversation.Responses, x)
		}
		for _, n := range c.Notes {
			if strings.Contains(n, "differ") || strings.Contains(n, "wikitext only") {
				t.Errorf("%s: %s", key, n)
			}
		}
	}
	for key := range s.planted {
		if !seen[key] {
			t.Errorf("%s was not harvested", key)
		}
	}
	for _, x := range s.planted {
		total.Discussions++
		total.Rejected[x.reason]++
		if x.query != "" {
			total.WithQuery++
		}
		if x.reason == "" {
			total.Staged++
		}
	}
	delete(total.Rejected, "")
	total.Valid = total.WithQuery - total.Rejected[dataset.SyntaxError] - total.Rejected[dataset.RefusedHost]
	total.Run = total.Staged + total.Rejected[dataset.Empty] + total.Rejected[dataset.Scholarly]
	f, err := dataset.ReadFunnel(dir)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(f.Total) != fmt.Sprint(total) || f.Pages.Read != 3 || len(f.Years) != 2 ||
		f.Years[1].Discussions != total.Discussions/3 {
		t.Errorf("funnel %+v, want the total %+v", f, total)
	}
}

// firstDifference shows where two strings start to differ.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-200)
	return fmt.Sprintf("got  …%.500s\nwant …%.500s", a[from:], b[from:])
}
