package bot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/bot"
	"github.com/spinachbot/spinachbot/bot/identity"
	"github.com/spinachbot/spinachbot/forum"
)

// crowd simulates people who write anywhere on the page, up to twice a minute. Each of their posts contains a unique
// word, which identifies it. The crowd knows only the bot's name and what is on the page, in its history and in the
// archive.
type crowd struct {
	w       *world
	rng     *rand.Rand
	posts   []string       // the words in the posts, in order
	times   map[string]int // number of times that a word was posted
	edits   map[string]int
	gone    map[string]int    // number of times that people removed a post containing the word
	refused map[string]bool   // headings of threads from which our reply was removed, in which the bot does not post again
	words   map[string]string // word of a post, by each hash that the post has had
	archive string
	between bool // someone wrote between a request and its answer, so replies no longer follow their posts
	// Administrators remove and hide replies, but headings never change, so a post with a different heading, different
	// words and no reply is new.
	hides bool
	quiet bool // people start threads but do not write in other people's threads

	known  map[string]bool // page texts whose words were recorded
	text   string          // the page's text when it was last read
	parsed *forum.Page
}

var postWord = regexp.MustCompile(`wd\d+x`)

func (c *crowd) threads() []forum.Thread {
	if text := c.w.wiki.text(); c.parsed == nil || c.text != text {
		c.text, c.parsed = text, forum.Parse(page, text, forum.Options{})
	}
	return c.parsed.Threads
}

// word returns a new word for a post, or repeats an earlier one.
func (c *crowd) word() string {
	if len(c.posts) > 0 && c.rng.IntN(6) == 0 {
		return c.posts[len(c.posts)-1]
	}
	return fmt.Sprintf("wd%dx", len(c.posts))
}

func (c *crowd) write(word string) string {
	c.posts = append(c.posts, word)
	c.times[word]++
	user := "Alice"
	if c.rng.IntN(4) == 0 {
		user = "Bob"
	}
	return "Which cats are like " + word + "? " + c.w.wiki.sign(user)
}

func (c *crowd) insert(at int, s string) {
	text := c.w.wiki.text()
	c.w.wiki.put(page, text[:at]+s+text[at:])
}

// section adds a thread before a random thread, or at the end.
func (c *crowd) section() {
	threads := c.threads()
	s := "== Thread " + fmt.Sprint(len(c.posts)) + " ==\n" + c.write(c.word()) + "\n\n"
	if k := c.rng.IntN(len(threads) + 1); k < len(threads) {
		c.insert(threads[k].Start, s)
		return
	}
	c.insert(len(c.w.wiki.text()), "\n\n"+s)
}

// reply writes a comment under one of our replies.
func (c *crowd) reply() {
	var ours []forum.Comment
	for _, t := range c.threads() {
		for _, x := range t.Comments {
			if x.By(account) {
				ours = append(ours, x)
			}
		}
	}
	if len(ours) > 0 {
		x := ours[c.rng.IntN(len(ours))]
		if x.Level >= 6 && x.Time != nil && c.w.wiki.now().Sub(*x.Time) < 2*time.Minute {
			return // the bot would take the poster for another bot
		}
		c.insert(x.End, "\n"+strings.Repeat(":", x.Level)+c.write(c.word())+"\n")
	}
}

// call adds a post that mentions the bot, at the end of a thread or directly after its first post.
func (c *crowd) call() {
	threads := c.threads()
	t := threads[c.rng.IntN(len(threads))]
	if len(t.Comments) == 0 {
		return
	}
	at := t.Comments[0].End
	if c.rng.IntN(2) == 0 {
		at = t.Comments[len(t.Comments)-1].End
	} else {
		c.between = true
	}
	c.insert(at, "\n[[User:SpinachBot]]: "+c.write(c.word())+"\n")
}

// edit changes a post or its heading, or moves its thread.
func (c *crowd) edit() {
	threads := c.threads()
	t := threads[c.rng.IntN(len(threads))]
	text := c.w.wiki.text()
	thread := text[t.Start:t.End]
	switch c.rng.IntN(4) {
	case 0, 1:
		if word := postWord.FindString(thread); word != "" && c.edits[word] < 3 {
			c.edits[word]++
			c.w.wiki.edit(" "+word, " really "+word)
		}
	case 2:
		if c.hides {
			return
		}
		c.w.wiki.edit("== "+t.Heading+" ==", "== "+t.Heading+"a ==")
	case 3:
		rest := strings.TrimRight(text[:t.Start]+text[t.End:], "\n")
		c.w.wiki.put(page, rest+"\n\n"+thread)
	}
}

// tidy archives a thread in which every post has been answered.
func (c *crowd) tidy() {
	threads := c.threads()
	t := threads[c.rng.IntN(len(threads))]
	text := c.w.wiki.text()
	posts, replies := 0, 0
	for _, x := range t.Comments {
		if x.By(account) {
			replies++
		} else {
			posts++
		}
	}
	if posts == replies {
		c.archive += text[t.Start:t.End] + "\n\n"
		c.w.wiki.put(page, text[:t.Start]+text[t.End:])
	}
}

// remove deletes a thread, whether or not it was answered, as people do when they archive by hand or remove off-topic
// threads.
func (c *crowd) remove() {
	threads := c.threads()
	t := threads[c.rng.IntN(len(threads))]
	text := c.w.wiki.text()
	for _, x := range t.Comments {
		if !x.By(account) {
			c.gone[postWord.FindString(x.Text)]++
		}
	}
	c.w.wiki.put(page, text[:t.Start]+text[t.End:])
}

const resolved = "{{Section resolved|1=~~~~}}\n"

// resolve marks a thread as resolved, or removes all such marks.
func (c *crowd) resolve() {
	if text := c.w.wiki.text(); strings.Contains(text, resolved) {
		c.w.wiki.put(page, strings.ReplaceAll(text, resolved, ""))
		return
	}
	threads := c.threads()
	heading := "== " + threads[c.rng.IntN(len(threads))].Heading + " ==\n"
	c.w.wiki.edit(heading, heading+resolved)
}

// hide removes our newest reply and hides it, as an administrator does.
func (c *crowd) hide() {
	revs := c.w.wiki.pages[page]
	for i := len(revs) - 1; i > 0; i-- {
		if _, ours := c.w.wiki.summary[revs[i].ID]; !ours {
			continue
		}
		if i == len(revs)-1 {
			for _, key := range forum.Markers(revs[i].Text) {
				if t, _ := forum.FindReply(forum.Parse(page, revs[i].Text, forum.Options{}), revs[i].Text, key, account); t != nil &&
					!strings.Contains(revs[i-1].Text, key) {
					c.refused[t.Heading] = true
				}
			}
			c.w.wiki.put(page, revs[i-1].Text)
		}
		c.w.wiki.hidden[revs[i].ID] = []string{"", "summary", "user summary", "user text", "summary text", "user summary text",
			"user summary text"}[c.rng.IntN(7)]
		return
	}
}

func (c *crowd) act() {
	n := 14
	if c.quiet || len(c.threads()) == 0 {
		n = 4
	}
	switch c.rng.IntN(n) {
	case 0, 1, 2, 3:
		c.section()
	case 4, 5, 6:
		c.reply()
	case 7:
		c.call()
	case 8, 9:
		c.edit()
	case 10:
		c.tidy()
	case 11:
		c.remove()
	case 12:
		c.resolve()
	case 13:
		if c.hides {
			c.hide()
		}
	}
	c.learn()
}

// learn records the hashes of all posts on the page, by which check later tells the entries apart.
func (c *crowd) learn() {
	for _, t := range c.threads() {
		for i := range t.Comments {
			x := &t.Comments[i]
			if c.known[x.Text] || x.By(account) {
				continue
			}
			c.known[x.Text] = true
			if word := postWord.FindString(x.Text); word != "" {
				c.words[identity.TextHash(x)] = word
			}
		}
	}
}

// said counts the replies to each word in the whole page history, including removed replies. It reports an error if one
// of our edits does more than insert lines.
func (c *crowd) said(report func(format string, args ...any)) map[string]int {
	out := map[string]int{}
	revs := c.w.wiki.pages[page]
	for i := range revs {
		if _, ours := c.w.wiki.summary[revs[i].ID]; !ours {
			continue
		}
		old, text := lines(revs[i-1].Text), lines(revs[i].Text)
		start := 0
		for start < len(old) && old[start] == text[start] {
			start++
		}
		added := len(text) - len(old)
		if added <= 0 || !slices.Equal(old[start:], text[start+added:]) {
			report("revision %d changes what others wrote:\n%s\n--- was:\n%s", revs[i].ID, brief(revs[i].Text),
				brief(revs[i-1].Text))
			continue
		}
		out[postWord.FindString(strings.Join(text[start:start+added], "\n"))]++
	}
	return out
}

func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

// check verifies that each post has exactly one reply, or none if an entry gives a reason or people removed the post.
func (c *crowd) check(report func(format string, args ...any)) {
	for _, th := range forum.Parse(page, c.archive+"\n\n"+c.w.wiki.text(), forum.Options{}).Threads {
		under := map[string]int{}
		for _, x := range th.Comments {
			if !x.By(account) {
				if c.refused[th.Heading] {
					c.gone[postWord.FindString(x.Text)]++
				}
				continue
			}
			word := postWord.FindString(x.Text)
			under[x.Parent]++
			for _, p := range th.Comments {
				if !c.between && p.ID == x.Parent && (under[p.ID] > 1 || postWord.FindString(p.Text) != word) {
					report("a reply to %s is under the post %q, which has %d replies", word, p.Text, under[p.ID])
				}
			}
		}
	}
	closed := map[string]int{}
	for _, e := range c.w.entries() {
		switch {
		case e.State.Open():
			report("%s is still %s (%s)", e.Key, e.State, e.Reason)
		case e.State != bot.Posted && e.Reason != "":
			closed[c.words[e.Text]]++
		}
	}
	replies := c.said(report)
	for _, word := range slices.Sorted(maps.Keys(c.times)) {
		switch n, want := replies[word], c.times[word]; {
		case n > want:
			report("doubled: %d replies to %s, which was posted %d times", n, word, want)
		case n+closed[word]+c.gone[word] < want:
			report("lost: %d replies to %s, which was posted %d times; %d were given up, %d removed", n, word, want,
				closed[word], c.gone[word])
		}
		delete(replies, word)
	}
	for word, n := range replies {
		report("%d replies to %q, which nobody asked", n, word)
	}
}

// brief is a solver whose replies have no tables.
func brief(text string) string {
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if strings.Contains(l, "(UTC)") || strings.HasPrefix(l, "==") || strings.Contains(l, "spinachbot:") ||
			strings.Contains(l, "wd") {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}

// A request in progress is not lost if its poster adds comments with the same signature in the meantime.
func TestTwinsWhileSolving(t *testing.T) {
	w := newWorld(t)
	w.wiki.put(stopPage, "run")
	w.round()
	w.wiki.post("Cats", "Which cats are there?", "Alice")
	sig := w.wiki.sign("Alice")
	w.clock.pass(time.Hour)
	if _, err := w.bot().Notice(t.Context()); err != nil {
		t.Fatal(err)
	}
	solved := 0
	w.solver.onSolve = func() {
		solved++
		w.wiki.put(page, fmt.Sprintf("%s\n== More ==\nAn announcement %d. %s\n", w.wiki.text(), solved, sig))
		cfg := w.cfg
		w.cfg.Holder = "scheduler"
		if _, err := w.bot().Notice(t.Context()); err != nil {
			t.Error(err)
		}
		w.cfg = cfg
	}
	w.cfg.Holder, w.cfg.Lease = "worker", time.Minute
	for range 6 {
		if _, err := w.bot().Work(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.pass(5 * time.Minute)
	}
	if e := w.entries()[0]; solved != 1 || e.State != bot.Proposed {
		t.Errorf("solved %d times, %s: %s", solved, e.State, e.Reason)
	}
}
