package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil"
)

const (
	account  = "SpinachBot"
	operator = "Admin"
)

// question is a request that the scripted model answers.
type question struct {
	words    string
	parts    []string // strings that a reply with the correct answer contains
	followUp *question
}

var questions = []question{
	{words: "What is the capital of Ivory Coast according to Wikidata? An item number would be nice.", parts: []string{"Yamoussoukro", "Q1008"}},
	{words: "How many landlocked countries are there in Africa? I only need the number for a quiz.", parts: []string{"16", "Q123480"},
		followUp: &question{words: "Great. Could you list them by name, with the capital of each?", parts: []string{"P36", "Q123480", "Chad"}}},
	{words: "Which is the highest mountain in Pakistan, and how high is it? A border peak counts too.", parts: []string{"K2", "8611", "Q843"}},
	{words: "Hallo, welche Länder grenzen an Deutschland, und was sind ihre Hauptstädte? Gern mit deutschen Namen.",
		parts: []string{"Kopenhagen", "Q183", "P47"}, followUp: &question{
			words: "Prima! Jetzt bitte nur die Länder, in denen Deutsch eine Amtssprache ist.", parts: []string{"Q188", "Österreich"}}},
}

// thread is a request and everything that follows from it.
type thread struct {
	heading  string
	q        question
	asked    time.Time
	follow   bool // its follow-up was posted
	archived bool
	gone     bool // archived before it was answered
}

// town simulates the users of the forum and what they see. All of it runs in one goroutine.
type town struct {
	page, archive string
	alice, bob    *person
	admin         *person
	rng           *rand.Rand
	history       *testutil.History
	last          int64 // revision
	threads       []*thread
	byHeading     map[string]*thread
	meddling      chan string // headings of sections that the bot is about to save
	meddled       int
	remarks       int
	archives      int
	noAnswer      []string
	replies       map[string]int // number of replies by kind: answers, and text instead of answers
	waits         []time.Duration
}

func newTown(vars map[string]string, seed uint64) (*town, error) {
	t := &town{page: vars["FORUM_PAGE"], archive: vars["FORUM_ARCHIVE_PREFIX"], rng: stream(seed, "people", 0),
		history: testutil.NewHistory(account), byHeading: map[string]*thread{}, meddling: make(chan string),
		replies: map[string]int{}}
	t.history.Reply = t.judge
	var err error
	for name, p := range map[string]**person{"Alice": &t.alice, "Bob": &t.bob, "Admin": &t.admin} {
		if *p, err = login(vars, name); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// plainQueries disables syntax highlighting of queries on the wiki: highlighting starts a process for each query, which
// accounts for most of the time that a save takes.
func (t *town) plainQueries() error {
	return t.admin.change("Template:SPARQL", func(page string) string {
		return strings.Replace(page, "{{#tag:syntaxhighlight|{{{query|}}}|lang=sparql}}", "{{#tag:pre|{{{query|}}}}}", 1)
	})
}

var stampOf = regexp.MustCompile(`\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)

// judge returns what is wrong with a reply, or "".
func (t *town) judge(heading, reply string) string {
	// The text that was added may start in the middle of a line if the next line starts the same way.
	end := strings.LastIndex(reply, "(UTC)") + len("(UTC)")
	reply = strings.Trim(reply[end:]+reply[:end], "\n")
	if f := testutil.Faults(reply, account, operator); len(f) > 0 {
		return fmt.Sprintf("with faults %q: %s", f, reply)
	}
	th := t.byHeading[heading]
	wait := time.Since(th.asked)
	t.waits = append(t.waits, wait)
	q := &th.q
	if t.history.Posted[heading] > 1 {
		q = th.q.followUp
	}
	if !strings.Contains(reply, "SELECT") {
		t.replies["no answer"]++
		t.noAnswer = append(t.noAnswer, stampOf.ReplaceAllString(strings.ReplaceAll(strings.TrimSpace(reply), "\n", " "), ""))
		return ""
	}
	t.replies["answer"]++
	// Follow-ups and requests in one thread may be answered in any order.
	for _, q := range []*question{q, &th.q, th.q.followUp} {
		if q != nil && holds(reply, q.parts) {
			return ""
		}
	}
	return fmt.Sprintf("this is not the answer: %s", reply)
}

// fewAnswers returns an error message if fewer than half of the requests have an answer: a bot that abandons every
// request with a reason would satisfy all other rules.
func (t *town) fewAnswers() string {
	if n := t.replies["answer"]; n == 0 || 2*n < len(t.threads) {
		return fmt.Sprintf("%d requests, and only %d answers", len(t.threads), n)
	}
	return ""
}

// findsDouble plants a duplicate reply in the history, after a reply that is on the page, and reports whether the
// checker finds it.
func (t *town) findsDouble() bool {
	page := t.history.Text()
	for _, th := range t.threads {
		from, to, ok := bounds(page, th.heading)
		if !ok || t.history.Posted[th.heading] == 0 {
			continue
		}
		signed := signature.FindString(page[from:to])
		before := len(t.history.Wrong())
		t.history.Add(testutil.Revision{User: account, Text: page[:from] + strings.Replace(page[from:to], signed, signed+"\n:Once more. "+signed, 1) +
			page[to:]})
		return len(t.history.Wrong()) > before
	}
	return true // there are no replies left on the page
}

func holds(reply string, parts []string) bool {
	for _, p := range parts {
		if !strings.Contains(reply, p) {
			return false
		}
	}
	return true
}

func (t *town) look() error {
	revs, last, err := t.admin.news(t.page, t.last)
	if err != nil {
		return err
	}
	t.last = last
	for _, r := range revs {
		t.history.Add(r)
	}
	return nil
}

// open counts the threads that are waiting for a reply and were started less than the given time ago.
func (t *town) open(within time.Duration) (n int) {
	for _, th := range t.threads {
		if !th.gone && t.history.Posted[th.heading] < t.history.Requests[th.heading] && time.Since(th.asked) < within {
			n++
		}
	}
	return n
}

// ask posts the next request. Two in five get a follow-up, if the question has one.
func (t *town) ask() error {
	n := len(t.threads) + 1
	th := &thread{heading: fmt.Sprintf("Request %d", n), q: questions[t.rng.IntN(len(questions))], asked: time.Now()}
	if t.rng.Float64() < 0.2 {
		th.q.followUp = nil
	}
	t.threads = append(t.threads, th)
	t.byHeading[th.heading] = th
	t.history.Requests[th.heading]++
	who := t.alice
	if t.rng.IntN(2) == 0 {
		who = t.bob
	}
	// The same words from the same user would be a repetition, which does not get a separate reply.
	return who.ask(t.page, th.heading, fmt.Sprintf("%s (No. %d on my list)", th.q.words, n))
}

var signature = regexp.MustCompile(`\[\[User:` + account + `\|[^\]]*\]\][^\n]*\d\d:\d\d, \d+ \w+ \d{4} \(UTC\)`)

// bounds returns the offsets of a section, including its heading; ok is false if there is no such section.
func bounds(page, heading string) (from, to int, ok bool) {
	from = strings.Index(page, "== "+heading+" ==\n")
	if from < 0 {
		return 0, 0, false
	}
	to = len(page)
	if i := strings.Index(page[from+1:], "\n== "); i >= 0 {
		to = from + 1 + i + 1
	}
	return from, to, true
}

func (t *town) followUps() error {
	for _, th := range t.threads {
		if th.q.followUp == nil || th.follow || th.archived || t.history.Posted[th.heading] == 0 {
			continue
		}
		th.follow, th.asked = true, time.Now()
		t.history.Requests[th.heading]++
		posted := false
		err := t.alice.change(t.page, func(page string) string {
			from, to, ok := bounds(page, th.heading)
			if !ok {
				return ""
			}
			at := signature.FindStringIndex(page[from:to])
			if at == nil {
				return ""
			}
			posted = true
			end := from + at[1]
			return page[:end] + "\n::" + th.q.followUp.words + " ~~~~" + page[end:]
		})
		if !posted {
			t.history.Requests[th.heading]--
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remark adds a comment by Bob under a request.
func (t *town) remark(heading string) error {
	return t.bob.change(t.page, func(page string) string {
		from, to, ok := bounds(page, heading)
		if !ok {
			return ""
		}
		line := strings.Index(page[from:to], "(UTC)\n")
		if line < 0 {
			return ""
		}
		end := from + line + len("(UTC)\n")
		t.remarks++
		return page[:end] + ":A nice one, this. ~~~~\n" + page[end:]
	})
}

// fullPage is the number of threads on the page above which threads are archived.
const fullPage = 14

// tidy moves threads to an archive: finished threads and, sometimes, an unfinished one. The unfinished thread must
// already be in the ledger, because a request that leaves the page before the bot has read it cannot be answered.
// noticed returns the number of ledger entries for each heading.
func (t *town) tidy(noticed func() map[string]int) error {
	if strings.Count(t.history.Text(), "\n== ") < fullPage {
		return nil
	}
	var leave []*thread
	for _, th := range t.threads {
		if th.archived {
			continue
		}
		done := t.history.Posted[th.heading] >= t.history.Requests[th.heading] && (th.q.followUp == nil || th.follow)
		if done || time.Since(th.asked) > 10*time.Second && t.rng.Float64() < 0.01 {
			leave = append(leave, th)
		}
	}
	if len(leave) < 6 {
		return nil
	}
	known := noticed()
	leave = slices.DeleteFunc(leave, func(th *thread) bool { return known[th.heading] < t.history.Requests[th.heading] })
	var moved strings.Builder
	err := t.admin.change(t.page, func(page string) string {
		moved.Reset()
		for _, th := range leave {
			if from, to, ok := bounds(page, th.heading); ok {
				moved.WriteString(page[from:to])
				page = page[:from] + page[to:]
			}
		}
		return page
	})
	if err != nil {
		return err
	}
	for _, th := range leave {
		th.archived = true
	}
	if err := t.look(); err != nil {
		return err
	}
	for _, th := range leave { // the thread may be archived before it is answered
		th.gone = t.history.Posted[th.heading] < t.history.Requests[th.heading]
	}
	t.archives++
	return t.admin.edit(map[string][]string{"title": {fmt.Sprintf("%sChaos %d", t.archive, t.archives)}, "text": {moved.String()}})
}

// elsewhere returns the pages other than the forum page that the bot has edited.
func (t *town) elsewhere() ([]string, error) {
	out, err := t.admin.call(map[string][]string{"action": {"query"}, "list": {"usercontribs"}, "ucuser": {account}, "uclimit": {"max"},
		"ucprop": {"title"}, "ucdir": {"newer"}})
	if err != nil {
		return nil, err
	}
	var other []string
	list, _ := dig(out, "query", "usercontribs").([]any)
	for _, x := range list {
		if title := text(x, "title"); title != t.page {
			other = append(other, title)
		}
	}
	return other, nil
}
