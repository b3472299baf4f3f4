package bot_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/forum"
)

// crowd is people who write on the page, often twice a minute, anywhere. It knows what they wrote, by its own word in
// each post, and nothing of the bot but its name: it looks at the page and the archive alone.
type crowd struct {
	w       *world
	rng     *rand.Rand
	posts   []string       // the words of the posts, in order
	times   map[string]int // how often a word was posted
	edits   map[string]int
	archive string
	between bool // someone wrote between a request and its answer: replies are no longer under their posts
}

var postWord = regexp.MustCompile(`wd\d+x`)

func (c *crowd) threads() []forum.Thread {
	return forum.Parse(page, c.w.wiki.text(), forum.Options{}).Threads
}

// word makes the word of a new post, or repeats an earlier one.
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

// section adds a thread before a random one, or at the end.
func (c *crowd) section() {
	threads := c.threads()
	s := "== Thread " + fmt.Sprint(len(c.posts)) + " ==\n" + c.write(c.word()) + "\n\n"
	if k := c.rng.IntN(len(threads) + 1); k < len(threads) {
		c.insert(threads[k].Start, s)
		return
	}
	c.insert(len(c.w.wiki.text()), "\n\n"+s)
}

// reply writes under an answer of ours.
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
		c.insert(x.End, "\n"+strings.Repeat(":", x.Level)+c.write(c.word())+"\n")
	}
}

// call writes to the bot at the end of a thread or right behind its first post.
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

// edit changes a post, its heading, or the place of its thread.
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
		c.w.wiki.edit("== "+t.Heading+" ==", "== "+t.Heading+"a ==")
	case 3:
		rest := strings.TrimRight(text[:t.Start]+text[t.End:], "\n")
		c.w.wiki.put(page, rest+"\n\n"+thread)
	}
}

// tidy archives a thread in which everything is answered.
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

func (c *crowd) act() {
	switch c.rng.IntN(12) {
	case 0, 1, 2:
		c.section()
	case 3, 4, 5:
		c.reply()
	case 6:
		c.call()
	case 7, 8:
		c.edit()
	case 9:
		c.tidy()
	case 10:
		c.w.wiki.lost = true
	case 11:
		c.w.wiki.late = true
	}
}

// check counts the replies to each post.
func (c *crowd) check(t *testing.T, note string) {
	t.Helper()
	replies := map[string]int{}
	for _, th := range forum.Parse(page, c.archive+"\n\n"+c.w.wiki.text(), forum.Options{}).Threads {
		under := map[string]int{}
		for _, x := range th.Comments {
			if !x.By(account) {
				continue
			}
			word := postWord.FindString(x.Text)
			replies[word]++
			under[x.Parent]++
			for _, p := range th.Comments {
				if !c.between && p.ID == x.Parent && (under[p.ID] > 1 || postWord.FindString(p.Text) != word) {
					t.Errorf("%s: a reply to %s stands under the post %q, which has %d replies", note, word, p.Text,
						under[p.ID])
				}
			}
		}
	}
	for word, n := range c.times {
		if replies[word] != n {
			t.Errorf("%s: %d replies to %s, which was posted %d times", note, replies[word], word, n)
		}
		delete(replies, word)
	}
	for word, n := range replies {
		t.Errorf("%s: %d replies to %q, which nobody asked", note, n, word)
	}
}

// People write twice a minute, anywhere on the page, while the program ends at random calls and answers of the wiki
// are lost or late: each post is answered exactly once. CROWD_SEEDS sets how many such days are played.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("slow with the race detector; go test without -short runs it")
	}
	seeds := 10
	if n, err := strconv.Atoi(os.Getenv("CROWD_SEEDS")); err == nil {
		seeds = n
	}
	posted := 0
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(uint64(seed), 11))
		w := worldOn(t, "")
		w.cfg.FollowupLimit, w.cfg.RepliesPerHour, w.cfg.MaxStarts = 1000, 10000, 1000
		if rng.IntN(2) == 0 {
			w.cfg.AnswerDelay = 0
		}
		w.solver.echo = true
		w.wiki.put(stopPage, "run")
		w.wiki.post("Old", "Which cats were there?", "Alice")
		w.round()
		c := &crowd{w: w, rng: rng, times: map[string]int{}, edits: map[string]int{}}
		for range 10 + rng.IntN(20) {
			for range rng.IntN(4) {
				c.act()
			}
			if rng.IntN(3) == 0 {
				w.wiki.arrive()
			}
			if at := 1 + rng.IntN(150); rng.IntN(3) > 0 {
				w.crash(at, rng.IntN(2) == 0)
			}
			w.clock.pass(time.Duration(rng.IntN(20)) * time.Second)
			if rng.IntN(8) == 0 {
				w.clock.pass(20 * time.Minute)
			}
		}
		w.wiki.lost, w.wiki.late = false, false
		note := fmt.Sprint("seed ", seed)
		for range 4 {
			w.clock.pass(5 * time.Hour)
			w.settleDown(note)
			w.wiki.arrive()
		}
		c.check(t, note)
		posted += len(c.posts)
		if t.Failed() {
			for _, e := range w.entries() {
				t.Log(e.Key, e.State, e.Kind, e.Heading, e.Reason)
			}
			t.Fatalf("page:\n%s\narchive:\n%s", brief(w.wiki.text()), brief(c.archive))
		}
	}
	if posted < 5*seeds {
		t.Errorf("only %d posts: nothing was tested", posted)
	}
}

// brief leaves the tables out of replies.
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
