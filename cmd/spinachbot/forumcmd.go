package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spinachbot/spinachbot/forum"
)

const forumUsage = `usage: spinachbot forum parse [--format wikitext|html] [--wikitext FILE] [--title T] FILE

Prints a talk page as JSON: threads, their comments, and the SPARQL queries in them. FILE may be - for standard input.
HTML is Parsoid's, as rest.php/v1/page/TITLE/html returns it. With --wikitext, the source of the same revision, queries
that raw pipes cut come back as written. A page has at most 4 MB of wikitext or 16 MB of HTML; it is UTF-8.

{"threads":[{"heading":"…","level":2,"resolved":false,"comments":[{"id":"c-Author-20190605142000","author":"…","time":"2019-06-05T14:20:00Z","level":1,"parent":"…",
"under":"…","text":"…","queries":[{"kind":"template|link|code","name":"SPARQL","sparql":"…","salvaged":false}]}]}]}
A query that a link carries has the link's "url", too; behind a short link (see --short-links) that is all there is, and "sparql" is empty.

flags:
`

// runForum is the command "forum": it reads pages and touches no wiki.
func runForum(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("forum parse", flag.ContinueOnError)
	fs.SetOutput(stderr)
	format := fs.String("format", "wikitext", "what FILE holds: wikitext or html")
	source := fs.String("wikitext", "", "with --format html: a file with the wikitext of the same revision")
	short := fs.String("short-links", "", "hosts of link shorteners, separated by commas, whose links are listed as queries (default: none)")
	title := fs.String("title", "", "title of the page; it enters the ids of unsigned comments (default: the file's name)")
	queryTemplates := fs.String("query-templates", "", "names of the templates that hold a query, separated by commas (default: Wikidata's)")
	resolvedTemplates := fs.String("resolved-templates", "", "names of the templates that close a discussion, separated by commas (default: Wikidata's)")
	help := func(w io.Writer) {
		fmt.Fprint(w, forumUsage)
		fs.SetOutput(w)
		fs.PrintDefaults()
	}
	fs.Usage = func() {}
	if len(args) > 0 && args[0] == "parse" {
		args = args[1:]
	} else if len(args) == 0 || args[0] != "-h" && args[0] != "--help" && args[0] != "-help" {
		help(stderr)
		return 2
	}
	var files []string
	for rest := args; ; { // flags may stand behind FILE
		if err := fs.Parse(rest); errors.Is(err, flag.ErrHelp) {
			help(stdout)
			return 0
		} else if err != nil {
			return 2
		}
		if fs.NArg() == 0 {
			break
		}
		files = append(files, fs.Arg(0))
		rest = fs.Args()[1:]
	}
	if *format != "wikitext" && *format != "html" {
		fmt.Fprintf(stderr, "spinachbot forum parse: --format %q: want wikitext or html\n", *format)
		return 2
	}
	if *source != "" && *format != "html" {
		fmt.Fprintf(stderr, "spinachbot forum parse: --wikitext goes with --format html\n")
		return 2
	}
	if len(files) != 1 {
		fmt.Fprintf(stderr, "spinachbot forum parse: want one FILE (or -), got %d; see -h\n", len(files))
		return 2
	}
	opts := forum.Options{QueryTemplates: commas(*queryTemplates), ResolvedTemplates: commas(*resolvedTemplates), ShortLinks: commas(*short)}
	page, err := parsePage(*format, files[0], *source, *title, opts, stdin)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		fmt.Fprintf(stderr, "spinachbot forum parse: %v\n", err)
		return 1
	}
	enc := json.NewEncoder(stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(page); err != nil {
		fmt.Fprintf(stderr, "spinachbot forum parse: write result: %v\n", err)
		return 1
	}
	return 0
}

// parsePage reads a page in one of the formats. source names the wikitext's file beside HTML; an empty title is the file's name.
func parsePage(format, file, source, title string, opts forum.Options, stdin io.Reader) (*forum.Page, error) {
	limit := forum.MaxWikitext
	if format == "html" {
		limit = forum.MaxHTML
	}
	text, name, err := readPage(file, stdin, limit)
	if err != nil {
		return nil, err
	}
	if title == "" {
		title = name
	}
	if format == "wikitext" {
		return forum.Parse(title, string(text), opts), nil
	}
	if source != "" {
		wikitext, _, err := readPage(source, stdin, forum.MaxWikitext)
		if err != nil {
			return nil, err
		}
		opts.Wikitext = string(wikitext)
	}
	return forum.ParseHTML(title, bytes.NewReader(text), opts)
}

// readPage reads a file or, for "-", standard input. It refuses what is longer than limit bytes and what is not text.
func readPage(file string, stdin io.Reader, limit int) (text []byte, name string, err error) {
	in := stdin
	if file == "-" {
		file = "standard input"
	} else {
		f, err := os.Open(file)
		if err != nil {
			return nil, "", fmt.Errorf("read page: %w", err)
		}
		defer f.Close()
		in, name = f, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	}
	text, err = io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err != nil {
		return nil, "", fmt.Errorf("read page: %w", err)
	}
	if len(text) > limit {
		return nil, "", fmt.Errorf("read page: %s is longer than %d MB; give one page of a wiki", file, limit>>20)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, "", fmt.Errorf("read page: %s is not text: it has a zero byte at offset %d", file, i)
	}
	if !utf8.Valid(text) {
		return nil, "", fmt.Errorf("read page: %s is not UTF-8 text", file)
	}
	return text, name, nil
}

func commas(s string) []string {
	var out []string
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}
