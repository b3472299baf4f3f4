// Command benchharvest benchmarks harvesting ten years of a busy forum. It creates 120 archive pages with 10,000
// discussions and serves them from the sandbox's wiki, together with the built-in graph. Then it runs the harvest
// command on them and prints how much time and memory the command took, not counting the time for creating and serving
// the pages.
//
//	benchharvest path/to/spinachbot
//
// The archive is always the same. Each discussion has a request of a few sentences, two to five replies, and one or two
// queries. The queries combine ten classes with five properties, and the built-in slice can answer them. One discussion
// in eight has no query, one query in twenty is invalid, and one in forty returns no rows.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/sandbox"
	"github.com/spinachbot/spinachbot/internal/sandbox/wiki"
)

const (
	months      = 120
	discussions = 10_000
	prefix      = "Wikidata:Request a query/Archive/"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: benchharvest path/to/spinachbot")
		os.Exit(2)
	}
	if err := bench(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "benchharvest:", err)
		os.Exit(1)
	}
}

func bench(program string) error {
	dir, err := os.MkdirTemp("", "benchharvest")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	lg := slog.New(slog.DiscardHandler)
	graph, err := sandbox.Graph(embedded.Options{Name: "slice", Now: time.Now, Random: mathrand.Uint64,
		Timeout: time.Minute})
	if err != nil {
		return err
	}
	w, err := wiki.Open(lg, wiki.Config{SiteName: "bench", Now: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	size, err := fill(w)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: sandbox.Handler(lg, sandbox.Parts{Graph: graph, Wiki: w,
		ForumPage: "Wikidata:Request a query"}), ReadHeaderTimeout: time.Minute}
	go func() { _ = srv.Serve(l) }()
	defer func() { _ = srv.Close() }()
	fmt.Printf("%d pages, %d discussions, %.1f MB of wikitext\n", months, discussions, float64(size)/1e6)
	for _, name := range []string{"the first harvest", "the next one, with nothing new"} {
		if err := measure(name, program, dir, "http://"+l.Addr().String()); err != nil {
			return err
		}
	}
	return nil
}

// measure runs the program once and prints its time and memory.
func measure(name, program, dir, address string) error {
	cmd := exec.CommandContext(context.Background(), program, "harvest", "--out", dir+"/out")
	cmd.Env = []string{"HOME=" + dir, "WIKI_API=" + address + "/w/api.php", "SPARQL_ENDPOINT=" + address + "/sparql",
		"CONTACT=bench@example.org"}
	var log strings.Builder
	cmd.Dir, cmd.Stderr = dir, &log
	begin := time.Now()
	out, err := cmd.Output()
	took := time.Since(begin)
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, log.String())
	}
	state := cmd.ProcessState
	memory := "not known on this system"
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		memory = fmt.Sprintf("%.0f MB", float64(ru.Maxrss)/1024)
	}
	fmt.Printf("%s: %s, processor time %s, memory at most %s\n", name, took.Round(time.Second/10), (state.UserTime() +
		state.SystemTime()).Round(time.Second/10), memory)
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "year") || strings.HasPrefix(line, "all") {
			fmt.Print("  ", line)
		}
	}
	return nil
}

// fill creates the archive and returns its size in bytes.
func fill(w *wiki.Wiki) (size int, err error) {
	rnd := mathrand.New(mathrand.NewPCG(1, 2))
	n := 0
	for m := range months {
		var b strings.Builder
		b.WriteString("{{Archive header}}\n\n")
		for ; n < (m+1)*discussions/months; n++ {
			discussion(&b, rnd, n, m)
		}
		size += b.Len()
		if err := w.Seed(fmt.Sprintf("%s%04d/%02d", prefix, 2014+m/12, m%12+1), b.String(), "Bench"); err != nil {
			return size, err
		}
	}
	return size, nil
}

var (
	people   = strings.Fields("Ann Bob Cid Dora Emil Fay Gus Hal Ida Jon Kim Leo Mia Ned Ona Pia")
	subjects = strings.Fields("countries rivers mountains films presidents painters islands lakes languages capitals")
	filler   = strings.Fields(`I have looked at the examples and at the documentation but could not find how this is done with the query service and would be glad about any help since
my own attempt runs into the time limit whenever it is asked for more than a few of them`)
	classes = []int{6256, 3624078, 515, 5119, 8502, 4022, 23442, 11424, 34770, 5}
)

func discussion(b *strings.Builder, rnd *mathrand.Rand, n, m int) {
	who := func() string { return people[rnd.IntN(len(people))] }
	sign := func(name string, day int) string {
		return fmt.Sprintf(" [[User:%s|%s]] ([[User talk:%s|talk]]) %02d:%02d, %d %s %d (UTC)\n", name, name, name,
			rnd.IntN(24), rnd.IntN(60), day, time.Month(m%12+1), 2014+m/12)
	}
	subject := subjects[n%len(subjects)]
	fmt.Fprintf(b, "== %s, request %d ==\nHello, I need a list of %s number %d.", strings.ToUpper(subject[:1])+subject[1:],
		n, subject, n)
	for range 20 + rnd.IntN(60) {
		b.WriteString(" " + filler[rnd.IntN(len(filler))])
	}
	asker, day := who(), 1+n%20
	b.WriteString("." + sign(asker, day))
	replies := 2 + rnd.IntN(4)
	for r := range replies {
		b.WriteString(strings.Repeat(":", 1+r%3))
		if r == 1 && n%8 != 0 || r == 2 && n%16 == 1 {
			b.WriteString("Try this: {{SPARQL|query=" + query(rnd, n) + "\n}}")
		} else {
			b.WriteString("Thank you, that is what I was looking for.")
		}
		b.WriteString(sign(who(), day+r))
	}
	b.WriteString("\n")
}

// query generates a query in the style of the forum.
func query(rnd *mathrand.Rand, n int) string {
	class := classes[rnd.IntN(len(classes))]
	switch {
	case n%20 == 7:
		return fmt.Sprintf("SELECT ?item WHERE { ?item wdt:P31 wd:Q%d .", class)
	case n%40 == 9:
		class = 900_000_000 + n
	}
	return fmt.Sprintf(`SELECT ?item ?itemLabel ?value WHERE {
  ?item wdt:P31/wdt:P279* wd:Q%d . # what is asked for
  OPTIONAL { ?item wdt:P%d ?value . }
  SERVICE wikibase:label { bd:serviceParam wikibase:language "[AUTO_LANGUAGE],en" . }
}
LIMIT %d`, class, []int{17, 30, 36, 571, 625}[rnd.IntN(5)], 1+n)
}
