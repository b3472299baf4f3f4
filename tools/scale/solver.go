package scale

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/llm"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// solver calls the model four times on average, and runs a query after every call except the last.
type solver struct {
	s     *system
	model *llm.Client
	graph *remote.Service
}

func (v *solver) call(ctx context.Context, key, purpose string, rng *rand.Rand) error {
	took := logNormal(rng, modelMedian, modelSigma)
	_, err := v.model.Complete(ctx, llm.Request{Purpose: purpose, MaxTokens: 500,
		Messages: []llm.Message{{Role: "user", Content: fmt.Sprint(took) + strings.Repeat(" cat", callTokens)}}})
	if err == nil {
		v.s.called(key)
	}
	if agent.EndingOf(err).Reason == agent.DayMoney {
		now := time.Now().UTC()
		v.s.wait(money, now.Truncate(24*time.Hour).Add(24*time.Hour).Sub(now))
	}
	return err
}

func (v *solver) Triage(ctx context.Context, key, _ string, posts []agent.Post) (*agent.Triage, error) {
	defer v.working(time.Now())
	if err := v.call(ctx, key, "triage", seeded(v.s.Seed, key, "triage")); err != nil {
		return nil, err
	}
	return &agent.Triage{Request: true, Question: posts[len(posts)-1].Text, Language: "en", Why: "simulated"}, nil
}

func (v *solver) Solve(ctx context.Context, key string, _ agent.Question) (*agent.Outcome, error) {
	defer v.working(time.Now())
	rng := seeded(v.s.Seed, key, "solve")
	calls := 2 + rng.IntN(5)
	for n := range calls {
		if err := v.call(ctx, key, "act", rng); err != nil {
			return nil, err
		}
		if n == calls-1 {
			break
		}
		took := logNormal(rng, queryMedian, querySigma)
		if v.s.Own {
			took /= 4
		}
		began := time.Now()
		_, err := v.graph.Query(ctx, fmt.Sprintf("SELECT ?x WHERE { ?x ?y ?z } # %f", took))
		v.s.wait(endpoint, max(time.Since(began)-seconds(min(took, queryLimit)), 0))
		if kind := kg.KindOf(err); err != nil && kind != kg.Timeout { // the model continues after a timeout
			return nil, err
		}
	}
	const query = "SELECT ?x WHERE { ?x wdt:P31 wd:Q146 . }"
	return &agent.Outcome{Report: "It is the cat.", Language: "en", Confidence: 1, Answer: &agent.Answer{
		SPARQL: query, Ran: query, RanAt: time.Now(), Endpoint: "query.wikidata.org",
		Labels: map[string]string{"Q146": "house cat"},
		Table:  &kg.Table{Vars: []string{"x"}, Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q146")}}}}}, nil
}

func (v *solver) working(began time.Time) { v.s.wait(work, time.Since(began)) }

func (s *system) called(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[key]++
}

// Bench makes the workers answer benchmark questions. It returns the time taken, the cost in US dollars and the share
// of questions that failed because of a service.
func Bench(ctx context.Context, s Setting, questions int) (took time.Duration, usd, failed float64, err error) {
	s.Raised, s.Load = true, 1e6
	sys := &system{Setting: s, days: llm.NewMemoryDays(), pace: remote.NewMemoryStore(),
		waits: map[string]time.Duration{}, held: map[string]int{}, calls: map[string]int{},
		model: &service{}, graph: &service{taken: taken}}
	jobs := make(chan int)
	var all sync.WaitGroup
	began := time.Now()
	for w := range s.Workers {
		if w%10 > 0 {
			continue
		}
		v, err := sys.solver(slog.New(slog.DiscardHandler), w/10)
		if err != nil {
			return 0, 0, 0, err
		}
		for range min(10, s.Workers-w) {
			all.Go(func() {
				for n := range jobs {
					if _, err := v.Solve(ctx, fmt.Sprint("question ", n), agent.Question{}); err != nil {
						sys.count("failed")
					}
				}
			})
		}
	}
	for n := range questions {
		jobs <- n
	}
	close(jobs)
	all.Wait()
	s.Days = int(time.Since(began).Hours()/24) + 1
	sys.Days = s.Days
	return time.Since(began), sys.spent() / float64(questions), float64(sys.held["failed"]) / float64(questions), nil
}

// taken returns the duration of a query, which it reads from the query's comment.
func taken(form url.Values) float64 {
	_, text, _ := strings.Cut(form.Get("query"), "# ")
	var took float64
	_, _ = fmt.Sscan(text, &took)
	return took
}

// solver creates the model and the query service for a process.
func (s *system) solver(lg *slog.Logger, n int) (*solver, error) {
	rng := seeded(s.Seed, "process", fmt.Sprint(n))
	var mu sync.Mutex
	rnd := func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return rng.Float64()
	}
	cfg := llm.Config{BaseURL: "http://model.invalid/v1", Model: "simulated", InputUSDPerMTok: inputUSD,
		OutputUSDPerMTok: outputUSD, MaxTokens: 500}
	budget := llm.NewBudget(s.days, time.Now, llm.Limits{USD: dailyUSD * s.more()})
	model, err := llm.NewClient(lg, cfg, s.model, clock{}, rnd, budget)
	if err != nil {
		return nil, err
	}
	pace := remote.DefaultPace()
	if s.Own {
		pace = remote.Pace{}
	}
	graph, err := remote.New(lg, remote.Config{Address: "http://graph.invalid/sparql", UserAgent: "scale/1 (simulation)",
		Pace: pace}, s.graph, clock{}, rnd, s.pace)
	if err != nil {
		return nil, err
	}
	return &solver{s, model, graph}, nil
}
