package transcript

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/internal/text"
)

// The forms of training data.
const (
	AsOpenAI     = "openai"
	AsSFT        = "sft"
	AsPreference = "preference"
	AsDialogue   = "interactive-kbqa" // annotation files of Interactive-KBQA, one a run
	AsExemplars  = "exemplars"        // worked dialogues as texts, see package agent/exemplar
)

// Exporter writes runs as training data.
type Exporter struct {
	As  string
	All bool // also runs without an answer
	// Key returns what is right for a run and the values of its answer ([score.Values]); path is its trajectory.
	Key func(path string, r *Run) (Gold, []string, error)
	// Write takes what is written of a run: a line, a file's content or a text. name is the run's ID, or where it has
	// none the name of its file without ending.
	Write func(name string, b []byte) error
}

// Exported counts what [Exporter.Export] did.
type Exported struct {
	Lines   int      // or files, or worked dialogues
	Skipped int      // runs that were left out: without an answer, without a call of the model, or no question's run
	Same    int      // lines of preferences that say the same as one before
	Unread  []string // files that cannot be read and folders without one, with why

	pairs map[string]bool // that were written
}

// Export writes runs in the order of their files' names, as preferences a line for each pair of turns. A path is a trajectory, a dialogue file of Interactive-KBQA
// (*.json), a folder of either, or the folder of a run of eval run. A file that cannot be read is counted; the error is
// that of a path that does not exist, or of writing.
func (x *Exporter) Export(paths []string) (Exported, error) {
	n := Exported{pairs: map[string]bool{}}
	for _, path := range paths {
		files, err := filesOf(path, ".jsonl", ".json")
		if err != nil {
			return n, err
		}
		if len(files) == 0 {
			n.Unread = append(n.Unread, path+": there are no trajectories (*.jsonl) or dialogues (*.json) in this folder")
		}
		for _, name := range files {
			if err := n.file(x, path, name); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// filesOf lists the files of a path with one of the endings.
func filesOf(path string, endings ...string) ([]string, error) {
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
		if err == nil && !d.IsDir() && slices.Contains(endings, filepath.Ext(p)) {
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

// file exports one file of root. The error is that of writing.
func (n *Exported) file(x *Exporter, root, path string) error {
	if x.As == AsPreference {
		return n.preferences(x, path)
	}
	id, b, err := x.read(root, path)
	switch {
	case err != nil:
		n.Unread = append(n.Unread, unread(path, err))
		return nil
	case b == nil:
		n.Skipped++
		return nil
	}
	n.Lines++
	return x.Write(cmp.Or(id, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))), b)
}

func unread(path string, err error) string { return fmt.Sprintf("%s: %v", path, text.JSON(err)) }

// read returns what is written of a file, nil for nothing.
func (x *Exporter) read(root, path string) (id string, b []byte, err error) {
	if filepath.Ext(path) == ".json" {
		return x.chat(root, path)
	}
	run, err := readFile(path)
	if err != nil || run == nil || !x.All && !run.Answered() {
		return "", nil, err
	}
	file := filepath.Base(path)
	switch x.As {
	case AsOpenAI:
		b, err = run.OpenAI(file)
		return run.ID, b, err
	case AsSFT:
		b, err = run.SFT(file)
		return run.ID, b, err
	}
	gold, values, err := x.Key(path, run)
	if err != nil || run.conversation() == nil {
		return "", nil, err
	}
	if x.As == AsDialogue {
		b, err = run.Annotation(gold, values)
	} else {
		b, err = worked(run.chat(gold, values))
	}
	return run.ID, b, err
}

// chat is read for a dialogue of Interactive-KBQA.
func (x *Exporter) chat(root, path string) (id string, b []byte, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", nil, err
	}
	chat, err := exemplar.ReadChat(content)
	if err != nil || !x.All && chat.Check() != nil {
		return "", nil, err
	}
	c, file := Chat{chat}, filepath.Base(path)
	if in := filepath.Dir(path); c.Type == "" && len(in) > len(filepath.Clean(root)) {
		c.Type = filepath.Base(in) // a subfolder: there that program has the kind of the question
	}
	switch x.As {
	case AsOpenAI:
		b, err = c.OpenAI(file)
	case AsSFT:
		b, err = c.SFT(file)
	case AsDialogue:
		b, err = indented(c.Chat)
	default:
		b, err = worked(c.Chat)
	}
	return c.ID, b, err
}

// worked writes a finished dialogue as text; of others nothing.
func worked(c *exemplar.Chat) ([]byte, error) {
	if c.Check() != nil {
		return nil, nil
	}
	d, err := c.Dialogue()
	return []byte(d.Text() + "\n"), err
}

// preferences writes the pairs of a run that no earlier run had. Dialogues of other programs have none.
func (n *Exported) preferences(x *Exporter, path string) error {
	if filepath.Ext(path) == ".json" {
		n.Skipped++
		return nil
	}
	var lines []Pair
	run, err := readFile(path)
	if err == nil && run != nil && (x.All || run.Answered()) {
		lines, err = run.Preferences(filepath.Base(path))
	}
	if err != nil {
		n.Unread = append(n.Unread, unread(path, err))
		return nil
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
		if err := x.Write(run.ID, pair.Line); err != nil {
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
	Path string // with its folder
}

// ReadRuns reads the runs of trajectories, of folders of them and of runs of eval run: those without an answer first,
// since more can be learned from them. What is no run of a question is left out.
func ReadRuns(paths []string) ([]FileRun, error) {
	var out []FileRun
	for _, path := range paths {
		files, err := filesOf(path, ".jsonl")
		if err != nil {
			return nil, err
		}
		for _, name := range files {
			run, err := readFile(name)
			if err != nil && !errors.Is(err, errEmpty) {
				return nil, fmt.Errorf("%s: %w", name, text.JSON(err))
			}
			if run != nil && run.Preset != "note-taker" {
				out = append(out, FileRun{run, filepath.Base(name), name})
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
