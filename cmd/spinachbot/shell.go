package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/spinachbot/spinachbot/internal/buildinfo"
)

var shells = []string{"bash", "zsh", "fish", "powershell"}

const completionDoc = `Prints a script that makes the shell complete commands, flags and their values: presets,
graphs, states, IDs of the ledger.

To load it now, and in every new shell:

  bash         source <(spinachbot completion bash)
               spinachbot completion bash > ~/.local/share/bash-completion/completions/spinachbot
  zsh          source <(spinachbot completion zsh)
               spinachbot completion zsh > "${fpath[1]}/_spinachbot"
  fish         spinachbot completion fish | source
               spinachbot completion fish > ~/.config/fish/completions/spinachbot.fish
  powershell   spinachbot completion powershell | Out-String | Invoke-Expression
               (add this line to the file that $PROFILE names)`

func completionCommand(e *env) *cobra.Command {
	c := newCmdline(e, "completion bash|zsh|fish|powershell", "print a script for completions in a shell", completionDoc)
	c.cmd.ValidArgsFunction = cobra.FixedCompletions(shells, cobra.ShellCompDirectiveNoFileComp)
	return c.command(func(_ context.Context, args []string) int {
		if len(args) != 1 {
			return misuse(e, "completion: for which shell? spinachbot completion bash, zsh, fish or powershell")
		}
		root := c.cmd.Root()
		var err error
		switch args[0] {
		case "bash":
			err = root.GenBashCompletionV2(e.stdout, true)
		case "zsh":
			err = root.GenZshCompletion(e.stdout)
		case "fish":
			err = root.GenFishCompletion(e.stdout, true)
		case "powershell":
			err = root.GenPowerShellCompletionWithDesc(e.stdout)
		default:
			return misuse(e, "completion: the shell %q is not supported; want %s", args[0], orList(shells))
		}
		if err != nil {
			return fail(e, fmt.Errorf("cannot write the script: %w", err))
		}
		return exitOK
	})
}

func manCommand(e *env) *cobra.Command {
	c := newCmdline(e, "man DIR", "write manual pages into a folder", `Writes a manual page for every command into
DIR, which is created if it is missing. To read one: man DIR/spinachbot-ask.1`)
	return c.command(func(_ context.Context, args []string) int {
		if len(args) != 1 {
			return misuse(e, "man: which folder? spinachbot man DIR")
		}
		if err := writeManual(c.cmd.Root(), args[0]); err != nil {
			return fail(e, fmt.Errorf("cannot write the manual pages: %w", err))
		}
		pages, _ := filepath.Glob(filepath.Join(args[0], "spinachbot*.1"))
		fmt.Fprintf(e.stdout, "%s: %d pages\n", args[0], len(pages))
		return exitOK
	})
}

func writeManual(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	header := &doc.GenManHeader{Section: "1", Source: "SpinachBot", Manual: "SpinachBot"}
	if date := buildinfo.Read().Date; !date.IsZero() {
		header.Date = &date
	}
	root.DisableAutoGenTag = true
	addNotes(root)
	return doc.GenManTree(root, header, dir)
}

// manualNote is the annotation that contains the text below the description in a command's manual page.
const manualNote = "manual"

func addNotes(cmd *cobra.Command) {
	cmd.Long += cmd.Annotations[manualNote]
	for _, sub := range cmd.Commands() {
		addNotes(sub)
	}
}
