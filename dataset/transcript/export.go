package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/internal/text"
)

// The forms of training data.
const (
	AsOpenAI     = "openai"
	AsSFT        = "sft"
	AsPreference = "preference"
)

// Exported counts what [Export] did.
type Exported struct {
	Lines   int
	Skipped int      // runs that were left out: without an answer, without a call of the model, or no question's run
	Same    int      // lines of preferences that say the same as one before
	Unread  []string // trajectories that cannot be read and folders without one, with why

	pairs map[string]bool // that were written
}

// Export writes trajectories as training data, one line each, for preferences a line for each pair of turns, in the
// order of their names. A path is a trajectory, a folder of them, or the folder of a run of eval run. Runs without an
// answer are left out unless all is set. A file that cannot be read is counted; the error is that of a path that does
// not exist, or of writing.
func Export(w io.Writer, as string, paths []string, all bool) (Exported, error) {
	n := Exported{pairs: map[string]bool{}}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return n, err
		}
		if len(files) == 0 {
			n.Unread = append(n.Unread, path+": there are no trajectories (*.jsonl) in this folder")
		}
		for _, name := range files {
			if err := n.file(w, as, name, all); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// filesOf lists the trajectories of a path.
func filesOf(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the trajectories cannot be read: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	if sub := filepath.Join(path, "trajectories"); isDir(sub) {
		path = sub
	}
	var out []string
	err = filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".jsonl") {
			out = append(out, p)
		}
		return err
	})
	slices.Sort(out)
	return out, err
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// file exports one trajectory. The error is that of writing.
func (n *Exported) file(w io.Writer, as, name string, all bool) error {
	run, err := readFile(name)
	if err != nil {
		n.Unread = append(n.Unread, fmt.Sprintf("%s: %v", name, text.JSON(err)))
		return nil
	}
	if run == nil || !all && !run.Answered() {
		n.Skipped++
		return nil
	}
	if as == AsPreference {
		return n.preferences(w, run, filepath.Base(name))
	}
	write := run.SFT
	if as == AsOpenAI {
		write = run.OpenAI
	}
	b, err := write(filepath.Base(name))
	if err != nil {
		return err
	}
	if b == nil {
		n.Skipped++
		return nil
	}
	n.Lines++
	_, err = w.Write(b)
	return err
}

// preferences writes the pairs of a run that no earlier run had.
func (n *Exported) preferences(w io.Writer, run *Run, file string) error {
	lines, err := run.Preferences(file)
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		n.Skipped++
	}
	for _, pair := range lines {
		if n.pairs[pair.Key] {
			n.Same++
			continue
		}
		n.pairs[pair.Key] = true
		n.Lines++
		if _, err := w.Write(pair.Line); err != nil {
			return err
		}
	}
	return nil
}

var errEmpty = errors.New("there are no events in it; want a trajectory")

// readFile reads a trajectory; nil when it is not that of a question.
func readFile(name string) (*Run, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	events, err := event.Read(f)
	if err != nil && !errors.Is(err, event.ErrTorn) {
		return nil, err
	}
	if len(events) == 0 {
		return nil, errEmpty
	}
	run, err := Read(events)
	if err != nil {
		return nil, nil
	}
	return run, nil
}

// FileRun is a run with the name of its file.
type FileRun struct {
	*Run
	File string
}

// ReadRuns reads the runs of paths, as [Export] takes them: those without an answer first, since more can be learned
// from them. What is no run of a question is left out.
func ReadRuns(paths []string) ([]FileRun, error) {
	var out []FileRun
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			run, err := readFile(name)
			if err != nil && !errors.Is(err, errEmpty) {
				return nil, fmt.Errorf("%s: %w", name, text.JSON(err))
			}
			if run != nil && run.Preset != "note-taker" {
				out = append(out, FileRun{run, filepath.Base(name)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b FileRun) int { return number(a.Answered()) - number(b.Answered()) })
	return out, nil
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}
