package runs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/web/layout"
)

type entry struct {
	Name     string // file name without extension
	Question string
	Source   string // origin of the question: ask, bot, challenge, live, mcp, web, …; triage if a run only judges a post
	Preset   string
	Begun    time.Time
	Ended    bool
	Ending   string // "answered" or the reason; "" for a run that is in progress or was cut off
	Usage    llm.Usage
	Sure     float64 // confidence in the answer

	changed time.Time
	size    int64
}

// Address returns the URL of the run's page.
func (e *entry) Address() string { return "/runs/question/" + escape(e.Name) }

// EndingKey returns the message key for the ending.
func (e *entry) EndingKey() string { return endingKey(e.Ending) }

// reasons lists the reasons for which a message runs.reason.… exists.
var reasons = []string{"actions", "cancelled", "cannot_publish", "day_money", "given_up", "graph_failed", "loop",
	"model_failed", "money", "no_model", "not_found", "time", "tokens"}

// endingKey returns the message key for an ending; a reason without a message is shown verbatim.
func endingKey(reason string) string {
	if slices.Contains(reasons, reason) {
		return "runs.reason." + reason
	}
	return reason
}

// Good reports whether there is an answer.
func (e *entry) Good() bool { return e.Ending == answered }

const answered = "answered"

// index caches the entries of the files in a folder.
type index struct {
	mu    sync.Mutex
	known map[string]entry // by name
}

const ending = ".jsonl"

// all returns the runs in the given folder, newest first. If the folder does not exist, it returns no runs. Unchanged
// files are not read again; files that cannot be read are omitted.
func (x *index) all(dir string) ([]entry, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	now := make(map[string]entry, len(files))
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ending)
		info, err := f.Info()
		if !ok || err != nil || !info.Mode().IsRegular() {
			continue
		}
		e, ok := x.known[name]
		if !ok || e.size != info.Size() || !e.changed.Equal(info.ModTime()) {
			if e, err = readEntry(dir, name, info); err != nil {
				continue
			}
		}
		now[name] = e
	}
	x.known = now
	out := make([]entry, 0, len(now))
	for _, e := range now {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b entry) int {
		if c := b.Begun.Compare(a.Begun); c != 0 {
			return c
		}
		return strings.Compare(b.Name, a.Name)
	})
	return out, nil
}

// Maximum number of bytes that the list reads from the start of a file, for its first line, and from its end.
const (
	maxHead = 1 << 20
	maxTail = 256 << 10
)

// readEntry reads the first and last events in a file.
func readEntry(dir, name string, info fs.FileInfo) (e entry, err error) {
	e = entry{Name: name, changed: info.ModTime(), size: info.Size(), Begun: info.ModTime(), Source: source(name)}
	f, err := os.OpenInRoot(dir, name+ending)
	if err != nil {
		return e, err
	}
	defer f.Close()
	head, err := bufio.NewReader(io.LimitReader(f, maxHead)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return e, err
	}
	var first event.Event
	if json.Unmarshal(head, &first) == nil && first.Event == "start" {
		if e.Preset = first.Preset; !first.Time.IsZero() {
			e.Begun = first.Time
		}
		if first.Question != nil {
			e.Question = first.Question.Text
		}
	}
	if _, err := f.Seek(max(0, info.Size()-maxTail), io.SeekStart); err != nil {
		return e, err
	}
	tail, err := io.ReadAll(io.LimitReader(f, maxTail))
	if err != nil {
		return e, err
	}
	lines := bytes.Split(bytes.TrimRight(tail, "\n"), []byte("\n"))
	var last event.Event
	if json.Unmarshal(lines[len(lines)-1], &last) == nil && last.Event == "end" {
		e.Ended, e.Sure = true, last.Confidence
		if e.Ending = last.Reason; last.Reason == "" {
			e.Ending = answered
		}
		if last.Usage != nil {
			e.Usage = *last.Usage
		}
	}
	return e, nil
}

// sources lists the ID prefixes of questions that were not asked on a wiki.
var sources = []string{"ask", "challenge", "live", "mcp", "web"}

// Sources of questions from a wiki: the bot answered a request, or only judged a post.
const (
	fromBot    = "bot"
	fromTriage = "triage"
)

// source returns the origin of the question in a file with a name such as ID-20261120T101500.000.
func source(name string) string {
	id, triage := runID(name)
	base, _, _ := strings.Cut(id, "-")
	switch {
	case triage:
		return fromTriage
	case slices.Contains(sources, base):
		return base
	}
	return fromBot
}

// perPage is the number of runs or items per page.
const perPage = 50

// endings lists the endings to filter by; unanswered means any ending without an answer.
var endings = []string{answered, "unanswered", "open"}

func (e *entry) is(what string) bool {
	switch what {
	case answered:
		return e.Good()
	case "unanswered":
		return e.Ended && !e.Good()
	case "open":
		return !e.Ended
	}
	return true
}

// list is the page that lists the questions.
type list struct {
	Entries []entry
	Pager   pager
	Search  string
	Sources []option
	Endings []option
	Most    int // maximum number of runs that can be compared
}

func (p *Pages) questions(w http.ResponseWriter, r *http.Request) {
	all, err := p.list.all(p.Trajectories)
	if err != nil {
		p.missing(w, r, err)
		return
	}
	var from []string
	for _, e := range all {
		from = append(from, e.Source)
	}
	search, src, how := word(r, "q"), word(r, "from"), word(r, "ending")
	words := strings.Fields(strings.ToLower(search))
	found := slices.DeleteFunc(all, func(e entry) bool {
		if src == "" && e.Source == fromTriage || src != "" && e.Source != src || !e.is(how) {
			return true
		}
		text := strings.ToLower(e.Question + " " + e.Name + " " + e.Preset)
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
	})
	l := list{Search: search, Most: mostCompared, Pager: paged(r, len(found), perPage),
		Sources: options(src, sorted(from), func(s string) string { return p.Site.Say(r, "runs.from."+s) }),
		Endings: options(how, endings, func(s string) string { return p.Site.Say(r, "runs.ending."+s) })}
	l.Entries = found[l.Pager.From:l.Pager.To]
	p.pages.Show(w, r, http.StatusOK, "list", layout.Page{Title: p.Site.Say(r, "runs.questions"), Section: "runs",
		Styles: []string{"runs/runs.css"}, Wide: true, Data: &l})
}
