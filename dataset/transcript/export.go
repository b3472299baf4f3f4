package transcript

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spinachbot/spinachbot/agent/event"
	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Training data formats.
const (
	AsOpenAI     = "openai"
	AsSFT        = "sft"
	AsPreference = "preference"
	AsDialogue   = "interactive-kbqa" // Interactive-KBQA annotation files, one per run
	AsExemplars  = "exemplars"        // worked dialogues as text; see package agent/exemplar
)

// Exporter writes runs one by one without comparing them.
type Exporter struct {
	As  string // any format except preferences
	All bool   // include runs without an answer
	// Key returns the gold data for a run and the values of its answer ([score.Values]). path is the run's trajectory.
	Key func(path string, r *Run) (Gold, []string, error)
	// Write receives the output for a run: a line, the content of a file, or text. name is the run's ID or, if it has
	// none, the name of its file without the extension.
	Write func(name string, b []byte) error
}

// Exported counts the results of [Exporter.Export].
type Exported struct {
	Lines   int      // number of lines, files, or worked dialogues
	Skipped int      // runs left out: runs without an answer, without a call to the model, or without a question
	Unread  []string // unreadable files and folders without files, each with the reason
}

// Export writes runs in file name order; see [Each] for the meaning of a path. Unreadable files are counted. It returns
// an error if a path does not exist or a write fails.
func (x *Exporter) Export(paths []string) (Exported, error) {
	var n Exported
	for _, path := range paths {
		for p, err := range Each(path) {
			var b []byte
			if err == nil && p.Known() && (x.All || p.Answered()) {
				b, err = x.piece(p)
			}
			switch {
			case errors.Is(err, ErrNoPath):
				return n, err
			case err != nil:
				n.Unread = append(n.Unread, fmt.Sprintf("%s: %v", p.Path, text.JSON(err)))
			case b == nil:
				n.Skipped++
			default:
				n.Lines++
				if err := x.Write(p.Name(), b); err != nil {
					return n, err
				}
			}
		}
	}
	return n, nil
}

func (x *Exporter) piece(p *Piece) ([]byte, error) {
	if x.As == AsOpenAI || x.As == AsSFT {
		lines, err := p.Lines(x.As, filepath.Base(p.Path))
		if err != nil || len(lines) == 0 {
			return nil, err
		}
		return lines[0].Line, nil
	}
	if p.Chat != nil {
		if x.As == AsDialogue {
			return indented(p.Chat.Chat)
		}
		return worked(p.Chat.Chat)
	}
	gold, values, err := x.Key(p.Path, p.Run)
	if err != nil {
		return nil, err
	}
	if e, _ := p.Run.conversation(); e == nil {
		return nil, nil
	}
	if x.As == AsDialogue {
		return p.Run.Annotation(gold, values)
	}
	return worked(p.Run.chat(gold, values))
}

// Piece is a file from which training data is created: a run, or a dialogue from Interactive-KBQA's program.
type Piece struct {
	Run  *Run
	Chat *Chat
	Path string
}

// Known reports whether the file is a dialogue or a run with a question. (A triage is neither.)
func (p *Piece) Known() bool { return p.Run != nil || p.Chat != nil }

// Answered reports whether there is an answer; a dialogue has one if it is finished.
func (p *Piece) Answered() bool {
	if p.Chat != nil {
		return p.Chat.Check() == nil
	}
	return p.Run.Answered()
}

// Name returns the run's ID or, if it has none, the name of its file without the extension.
func (p *Piece) Name() string {
	id := ""
	if p.Chat != nil {
		id = p.Chat.ID
	} else if p.Run != nil {
		id = p.Run.ID
	}
	return cmp.Or(id, strings.TrimSuffix(filepath.Base(p.Path), filepath.Ext(p.Path)))
}

// Lines writes the run in the given format (AsOpenAI, AsSFT or AsPreference); for preferences, it writes one line per
// pair of turns. It writes no lines if there is nothing to learn. file is the file name to record in the lines.
// Dialogues from other programs do not contain pairs.
func (p *Piece) Lines(as, file string) ([]Pair, error) {
	var b []byte
	var err error
	var texts []message
	switch {
	case as == AsPreference && p.Chat != nil:
		return nil, nil
	case as == AsPreference:
		return p.Run.Preferences(file)
	case p.Chat != nil && as == AsOpenAI:
		b, err = p.Chat.OpenAI(file)
	case p.Chat != nil:
		b, err = p.Chat.SFT(file)
	case as == AsOpenAI:
		b, err = p.Run.OpenAI(file)
	default:
		b, err = p.Run.SFT(file)
	}
	if err != nil || b == nil {
		return nil, err
	}
	if p.Chat != nil {
		texts = p.Chat.messages()
	} else {
		texts = bare(p.Run.messages())
	}
	for i := range texts {
		texts[i].ToolCallID = ""
	}
	key, err := json.Marshal(texts)
	return []Pair{{Key: string(key), Line: b}}, err
}

// Each reads the files at a path in name order. A path is a trajectory, an Interactive-KBQA dialogue file (*.json), a
// folder of either, or a benchmark run's folder. Every error comes with a Piece whose Path is the missing path, the
// unreadable file, or the folder without files.
func Each(path string) iter.Seq2[*Piece, error] {
	return func(yield func(*Piece, error) bool) {
		files, err := filesOf(path, ".jsonl", ".json")
		if err == nil && len(files) == 0 {
			err = errNoFiles
		}
		if err != nil {
			yield(&Piece{Path: path}, err)
			return
		}
		for _, name := range files {
			p := &Piece{Path: name}
			var err error
			if filepath.Ext(name) == ".json" {
				p.Chat, err = readChat(path, name)
			} else {
				p.Run, err = readFile(name)
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// ErrNoPath means that a file or folder cannot be found.
var ErrNoPath = errors.New("the trajectories cannot be read")

var errNoFiles = errors.New("there are no trajectories (*.jsonl) or dialogues (*.json) in this folder")

// filesOf lists the files at a path that have one of the extensions.
func filesOf(path string, endings ...string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPath, err)
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

func readChat(root, path string) (*Chat, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	chat, err := exemplar.ReadChat(content)
	if err != nil {
		return nil, err
	}
	if in := filepath.Dir(path); chat.Type == "" && len(in) > len(filepath.Clean(root)) {
		chat.Type = filepath.Base(in) // Interactive-KBQA's program names subfolders by question type
	}
	return &Chat{Chat: chat}, nil
}

// worked formats a finished dialogue as text. It returns nil for other dialogues.
func worked(c *exemplar.Chat) ([]byte, error) {
	if c.Check() != nil {
		return nil, nil
	}
	d, err := c.Dialogue()
	return []byte(d.Text() + "\n"), err
}

var errEmpty = errors.New("it contains no events; want a trajectory")

// readFile reads a trajectory. It returns nil if the trajectory does not belong to a run with a question.
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
	Path string // including its folder
}

// ReadRuns reads the runs from trajectories, folders of trajectories, and benchmark run folders. Runs without an answer
// come first, since more can be learned from them. Files that are not runs with a question are left out.
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
