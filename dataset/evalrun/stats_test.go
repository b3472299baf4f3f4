package evalrun

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, eps float64) bool { return math.Abs(a-b) <= eps }

// The exact binomial values, 2·Σ C(n,k)/2ⁿ over the smaller tail, were calculated by hand.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{
		{0, 0, 1}, {1, 1, 1}, {3, 3, 1}, {0, 1, 1}, {0, 5, 2.0 / 32}, {0, 6, 2.0 / 64}, {1, 6, 2.0 * 8 / 128},
		{2, 10, 2.0 * 79 / 4096}, {10, 2, 2.0 * 79 / 4096},
		{5, 15, 2.0 * 21700 / 1048576}, // Σ C(20,0..5) = 1+20+190+1140+4845+15504
	} {
		if got := McNemar(c.b, c.c); !near(got, c.want, 1e-12) {
			t.Errorf("%d against %d: %v, want %v", c.b, c.c, got, c.want)
		}
	}
	// normal approximation: z = 2.197 with continuity correction, p = 0.028
	if got := McNemar(4000, 4200); !(got > 0.02 && got < 0.04) {
		t.Errorf("large numbers: %v", got)
	}
}

// According to the SPINACH paper, appendix C.2, a system must score at least 9.0 points more than 21.4% on 155 items,
// that is, 30.4%.
func TestMDE(t *testing.T) {
	got := MDE(155, Planned(0.214))
	if !near(got, 0.090, 0.0005) {
		t.Errorf("155 items: %.4f, want 0.090", got)
	}
	if s := math.Round(1000*(0.214+got)) / 10; s != 30.4 {
		t.Errorf("155 items: from %v%%, want 30.4", s)
	}
	// If there are no losses, the fraction of discordant items equals the difference: √n·d = 1.96·√d + 0.84·√(d−d²). By
	// hand, for n = 100, d = 0.0764 yields 0.764 on the left and 0.5417 + 0.2236 = 0.7653 on the right.
	if got := MDE(100, func(d float64) float64 { return d }); !near(got, 0.0767, 0.0004) {
		t.Errorf("100 items, no losses: %.4f", got)
	}
	if !math.IsNaN(MDE(3, Planned(0.5))) || !math.IsNaN(MDE(0, Planned(0.5))) {
		t.Error("three items cannot show a difference")
	}
	more, fewer := MDE(400, Observed(10, 20, 100)), MDE(100, Observed(10, 20, 100))
	if more >= fewer {
		t.Errorf("more items must show smaller differences: %v, %v", more, fewer)
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	same := make([]float64, 50)
	for i := range same {
		same[i] = 0.25
	}
	if got := Bootstrap(same, rng()); got != (Interval{0.25, 0.25}) {
		t.Errorf("constant differences: %v", got)
	}
	if got := Bootstrap(nil, rng()); got != (Interval{}) {
		t.Errorf("no differences: %v", got)
	}
	// For 400 differences, half 1 and half 0, the standard error of the mean is 0.5/20 = 0.025, so the interval is 0.5 ±
	// 1.96 · 0.025 = 0.451 to 0.549.
	half := make([]float64, 400)
	for i := range half {
		half[i] = float64(i % 2)
	}
	got := Bootstrap(half, rng())
	if !near(got.Low, 0.451, 0.004) || !near(got.High, 0.549, 0.004) {
		t.Errorf("halves: %v", got)
	}
	if again := Bootstrap(half, rng()); again != got {
		t.Errorf("the same seed resulted in %v and %v", got, again)
	}
}

func TestPercentile(t *testing.T) {
	v := []float64{0, 10, 20, 30, 40}
	for p, want := range map[float64]float64{0: 0, 0.5: 20, 1: 40, 0.25: 10, 0.125: 5} {
		if got := percentile(v, p); got != want {
			t.Errorf("%v: %v, want %v", p, got, want)
		}
	}
}
