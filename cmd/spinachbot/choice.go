package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// choice is a flag whose value is one of a fixed set of words.
type choice struct {
	value *string
	words []string
}

func (c *choice) String() string { return *c.value }
func (c *choice) Type() string   { return "choice" }

// Set implements pflag.Value.
func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		near := ""
		if len(c.words) > 1 {
			near = nearest(s, c.words, "")
		}
		return errors.New("want " + orList(c.words) + near)
	}
	*c.value = s
	return nil
}

// choice declares a flag whose value is one of the words. A word may be followed by a tab and a description, for shell
// completion.
func (c *cmdline) choice(name, value, usage string, words ...string) *string {
	p := new(string)
	c.choiceVar(p, name, value, usage, words...)
	return p
}

// choiceVar is like choice, but stores the value in *p.
func (c *cmdline) choiceVar(p *string, name, value, usage string, words ...string) {
	*p = value
	f := &choice{value: p}
	for _, w := range words {
		word, _, _ := strings.Cut(w, "\t")
		f.words = append(f.words, word)
	}
	c.fs.Var(f, name, usage)
	c.complete(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// complete sets the shell completion for a flag.
func (c *cmdline) complete(flag string, f cobra.CompletionFunc) {
	if err := c.cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // programming error: the flag does not exist or already has completions
	}
}
