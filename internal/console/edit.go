package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

const scissors = "------------------------ >8 ------------------------"

// ErrBelow means that the read-only part of the text was changed in the editor.
var ErrBelow = errors.New("only the text above the line can be changed; nothing was changed")

// Edit lets the user change text in an editor and returns the new text. editor is a command with its arguments. The
// text in below is read-only and is shown below a separator line. Edit returns an error if the editor failed, and
// [ErrBelow] if the read-only text was changed.
func Edit(ctx context.Context, editor, text, below string, in io.Reader, out, errs io.Writer) (string, error) {
	f, err := os.CreateTemp("", "spinachbot-*.txt")
	if err != nil {
		return "", fmt.Errorf("cannot create a file to edit: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = io.WriteString(f, text+"\n\n"+scissors+"\n"+below)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("cannot create a file to edit: %w", err)
	}
	words := append(strings.Fields(editor), f.Name())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	if o, ok := out.(*Output); ok { // the editor needs direct access to the terminal
		cmd.Stdout = o.File
	}
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("the editor %q failed: %w; nothing was changed", editor, err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		return "", err
	}
	changed, rest, ok := strings.Cut(string(b), "\n"+scissors)
	if !ok || strings.TrimSpace(rest) != strings.TrimSpace(below) {
		return "", ErrBelow
	}
	return changed, nil
}
