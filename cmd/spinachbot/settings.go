package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spinachbot/spinachbot/config"
	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/harden"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// cmdline is the command line of one command: its own flags and one flag for every setting in the groups that it reads.
type cmdline struct {
	cmd      *cobra.Command
	fs       *pflag.FlagSet
	e        *env
	groups   map[config.Group]bool
	envFile  *string
	verbose  *bool
	settings map[string]string // flag to setting
	hidden   []string          // settings not shown in the help
}

// settingWords maps settings that accept one of a few words to those words, for shell completion.
var settingWords = map[string][]cobra.Completion{
	"posting":         {"off\tnothing is written", "propose\treplies wait for ledger approve", "on\treplies are posted"},
	"low-confidence":  {"ask\tthe poster is asked one question", "silent\tnothing is posted"},
	"openai-sampling": {"full\ttemperature, top_p and n are sent", "none\tfor reasoning models"},
}

// newCmdline declares a command. use is its name and arguments, short is its one-line description, and doc is its full
// description.
func newCmdline(e *env, use, short, doc string, groups ...config.Group) *cmdline {
	cmd := &cobra.Command{Use: use, Short: short, Long: doc, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true}
	c := &cmdline{cmd: cmd, fs: cmd.Flags(), e: e, groups: map[config.Group]bool{}, settings: map[string]string{}}
	c.fs.SortFlags = true
	for _, g := range groups {
		c.groups[g] = true
	}
	if len(groups) > 0 {
		c.envFile = c.fs.String("env-file", ".env", "`file` with settings; without this flag, .env may be missing")
		c.verbose = c.fs.BoolP("verbose", "v", false, "log every step on standard error")
		for _, k := range config.Keys() {
			if c.groups[k.Group] && k.Flag() != "" {
				c.fs.String(k.Flag(), "", k.Doc)
				c.fs.Lookup(k.Flag()).DefValue = k.Default // for the man page
				c.settings[k.Flag()] = k.Name
			}
		}
	}
	if !strings.Contains(use, "FILE") && !strings.Contains(use, "DIR") {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	for name, words := range settingWords {
		if c.settings[name] != "" {
			c.complete(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
		}
	}
	if len(groups) > 0 {
		cmd.Annotations = map[string]string{manualNote: environmentNote(c.groups)}
	}
	cmd.SetHelpFunc(func(*cobra.Command, []string) { c.usage(e.stdout) })
	return c
}

// hide hides settings from the help of a command that does not read them, though it reads others in their groups.
func (c *cmdline) hide(names ...string) {
	for _, k := range config.Keys() {
		if !slices.Contains(names, k.Name) {
			continue
		}
		if k.Flag() != "" {
			c.fs.Lookup(k.Flag()).Hidden = true
		}
		c.hidden = append(c.hidden, k.Name)
	}
}

// environmentNote returns the manual page's note on how settings are named in the environment.
func environmentNote(groups map[config.Group]bool) string {
	var secrets []string
	for _, k := range config.Keys() {
		if groups[k.Group] && k.Flag() == "" {
			secrets = append(secrets, k.Name)
		}
	}
	note := "\n\nA setting can also be given in the environment or in .env, by its name in capitals with underscores: --data-dir is DATA_DIR."
	if len(secrets) > 0 {
		note += " Secrets can be given only there: " + strings.Join(secrets, ", ") + "."
	}
	return note
}

// usage prints all flags and settings of the command.
func (c *cmdline) usage(w io.Writer) {
	fmt.Fprintf(w, "usage: %s\n\n", c.cmd.UseLine())
	paragraph(w, c.cmd.Long)
	header := "\nflags:\n"
	c.fs.VisitAll(func(f *pflag.Flag) {
		if c.settings[f.Name] != "" || f.Name == "help" || f.Hidden {
			return
		}
		fmt.Fprint(w, header)
		header = ""
		term, text := "--"+f.Name, f.Usage
		if f.Shorthand != "" {
			term = "-" + f.Shorthand + ", " + term
		}
		if f.Value.Type() != "bool" {
			term += " " + valueOf(f)
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" &&
			f.DefValue != "[]" {
			text += " (default " + f.DefValue + ")"
		}
		definition(w, term, text)
	})
	if len(c.groups) == 0 {
		return
	}
	fmt.Fprintln(w)
	paragraph(w, "settings, each as a flag or by its name in the environment or in .env (a flag overrides the environment, the environment overrides .env):")
	for _, k := range config.Keys() {
		if !c.groups[k.Group] || slices.Contains(c.hidden, k.Name) {
			continue
		}
		flagName, text := "(no flag: secret)", k.Doc
		if k.Flag() != "" {
			flagName = "--" + k.Flag()
		}
		if k.Default != "" {
			text += " (default " + k.Default + ")"
		}
		definition(w, k.Name+" "+flagName, text)
	}
}

// definition prints a term and its description: on one line if the term is short, and otherwise with the description
// indented below the term.
func definition(w io.Writer, term, text string) {
	const indent = 23
	if console.Cells(term) <= indent-4 {
		item(w, fmt.Sprintf("  %-*s", indent-3, term), text)
		return
	}
	fmt.Fprintln(w, "  "+term)
	item(w, strings.Repeat(" ", indent-1), text)
}

// loadQuietly reads the settings for shell completion, which must not print anything.
func (c *cmdline) loadQuietly() (*config.Config, bool) {
	quiet := *c
	quiet.e = &env{stdin: c.e.stdin, stdout: io.Discard, stderr: io.Discard, environ: c.e.environ, now: c.e.now}
	return quiet.load()
}

// load reads the settings. If there are problems, it prints all of them, and the command exits with status 2.
func (c *cmdline) load() (*config.Config, bool) {
	src := config.Source{Environ: c.e.environ, Flags: map[string]string{}}
	named := false
	c.fs.Visit(func(f *pflag.Flag) {
		named = named || f.Name == "env-file"
		if key, ok := c.settings[f.Name]; ok {
			src.Flags[key] = f.Value.String()
		}
	})
	content, err := os.ReadFile(*c.envFile)
	switch {
	case err == nil:
		src.DotEnv, src.DotEnvName = bytes.NewReader(content), *c.envFile
	case named || !errors.Is(err, os.ErrNotExist):
		misuse(c.e, "the settings cannot be read: %v", err)
		return nil, false
	}
	cfg, warnings, err := config.Load(src)
	for _, w := range warnings {
		fmt.Fprintln(c.e.stderr, "spinachbot: warning:", w)
	}
	if exposed := harden.Exposed("the settings file", *c.envFile); exposed != "" && hasSecret(cfg) {
		fmt.Fprintln(c.e.stderr, "spinachbot: warning:", exposed)
	}
	c.e.secrets = politehttp.NewScrubber(cfg.Secrets()...)
	if err != nil {
		misuse(c.e, "settings:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		return nil, false
	}
	return cfg, true
}

// hasSecret reports whether the settings file contains a secret.
func hasSecret(cfg *config.Config) bool {
	return slices.ContainsFunc(config.Keys(), func(k config.Key) bool {
		o := cfg.Origin(k.Name)
		return k.Secret && o != "default" && o != "environment"
	})
}

// warnOfData warns if other users of the machine can read DATA_DIR, which contains drafts and everything that the model
// wrote.
func (c *cmdline) warnOfData(cfg *config.Config) {
	if exposed := harden.Exposed("DATA_DIR", cfg.DataDir); exposed != "" {
		fmt.Fprintln(c.e.stderr, "spinachbot: warning:", exposed)
	}
}
