package main

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Fault is a way in which one of the bot's calls goes wrong.
type Fault string

// The faults. [proxy.play] implements them.
const (
	none      Fault = ""
	slow      Fault = "slow"
	drop      Fault = "connection reset before the request"
	lost      Fault = "done, but the answer is lost"
	late      Fault = "held back, done after the bot hung up"
	truncated Fault = "answer cut in the middle"
	drip      Fault = "answer drop by drop"
	busy      Fault = "503 with Retry-After"
	limited   Fault = "429 with Retry-After"
	webPage   Fault = "a web page instead of JSON"
	garbage   Fault = "garbage"
	empty     Fault = "empty answer"
	redirect  Fault = "redirect to another host"
	kill      Fault = "kill -9 before the call"
	killAfter Fault = "kill -9 after the call"

	lag        Fault = "maxlag"
	readOnly   Fault = "read-only"
	throttled  Fault = "ratelimited"
	loggedOut  Fault = "login lost"
	badToken   Fault = "token lost"
	conflict   Fault = "someone edits the section just before the save"
	captcha    Fault = "captcha"
	disallowed Fault = "abuse filter disallows"
	blocked    Fault = "account blocked, for one save"

	timeout Fault = "query timeout"

	noChoices Fault = "no choices"
	refusal   Fault = "the model refuses"
	badStream Fault = "broken JSON of the right shape"
	quota     Fault = "insufficient_quota"
)

// weighted maps faults to their relative frequencies among the faults for the same part.
type weighted map[Fault]int

// Faults that can happen in any part of the bot's environment.
var everywhere = weighted{slow: 12, drop: 6, lost: 6, truncated: 4, drip: 3, busy: 5, limited: 4, webPage: 4,
	garbage: 4, empty: 3, kill: 2, killAfter: 2}

func and(more weighted) weighted {
	all := maps.Clone(everywhere)
	maps.Copy(all, more)
	return all
}

// Parts of the bot's environment.
const (
	wikiPart  = "wiki"
	savePart  = "save" // calls that write to the wiki
	graphPart = "endpoint"
	modelPart = "model"
)

var faultsOf = map[string]weighted{
	wikiPart: and(weighted{redirect: 2, lag: 8, readOnly: 3, throttled: 3, loggedOut: 6}),
	savePart: {slow: 8, drop: 6, lost: 10, late: 8, truncated: 4, webPage: 3, garbage: 3, busy: 4, limited: 3,
		kill: 8, killAfter: 8, lag: 6, readOnly: 4, throttled: 4, loggedOut: 4, badToken: 4, conflict: 12,
		captcha: 1, disallowed: 1, blocked: 1},
	graphPart: and(weighted{timeout: 6}),
	modelPart: and(weighted{noChoices: 4, refusal: 2, badStream: 4, quota: 1}),
}

// schedule decides which calls fail, and how, as a function of the seed, the part and the call number.
type schedule struct {
	seed  uint64
	rates map[string]float64 // fraction of calls that fail, by part

	mu    sync.Mutex
	calm  bool // no more faults
	calls map[string]uint64
	count map[string]map[Fault]int
}

func newSchedule(seed uint64, rate float64) *schedule {
	return &schedule{seed: seed, calls: map[string]uint64{}, count: map[string]map[Fault]int{},
		// an answer takes some fifty calls to the endpoint and one save
		rates: map[string]float64{wikiPart: rate, graphPart: rate / 4, modelPart: rate, savePart: min(1, rate*8)}}
}

// stream returns the random source for a purpose.
func stream(seed uint64, purpose string, n uint64) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(purpose))
	return rand.New(rand.NewPCG(seed, h.Sum64()+n))
}

// at returns the fault for a part's nth call, and the random source that determines the fault's size.
func (s *schedule) at(part string, n uint64) (Fault, *rand.Rand) {
	rng := stream(s.seed, part, n)
	if rng.Float64() >= s.rates[part] {
		return none, rng
	}
	kinds := faultsOf[part]
	sum := 0
	for _, w := range kinds {
		sum += w
	}
	left := rng.IntN(sum)
	for _, f := range slices.Sorted(maps.Keys(kinds)) {
		if left -= kinds[f]; left < 0 {
			return f, rng
		}
	}
	return none, rng
}

// next counts a call and returns its fault.
func (s *schedule) next(part string) (Fault, *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[part]++
	f, rng := s.at(part, s.calls[part])
	if s.calm {
		return none, rng
	}
	s.noted(part, f)
	return f, rng
}

// noted counts a fault. The caller must hold s.mu.
func (s *schedule) noted(part string, f Fault) {
	if f == none {
		return
	}
	if s.count[part] == nil {
		s.count[part] = map[Fault]int{}
	}
	s.count[part][f]++
}

func (s *schedule) calmDown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calm = true
}

// Event is something that happens to processes or servers at a given time.
type Event struct {
	After  time.Duration // since the previous event
	Kind   string
	Worker int
	Length time.Duration
}

// Kinds of events.
const (
	evKill     = "kill -9"
	evStop     = "SIGSTOP, then SIGCONT"
	evTerm     = "SIGTERM"
	evCutOff   = "cut off from everything"
	evReadOnly = "wiki read-only"
	evWikiDown = "wiki unreachable"
	evDatabase = "database restarted"
)

// event returns the nth event in a run. A worker is stopped or cut off for longer than its lease lasts.
func event(seed uint64, n uint64, workers int, every, lease time.Duration) Event {
	rng := stream(seed, "event", n)
	kinds := []string{evKill, evKill, evStop, evTerm, evCutOff, evReadOnly, evWikiDown}
	if workers > 1 {
		kinds = append(kinds, evDatabase)
	}
	e := Event{After: every/2 + time.Duration(rng.Int64N(int64(every))), Kind: kinds[rng.IntN(len(kinds))],
		Worker: rng.IntN(workers)}
	switch e.Kind {
	case evStop, evCutOff:
		e.Length = lease*3/2 + time.Duration(rng.Int64N(int64(2*lease)))
	case evReadOnly, evWikiDown:
		e.Length = 2*time.Second + time.Duration(rng.Int64N(int64(8*time.Second)))
	}
	return e
}
