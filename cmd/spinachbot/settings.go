package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spinachbot/spinachbot/config"
)

// cmdline is the command line of one command: its own flags, and one flag for every setting of the groups it reads.
type cmdline struct {
	fs       *flag.FlagSet
	e        *env
	name     string
	synopsis string
	doc      string
	groups   map[config.Group]bool
	envFile  *string
	verbose  *bool
	settings map[string]string // flag to setting
}

// newCmdline declares a command. synopsis is what follows the name in the usage line; doc what the command does.
func newCmdline(e *env, name, synopsis, doc string, groups ...config.Group) *cmdline {
	c := &cmdline{fs: flag.NewFlagSet(name, flag.ContinueOnError), e: e, name: name, synopsis: synopsis, doc: doc, groups: map[config.Group]bool{}, settings: map[string]string{}}
	c.fs.SetOutput(io.Discard)
	for _, g := range groups {
		c.groups[g] = true
	}
	if len(groups) > 0 {
		c.envFile = c.fs.String("env-file", ".env", "`file` with settings; it may be missing")
		c.verbose = c.fs.Bool("v", false, "log every step on standard error")
		for _, k := range config.Keys() {
			if c.groups[k.Group] && k.Flag() != "" {
				c.fs.String(k.Flag(), "", "")
				c.settings[k.Flag()] = k.Name
			}
		}
	}
	c.fs.Usage = func() {}
	return c
}

func (c *cmdline) usage(w io.Writer) {
	fmt.Fprintf(w, "usage: spinachbot %s %s\n\n%s\n", c.name, c.synopsis, c.doc)
	header := "\nflags:\n"
	c.fs.VisitAll(func(f *flag.Flag) {
		if f.Usage == "" {
			return // a setting, below
		}
		fmt.Fprint(w, header)
		header = ""
		arg, text := flag.UnquoteUsage(f)
		def := ""
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" {
			def = " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  --%-22s %s%s\n", strings.TrimSpace(f.Name+" "+arg), text, def)
	})
	if len(c.groups) == 0 {
		return
	}
	fmt.Fprint(w, "\nsettings (flag, or the name in the environment or in .env; flags stand above the environment, the environment above .env):\n")
	for _, k := range config.Keys() {
		if !c.groups[k.Group] {
			continue
		}
		flagName := "(no flag: secret)"
		if k.Flag() != "" {
			flagName = "--" + k.Flag()
		}
		def := ""
		if k.Default != "" {
			def = " (default " + k.Default + ")"
		}
		fmt.Fprintf(w, "  %-28s %-30s %s%s\n", k.Name, flagName, k.Doc, def)
	}
}

// parse reads the arguments; flags may stand before and after them. When done is true the command ends with code: help was asked for, or the call is wrong.
func (c *cmdline) parse(args []string) (rest []string, done bool, code int) {
	for {
		if err := c.fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				c.usage(c.e.stdout)
				return nil, true, exitOK
			}
			return nil, true, misuse(c.e, "%s: %v; see spinachbot %s -h", c.name, err, c.name)
		}
		read := len(args) - c.fs.NArg()
		verbatim := read > 0 && args[read-1] == "--"
		args = args[read:]
		if len(args) == 0 || verbatim {
			return append(rest, args...), false, exitOK
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

// load reads the settings. Problems are printed, all at once, and end the command with exit code 2.
func (c *cmdline) load() (*config.Config, bool) {
	src := config.Source{Environ: c.e.environ, Flags: map[string]string{}}
	c.fs.Visit(func(f *flag.Flag) {
		if key, ok := c.settings[f.Name]; ok {
			src.Flags[key] = f.Value.String()
		}
	})
	file, err := os.Open(*c.envFile)
	switch {
	case err == nil:
		defer file.Close()
		src.DotEnv = file
	case !errors.Is(err, os.ErrNotExist):
		misuse(c.e, "%s cannot be read: %v", *c.envFile, err)
		return nil, false
	}
	cfg, warnings, err := config.Load(src)
	for _, w := range warnings {
		fmt.Fprintln(c.e.stderr, "spinachbot: warning:", w)
	}
	if err != nil {
		misuse(c.e, "settings:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		return nil, false
	}
	return cfg, true
}

// logger writes to standard error: warnings, or everything with -v.
func (c *cmdline) logger(level slog.Level) *slog.Logger {
	if c.verbose != nil && *c.verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(c.e.stderr, &slog.HandlerOptions{Level: level}))
}
