// Package scale simulates the bot on a simulated clock: the real scheduler, publisher, workers, queue, limits and
// accounts, against a randomly simulated wiki, query service and model. `make scale` prints the tables in
// docs/scale.md.
//
// These parts are real: internal/crew, internal/leader, package bot with its gate and limits, internal/job, the budget
// account for a query service (internal/kg/remote) and the client and budget for the model (internal/llm). The clock
// belongs to a testing/synctest bubble, in which a month takes seconds.
package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/bot"
)

// perMonth is the number of queries in each month of the forum's archive, from July 2016 to September 2024. The
// simulation takes each day's load from a random month.
var perMonth = []int{
	1, 8, 12, 15, 18, 15, 21, 18, 27, 20, 31, 30, 22, 13, 24, 19, 11, 20, 31, 28, 26, 12, 26, 48,
	34, 60, 26, 51, 25, 35, 50, 60, 56, 24, 28, 45, 28, 35, 25, 29, 50, 26, 26, 34, 42, 64, 54, 49,
	30, 35, 37, 39, 66, 38, 37, 39, 25, 31, 20, 22, 22, 35, 26, 25, 10, 20, 29, 31, 36, 26, 16, 23,
	35, 37, 39, 25, 45, 28, 20, 13, 14, 10, 14, 6, 13, 7, 17, 23, 11, 15, 11, 27, 16, 22, 11, 21,
	8, 15, 9,
}

// Duration, cost and failure rate of external services.
const (
	queryMedian  = 1.2 // seconds, log-normal
	querySigma   = 1.3
	queryLimit   = 60  // in seconds; longer queries time out
	modelMedian  = 4.0 // seconds per call, log-normal
	modelSigma   = 0.6
	callTokens   = 2250 // input tokens per call; four calls add up to the target in docs/best.md
	answerTokens = 150
	inputUSD     = 2.50 // per million tokens
	outputUSD    = 10.0
	callUSD      = (callTokens*inputUSD + answerTokens*outputUSD) / 1e6
	lagShare     = 0.05 // share of saves that the wiki rejects because its databases lag
	outageShare  = 0.1  // share of days on which a service has an outage
	outageMean   = time.Hour
)

const (
	forumPage = "Wikidata:Request a query"
	account   = "SpinachBot"
)

// seeded returns a random source that depends only on a seed and on names.
func seeded(seed uint64, names ...string) *rand.Rand {
	h := fnv.New64a()
	_, _ = io.WriteString(h, strings.Join(names, "\x00"))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

func logNormal(r *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*r.NormFloat64())
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// outages are the times during which a service does not respond.
type outages [][2]time.Time

func newOutages(r *rand.Rand, days int) (out outages) {
	for day := range days {
		if r.Float64() < outageShare {
			start := time.Now().Add(time.Duration(day)*24*time.Hour + seconds(r.Float64()*86400))
			out = append(out, [2]time.Time{start, start.Add(seconds(r.ExpFloat64() * outageMean.Seconds()))})
		}
	}
	return out
}

func (o outages) now() bool {
	now := time.Now()
	return slices.ContainsFunc(o, func(w [2]time.Time) bool { return !now.Before(w[0]) && now.Before(w[1]) })
}

// section is a thread on the page; its version counts the changes.
type section struct {
	id, version int
	text        string
	begun       time.Time
	answered    time.Time
	replies     int
}

// wiki is a single forum page that accepts section edits.
type wiki struct {
	mu       sync.Mutex
	rng      *rand.Rand
	down     outages
	sections []section
	next     int
	rev      int64
	text     string
	revs     map[int64][]section // sections of the newest revisions, without their text
	asked    map[string]time.Time
	own      []bot.OwnEdit // newest last
	doubled  int           // number of requests that got two replies
}

func newWiki(seed uint64, name string, days int) *wiki {
	w := &wiki{rng: seeded(seed, "wiki", name), down: newOutages(seeded(seed, "lag", name), days),
		revs:  map[int64][]section{},
		asked: map[string]time.Time{}}
	w.ask("Reader")
	return w
}

// changed creates a revision of the current sections.
func (w *wiki) changed() {
	w.rev++
	var b strings.Builder
	refs := make([]section, len(w.sections))
	for i, s := range w.sections {
		b.WriteString(s.text)
		b.WriteString("\n\n")
		refs[i] = section{id: s.id, version: s.version}
	}
	w.text = strings.TrimRight(b.String(), "\n")
	w.revs[w.rev] = refs
	delete(w.revs, w.rev-500)
}

func sign(user string) string {
	return fmt.Sprintf("[[User:%s|%s]] ([[User talk:%s|talk]]) %s", user, user, user,
		time.Now().UTC().Format("15:04, 2 January 2006 (UTC)"))
}

func (w *wiki) ask(user string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	heading := fmt.Sprint("Request ", w.next)
	w.asked[heading] = time.Now()
	w.sections = append(w.sections, section{id: w.next, begun: time.Now(),
		text: "== " + heading + " ==\nWhich cats are like number " + fmt.Sprint(w.next) + "? " + sign(user)})
	w.changed()
}

// fullPage is the maximum number of threads on the page.
const fullPage = 300

// archive removes threads whose answer is older than the given duration, threads older than two weeks, and, if there
// are more than fullPage, the oldest threads.
func (w *wiki) archive(after time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.sections)
	w.sections = slices.DeleteFunc(w.sections, func(s section) bool {
		return s.id > 1 && (!s.answered.IsZero() && time.Since(s.answered) > after || time.Since(s.begun) > 14*24*time.Hour)
	})
	if more := len(w.sections) - fullPage; more > 0 {
		w.sections = slices.Delete(w.sections, 1, 1+more)
	}
	if len(w.sections) != n {
		w.changed()
	}
}

// Page implements [bot.Wiki].
func (w *wiki) Page(ctx context.Context, title string) (*bot.Revision, error) {
	time.Sleep(200 * time.Millisecond)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if title != forumPage {
		return &bot.Revision{Title: title, Missing: true, Now: time.Now()}, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return &bot.Revision{Title: title, ID: w.rev, Text: w.text, Timestamp: time.Now(), Now: time.Now()}, nil
}

// Save implements [bot.Wiki]. If someone has changed the section in the meantime, there is an edit conflict. If the
// process dies in the meantime, half of the edits are saved.
func (w *wiki) Save(ctx context.Context, e bot.Edit) (int64, error) {
	time.Sleep(700 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil && w.rng.IntN(2) == 0 {
		return 0, ctx.Err()
	}
	if w.down.now() || w.rng.Float64() < lagShare {
		return 0, bot.ErrNotSaved
	}
	base := w.revs[e.BaseRev]
	if e.Section < 1 || e.Section > len(base) {
		return 0, bot.ErrConflict
	}
	was := base[e.Section-1]
	for i := range w.sections {
		if s := &w.sections[i]; s.id == was.id && s.version == was.version {
			s.text = strings.TrimRight(strings.ReplaceAll(e.Text, "~~~~", sign(account)), "\n")
			s.version++
			s.answered = time.Now()
			if s.replies++; s.replies == 2 {
				w.doubled++
			}
			w.changed()
			w.own = append(w.own, bot.OwnEdit{RevID: w.rev, Summary: e.Summary, Time: time.Now()})
			return w.rev, ctx.Err()
		}
	}
	return 0, bot.ErrConflict
}

// OwnEdits implements [bot.Wiki].
func (w *wiki) OwnEdits(_ context.Context, _ string, since time.Time) (out []bot.OwnEdit, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range slices.Backward(w.own) {
		if e.Time.Before(since) {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

// Texts implements [bot.Wiki]. No one asks the same question twice in a minute.
func (w *wiki) Texts(context.Context, string, time.Time, time.Time) ([]string, error) {
	return nil, nil
}

// service is the query service or the model, as a transport: the request determines how long the response takes.
type service struct {
	down  outages
	taken func(url.Values) float64 // returns the duration of a query in seconds; nil for the model
}

// RoundTrip implements [http.RoundTripper].
func (s *service) RoundTrip(req *http.Request) (*http.Response, error) {
	answer := func(status int, kind, text string) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Request: req,
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text))}, nil
	}
	if s.down.now() {
		time.Sleep(time.Second)
		return answer(http.StatusServiceUnavailable, "text/plain", "down")
	}
	if s.taken == nil {
		return s.complete(req, answer)
	}
	took := s.taken(req.URL.Query())
	if err := sleep(req.Context(), seconds(min(took, queryLimit))); err != nil {
		return nil, err
	}
	if took >= queryLimit {
		return answer(http.StatusInternalServerError, "text/plain", "java.util.concurrent.TimeoutException")
	}
	return answer(http.StatusOK, "application/sparql-results+json",
		`{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":"http://www.wikidata.org/entity/Q146"}}]}}`)
}

// complete responds like a server that implements the OpenAI protocol.
func (s *service) complete(req *http.Request, answer func(int, string, string) (*http.Response,
	error)) (*http.Response, error) {
	var asked struct{ Messages []struct{ Content string } }
	if err := json.NewDecoder(req.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		return nil, errors.Join(errors.New("no messages"), err)
	}
	var took float64
	if _, err := fmt.Sscan(asked.Messages[0].Content, &took); err != nil {
		return nil, err
	}
	if err := sleep(req.Context(), seconds(took)); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"choices":[{"index":0,"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
		callTokens, answerTokens, callTokens+answerTokens)
	return answer(http.StatusOK, "application/json", out.String())
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
