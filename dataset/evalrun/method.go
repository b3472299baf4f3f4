package evalrun

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/internal/ask"
)

// Parts are what a method answers with. Model and Graph are those of one item and one attempt.
type Parts struct {
	Log     *slog.Logger
	Model   agent.Model
	Sources agent.Sources
	Now     func() time.Time
}

// Method is a way to answer questions: a preset (which published system's tools, protocol and limits) with a policy
// (how its steps are searched). New makes an asker for one attempt at one item.
type Method struct {
	Preset, Policy string
	About          string // one line for help
	New            func(Parts) ask.Asker
}

// Methods is the table of the methods that exist. A new preset or policy is a row.
type Methods []Method

// Find returns the method of a preset and a policy, or an error that names those that exist.
func (ms Methods) Find(preset, policy string) (Method, error) {
	var policies []string
	for _, m := range ms {
		if m.Preset == preset {
			if m.Policy == policy {
				return m, nil
			}
			policies = append(policies, m.Policy)
		}
	}
	if policies == nil {
		return Method{}, fmt.Errorf("there is no preset %q; there are: %s", preset, strings.Join(ms.Presets(), ", "))
	}
	return Method{}, fmt.Errorf("the preset %s has no policy %q; it has: %s", preset, policy, strings.Join(policies, ", "))
}

// Presets lists the names of the presets, each once, in the table's order.
func (ms Methods) Presets() []string { return ms.names(func(m Method) string { return m.Preset }) }

// Policies lists the names of the policies, each once, in the table's order.
func (ms Methods) Policies() []string { return ms.names(func(m Method) string { return m.Policy }) }

func (ms Methods) names(of func(Method) string) []string {
	var out []string
	for _, m := range ms {
		if n := of(m); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
