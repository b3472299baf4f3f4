package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/spinachbot/spinachbot/internal/buildinfo"
	"github.com/spinachbot/spinachbot/internal/console"
)

// exitStatus is the nonzero exit status of a command that has already printed its messages.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

func status(code int) error {
	if code == exitOK {
		return nil
	}
	return exitStatus(code)
}

// group returns a command that only has subcommands.
func group(e *env, name, short string, subs ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: short, Args: cobra.ArbitraryArgs, SuggestionsMinimumDistance: 2}
	g.AddCommand(subs...)
	g.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			groupHelp(cmd, e.stderr)
			return exitStatus(exitUsage)
		}
		return status(unknownCommand(e, cmd, args[0]))
	}
	return g
}

// setUpRoot sets up what all commands share: help, flag errors and --version.
func setUpRoot(e *env, root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { groupHelp(cmd, e.stdout) })
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return status(flagError(e, cmd, err)) })
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", Short: "show help for a command", Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && cmd.HasSubCommands() {
				return status(unknownCommand(e, cmd, rest[0]))
			}
			return cmd.Help()
		},
	})
	showVersion := root.Flags().Bool("version", false, "print the version, its commit and date")
	inner := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *showVersion {
			fmt.Fprintln(e.stdout, buildinfo.Read())
			return nil
		}
		return inner(cmd, args)
	}
	return root
}

// verbFirst moves a group's subcommand before its flags: `sparql --json check` becomes `sparql check --json`.
func verbFirst(root *cobra.Command, args []string) []string {
	if len(args) < 3 || !strings.HasPrefix(args[1], "-") {
		return args
	}
	g, _, err := root.Find(args[:1])
	if err != nil || !g.HasSubCommands() {
		return args
	}
	for i, a := range args[1:] {
		if sub, _, err := g.Find([]string{a}); a != "-" && err == nil && sub != g {
			out := append([]string{args[0], a}, args[1:i+1]...)
			return append(out, args[i+2:]...)
		}
	}
	return args
}

// commandName returns the name of a command without the program name, such as "eval run".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
}

// unknownCommand reports a word that is not a subcommand of cmd.
func unknownCommand(e *env, cmd *cobra.Command, word string) int {
	name, hint := "", "see "+cmd.CommandPath()+" -h"
	if cmd.HasParent() {
		name = commandName(cmd) + ": "
		var all []string
		for _, sub := range cmd.Commands() {
			all = append(all, sub.Name())
		}
		hint = "want " + orList(all)
	}
	if near := cmd.SuggestionsFor(word); len(near) > 0 {
		hint = "did you mean " + orList(near) + "?"
	}
	return misuse(e, "%sthere is no command %q; %s", name, word, hint)
}

// orList joins words in the form "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// noArguments prints an error if there are arguments, for a command that takes none. It returns true if there are none.
func (c *cmdline) noArguments(args []string) (ok bool) {
	if len(args) > 0 {
		misuse(c.e, "%s: takes no arguments; leave out %s", commandName(c.cmd), strings.Join(args, " "))
	}
	return len(args) == 0
}

// nearest returns "; did you mean X?" if one of the words is close to the given word. If none is, it returns "; " and
// the otherwise argument, or "" if that argument is empty.
func nearest(word string, words []string, otherwise string) string {
	probe := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, w := range words {
		probe.AddCommand(&cobra.Command{Use: w, Run: func(*cobra.Command, []string) {}})
	}
	if near := probe.SuggestionsFor(word); len(near) > 0 {
		return "; did you mean " + near[0] + "?"
	}
	if otherwise == "" {
		return ""
	}
	return "; " + otherwise
}

// flagError prints an error for a flag that does not exist or has an invalid value.
func flagError(e *env, cmd *cobra.Command, err error) int {
	name := commandName(cmd)
	if name != "" {
		name += ": "
	}
	var missing *pflag.NotExistError
	var needs *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() != "":
		return misuse(e, "%s%s", name, shortFlag(cmd, wholeWord(e.args, missing.GetSpecifiedShortnames())))
	case errors.As(err, &missing):
		return misuse(e, "%sthere is no flag --%s%s", name, missing.GetSpecifiedName(),
			suggestFlag(cmd, missing.GetSpecifiedName()))
	case errors.As(err, &needs):
		flag := needs.GetFlag()
		return misuse(e, "%s--%s needs a value: --%s %s", name, flag.Name, flag.Name, strings.ToUpper(valueOf(flag)))
	case errors.As(err, &invalid):
		return misuse(e, "%s--%s %q: %s", name, invalid.GetFlag().Name, invalid.GetValue(), wantedValue(invalid))
	}
	return misuse(e, "%s%v; see %s -h", name, err, cmd.CommandPath())
}

// wholeWord returns the single-dash argument that ends in end, such as -help for "elp": pflag reports only the end.
func wholeWord(args []string, end string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, end) {
			return a
		}
	}
	return "-" + end
}

// shortFlag returns the error message for a flag with a single dash. Flags used to have a single dash, as in Go, so for
// -json, the message suggests --json rather than complaining about a flag -j.
func shortFlag(cmd *cobra.Command, word string) string {
	long, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	if cmd.Flags().Lookup(long) != nil {
		return fmt.Sprintf("there is no flag -%s; flags have two dashes: --%s", long, long)
	}
	return fmt.Sprintf("there is no flag -%s%s", long, suggestFlag(cmd, long))
}

func suggestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return nearest("--"+name, names, "see "+cmd.CommandPath()+" -h")
}

// wantedValue describes the valid values of a flag.
func wantedValue(err *pflag.InvalidValueError) string {
	switch err.GetFlag().Value.Type() {
	case "bool":
		return "use it without a value, or with =true or =false"
	case "int":
		return "want a whole number, such as 10"
	case "uint64":
		return "want a whole number of 0 or more, such as 10"
	case "float64":
		return "want a number, such as 0.5"
	case "duration":
		return "want a duration with its unit, such as 90s, 5m or 1h30m"
	}
	return errors.Unwrap(err).Error()
}

const helpWidth = 100

func helpColumns(w io.Writer) int {
	if width := console.New(w, nil).Width(); width > 0 {
		return min(width, helpWidth)
	}
	return helpWidth
}

func groupHelp(cmd *cobra.Command, w io.Writer) {
	fmt.Fprintf(w, "usage: %s COMMAND [flags] [arguments]\n\n", cmd.CommandPath())
	text := cmd.Long
	if text == "" {
		text = "Commands to " + cmd.Short + "."
	}
	paragraph(w, text)
	fmt.Fprintln(w, "\ncommands:")
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			item(w, fmt.Sprintf("  %-11s", sub.Name()), sub.Short)
		}
	}
	fmt.Fprintln(w)
	paragraph(w, cmd.CommandPath()+" COMMAND -h shows all flags and settings of a command.")
	if !cmd.HasParent() {
		paragraph(w, "Settings come from flags, from the environment and from the file .env. A flag overrides the environment, and the environment overrides the file.")
		fmt.Fprint(w, "\nflags:\n")
		item(w, fmt.Sprintf("  %-11s", "--version"), cmd.Flags().Lookup("version").Usage)
		fmt.Fprintln(w)
		paragraph(w, "Exit status: 0 done, 1 failed, 2 wrong usage or settings or a file that cannot be opened, 3 ask found no answer, 4 a service failed for good, 130 interrupted.")
	}
}

func paragraph(w io.Writer, text string) {
	for _, l := range console.Wrap(text, helpColumns(w)) {
		fmt.Fprintln(w, l)
	}
}

// item prints a term followed by its description, whose lines are aligned.
func item(w io.Writer, term, text string) {
	indent := console.Cells(term) + 1
	for i, l := range console.Wrap(text, helpColumns(w)-indent) {
		if i > 0 {
			term = strings.Repeat(" ", indent-1)
		}
		fmt.Fprintln(w, term, l)
	}
}

// valueName is the annotation that contains the name of a flag's value, the backquoted word in its declaration.
const valueName = "value"

func valueOf(f *pflag.Flag) string {
	if names := f.Annotations[valueName]; len(names) > 0 {
		return names[0]
	}
	name, _ := pflag.UnquoteUsage(f)
	return name
}

// command sets the function that runs c. run prints all messages and returns an exit status.
func (c *cmdline) command(run func(ctx context.Context, args []string) int) *cobra.Command {
	c.fs.VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(f.Usage, "`") {
			return
		}
		name, text := pflag.UnquoteUsage(f)
		f.Usage, f.Annotations = text, map[string][]string{valueName: {name}}
	})
	c.cmd.RunE = func(cmd *cobra.Command, args []string) error { return status(run(cmd.Context(), args)) }
	return c.cmd
}
