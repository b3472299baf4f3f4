// Package policy searches for the steps that answer a question. A policy decides which state to expand next and when
// the search ends.
//
//	policy.go       the policies by name; the linear policy
//	consistent.go   sampling each action several times and trying the most frequent one first
//	tree.go         tree searches: nodes, selection, rewards
//	grow.go         expansion of a tree, in parallel but with a deterministic log
//	settle.go       the end of a tree search: a vote on results
//	vote.go auto.go several independent attempts and a choice among their answers
//	group.go        grouping equal results
package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/step"
)

// Policy searches from s until the search ends. It returns the final state and how the search ended. An error ends the
// run. It is an *event.Halt, ctx's error, or a failure to write the log. In that case, the state is the last one
// reached.
type Policy func(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error)

// named is a policy and its name.
type named struct {
	name   string
	policy Policy
	many   bool // see [ManyTries]; a policy that makes several attempts works with every preset
}

// policies returns all policies except the tree searches.
func policies() []named {
	return []named{{name: "linear", policy: Linear}, {name: "consistent", policy: Consistent},
		{name: "generate", policy: Generate}, {name: "vote", policy: Vote, many: true},
		{name: "auto", policy: Auto, many: true}}
}

// ManyTries reports whether a policy makes several attempts at a question, each of which uses another policy.
func ManyTries(name string) bool {
	return slices.ContainsFunc(policies(), func(p named) bool { return p.name == name && p.many })
}

// Names returns the names of all policies.
func Names() []string {
	var names []string
	for _, p := range policies() {
		names = append(names, p.name)
	}
	return append(names, searches()...)
}

func searches() (names []string) {
	for _, w := range ways {
		names = append(names, w.name)
	}
	return names
}

// Branches reports whether a policy is a tree search.
func Branches(name string) bool { return slices.Contains(searches(), name) }

// Trees reports whether a policy is a tree search or may end with one.
func Trees(name string) bool { return Branches(name) || name == "auto" }

// For returns the policies that can be used with a preset, given the preset's own policies: the preset's policies come
// first, then the linear policy, the policies that make several attempts, and the tree searches.
func For(own []string) []string {
	own = slices.Clone(own)
	for _, p := range policies() {
		if (p.many || p.name == "linear") && !slices.Contains(own, p.name) {
			own = append(own, p.name)
		}
	}
	return slices.Concat(own, slices.DeleteFunc(searches(), func(s string) bool { return slices.Contains(own, s) }))
}

// Named returns the policy with this name.
func Named(name string) (Policy, error) {
	for _, p := range policies() {
		if p.name == name {
			return p.policy, nil
		}
	}
	for _, w := range ways {
		if w.name == name {
			return w.search, nil
		}
	}
	return nil, fmt.Errorf("there is no policy %q; the policies are %s", name, strings.Join(Names(), ", "))
}

// Linear is the loop described in the SPINACH paper (section 4.2): one action after another, until the model stops or a
// limit is reached. After a second consecutive rejection, the search returns to the state before the repeated action. A
// preset that looks things up first works as described for [Generate].
func Linear(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	if generates(r) {
		return Generate(ctx, r, s)
	}
	return line(ctx, r, s)
}

// generates reports whether the preset first looks things up and then writes queries based on them.
func generates(r *step.Runner) bool { return slices.Contains(r.Preset.Policies, "generate") }

func line(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	for {
		if h := r.Check(s); h != nil {
			return s, step.Final{Ending: h.Ending}, nil
		}
		children, err := r.Expand(ctx, s, 1)
		if err != nil {
			return s, step.Final{}, err
		}
		var f *step.Final
		if s, f, err = follow(ctx, r, children[0]); f != nil || err != nil {
			return s, ended(f), err
		}
	}
}

// follow returns the state after a turn in a search that does not branch. If the turn ends the search, f is not nil.
func follow(ctx context.Context, r *step.Runner, c step.Child) (s step.State, f *step.Final, err error) {
	again := c.State.Refused() // whether the previous turn, or the previous call in this turn, was rejected
	switch c.Outcome {
	case step.Ended:
		return c.State, c.Final, nil
	case step.Refused:
		s, err = r.Refuse(ctx, c, again)
		return s, nil, err
	case step.Carried, step.Unreadable: // the model continues, or is told what was wrong
	}
	return c.State, nil, nil
}

// ended returns the Final that f points to, or the zero Final if f is nil.
func ended(f *step.Final) step.Final {
	if f == nil {
		return step.Final{}
	}
	return *f
}

// Generate works like SPARQL-LLM: it first looks up what the query needs. Then the model writes complete queries, each
// of which is checked and run, until one returns a result or the attempts are used up. If every attempt fails, the run
// ends with a fixed text.
func Generate(ctx context.Context, r *step.Runner, s step.State) (step.State, step.Final, error) {
	s, err := r.Retrieve(ctx, s)
	if err != nil {
		return s, step.Final{}, err
	}
	s, f, err := line(ctx, r, s)
	if err == nil && f.Answer == nil {
		f = r.GaveUp(s, f)
	}
	return s, f, err
}
