package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/show"
)

const forumDoc = `Prints a talk page as JSON: threads, their comments, and the SPARQL queries in them. FILE may be -
for standard input.

HTML means Parsoid's, from rest.php/v1/page/TITLE/html. Give the wikitext of the same revision with --wikitext to
restore queries that raw pipes cut. A page has at most 4 MB of wikitext or 16 MB of HTML, in UTF-8.

The form of the output:

  {"threads":[{"heading":"…","level":2,"resolved":false,"comments":[
    {"id":"c-Author-20190605142000","author":"…","time":"2019-06-05T14:20:00Z",
     "level":1,"parent":"…","under":"…","text":"…","queries":[
      {"kind":"template|link|code","name":"SPARQL","sparql":"…","salvaged":false}]}]}]}

A query in a link also has the link's "url". For a short link (see --short-links) only the URL is known, and
"sparql" is empty.`

func forumCommand(e *env) *cobra.Command {
	return group(e, "forum", "read a talk page", forumParseCommand(e))
}

type forumFlags struct {
	format, source, title string
	opts                  forum.Options
}

// forumParseCommand returns the "forum parse" command, which only reads files and does not contact a wiki.
func forumParseCommand(e *env) *cobra.Command {
	c := newCmdline(e, "parse [flags] FILE", "print a talk page as threads and comments, in JSON", forumDoc)
	var f forumFlags
	var short, queryTemplates, resolvedTemplates string
	format := c.choice("format", "wikitext", "`form` of FILE: wikitext or html", "wikitext", "html\tParsoid's")
	c.fs.StringVar(&f.source, "wikitext", "", "with --format html: a `file` with the wikitext of the same revision")
	c.fs.StringVar(&f.title, "title", "", "`title` of the page; the IDs of unsigned comments depend on it (default: the file's name)")
	c.fs.StringVar(&short, "short-links", "", "`hosts` of link shorteners, separated by commas, whose links are listed as queries (default: none)")
	c.fs.StringVar(&queryTemplates, "query-templates", "",
		"`names` of the templates that contain a query, separated by commas (default: Wikidata's)")
	c.fs.StringVar(&resolvedTemplates, "resolved-templates", "",
		"`names` of the templates that close a discussion, separated by commas (default: Wikidata's)")
	return c.command(func(ctx context.Context, args []string) int {
		f.opts = forum.Options{QueryTemplates: commas(queryTemplates), ResolvedTemplates: commas(resolvedTemplates),
			ShortLinks: commas(short)}
		f.format = *format
		switch {
		case f.source != "" && f.format != "html":
			return misuse(e, "forum parse: --wikitext needs --format html; to read wikitext alone, give it as FILE")
		case len(args) != 1:
			return misuse(e, "forum parse: want one FILE, or - for standard input; got %d", len(args))
		}
		page, err := f.parse(args[0], e.stdin)
		switch {
		case err != nil:
		case ctx.Err() != nil:
			err = ctx.Err()
		case len(page.Threads) == 0:
			err = fmt.Errorf("this is not a talk page: it has no threads; want %s", map[string]string{
				"wikitext": "wikitext with headings (== … ==) and signed comments; HTML needs --format html",
				"html":     "Parsoid's HTML, from rest.php/v1/page/TITLE/html",
			}[f.format])
		}
		if err != nil {
			return fail(e, fmt.Errorf("forum parse: %w", err))
		}
		show.JSON(e.stdout, page)
		return exitOK
	})
}

func (f *forumFlags) parse(file string, stdin io.Reader) (*forum.Page, error) {
	limit := forum.MaxWikitext
	if f.format == "html" {
		limit = forum.MaxHTML
	}
	text, title, err := readPage(file, stdin, limit)
	if err != nil {
		return nil, err
	}
	if f.title != "" {
		title = f.title
	}
	opts := f.opts
	if f.format == "wikitext" {
		return forum.Parse(title, string(text), opts), nil
	}
	if f.source != "" {
		wikitext, _, err := readPage(f.source, stdin, forum.MaxWikitext)
		if err != nil {
			return nil, err
		}
		opts.Wikitext = string(wikitext)
	}
	return forum.ParseHTML(title, bytes.NewReader(text), opts)
}

// readPage reads a file or, for "-", standard input. It rejects input that is longer than limit bytes or is not text.
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
		return nil, "", fmt.Errorf("read page: %s is longer than %d MB; specify a single wiki page", file, limit>>20)
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return nil, "", fmt.Errorf("read page: %s is not text: it contains a zero byte at offset %d", file, i)
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
