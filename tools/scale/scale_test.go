package scale

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spinachbot/spinachbot/internal/testutil/corpus"
)

func play(t *testing.T, s Setting) (r *Result) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		if r, err = Play(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// With twenty times today's load for one day, all requests are answered. The same seed produces the same results.
func TestScale(t *testing.T) {
	s := Setting{Load: 20, Workers: 3, Wikis: 1, Days: 1, Seed: 1}
	r := play(t, s)
	// 27 queries a month are 18 a day at twenty times the load, and the months differ.
	if r.Requests < 5 || r.Requests > 80 || r.Answered+r.GivenUp+r.Open != r.Requests || r.Answered < r.Requests*9/10 {
		t.Errorf("%+v", r)
	}
	if r.Median < 15*time.Minute || r.P95 < r.Median || r.USD < 0.01 || r.USD > 0.2 {
		t.Errorf("%+v", r)
	}
	if again := play(t, s); again.Requests != r.Requests || again.Answered != r.Answered {
		t.Errorf("the same seed: %+v, then %+v", r, again)
	}
	s.Seed = 2
	if other := play(t, s); reflect.DeepEqual(other, r) {
		t.Error("another seed plays the same")
	}
}

// Even if processes are killed every half hour, no replies are lost or duplicated: other processes take over the work
// once its lease has expired. [Play] fails if a request has two replies.
func TestDeaths(t *testing.T) {
	s := Setting{Load: float64(corpus.Pick(50, 100)), Workers: corpus.Pick(10, 30), Wikis: 1, Raised: true, Deaths: 0.5,
		Days: 1, Seed: 3}
	r := play(t, s)
	if r.Deaths < 100 { // three processes, four days
		t.Errorf("only %d deaths", r.Deaths)
	}
	if r.Answered+r.GivenUp+r.Open != r.Requests || r.Open > 0 || r.Answered < r.Requests*9/10 || r.Requests < 20 {
		t.Errorf("%+v", r)
	}
}

// The plot has a dot for each point, and its scale is in powers of ten.
func TestPlot(t *testing.T) {
	svg := logPlot("Waits", "hours", "load", []curve{{"a", []point{{1, 0.3}, {10, 0.4}, {1000, 30}}}, {"b & c", []point{{1, 0.2}}}})
	for want, n := range map[string]int{"<circle": 4, ">0.1<": 1, ">1<": 2, ">100<": 2, ">1000<": 1, "b &amp; c<": 1,
		"a, 1000: 30<": 1} {
		if got := strings.Count(svg, want); got != n {
			t.Errorf("%s: %d times, want %d\n%s", want, got, n, svg)
		}
	}
}

// A service with 50 seconds of query time per minute answers no more than that, no matter how many users ask. A
// question requires three queries of 1.2 s * exp(1.3²/2) = 2.8 s on average, with a maximum of 60 s. That is about 8 s
// per question, so about six questions are answered per minute, plus a few from the account's initial balance.
func TestBench(t *testing.T) {
	rate := func(s Setting) float64 {
		var took time.Duration
		var err error
		synctest.Test(t, func(t *testing.T) { took, _, _, err = Bench(t.Context(), s, 150) })
		if err != nil {
			t.Fatal(err)
		}
		return 150 / took.Minutes()
	}
	if n := rate(Setting{Workers: 30, Seed: 1}); n > 8 || n < 4 {
		t.Errorf("%.1f questions a minute", n)
	}
	if n := rate(Setting{Workers: 30, Seed: 1, Own: true}); n < 20 {
		t.Errorf("%.1f questions a minute at a service of our own", n)
	}
}

// If there are many more requests than the limits allow, hardly any draft that was paid for remains unposted, and as
// many replies are posted as the limits allow: 60 on each of the four days. Bots that drafted immediately spent half of
// the money on drafts that were not posted.
func TestOverload(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip("takes half a minute: for `make scale` only")
	}
	s := Setting{Load: 500, Workers: 3, Wikis: 1, Days: 1, Seed: 1}
	r := play(t, s)
	if r.Requests < 300 || r.Answered < 4*60-6 || r.Answered > 4*60 {
		t.Errorf("%d of %d answered", r.Answered, r.Requests)
	}
	if r.Unanswered > r.Spent/10 || r.Spent < 5 {
		t.Errorf("spent $%.2f, $%.2f of it on requests without a reply", r.Spent, r.Unanswered)
	}
}

// TestTables prints the tables in docs/scale.md; `make scale` runs it, and `make scale SCALE=default` prints only the
// rows with the default limits.
func TestTables(t *testing.T) {
	if os.Getenv("SCALE") == "" {
		t.Skip("prints tables for `make scale` only")
	}
	tables(t, os.Stdout, os.Getenv("SCALE"), os.Getenv("SCALE_FIGURES"))
}
