package evalrun

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spinachbot/spinachbot/dataset/transcript"
)

// Form is an output format that other systems' tools read.
type Form string

// The formats other than our own in which a run can be written, with the names of the files in the run's folder.
const (
	FormGRASP     Form = "grasp"            // grasp.jsonl: GRASP's current output format
	FormGRASP2025 Form = "grasp-2025"       // grasp-2025.jsonl: GRASP's output format in 2025
	FormDialogues Form = "interactive-kbqa" // interactive-kbqa/ID.json: Interactive-KBQA's dialogue files
)

// Forms lists all output formats.
var Forms = []Form{FormGRASP, FormGRASP2025, FormDialogues}

// writeForms writes the items in the formats requested for the run. Items that were not asked are omitted.
func (r *runner) writeForms(data *RunData) error {
	files := map[Form][]byte{}
	for i := range data.Items {
		it := &data.Items[i]
		run, err := transcribe(data, it)
		if err != nil {
			return fmt.Errorf("item %s: %w", it.ID, err)
		}
		for _, f := range r.Forms {
			var b []byte
			switch {
			case run == nil:
			case f == FormGRASP:
				b, err = run.GRASP(r.Sources.Main().Name())
			case f == FormGRASP2025:
				b, err = run.GRASP2025()
			case f == FormDialogues:
				err = r.writeDialogue(run, it)
			}
			if err != nil {
				return fmt.Errorf("item %s in the format %s: %w", it.ID, f, err)
			}
			files[f] = append(files[f], b...)
		}
	}
	for _, f := range r.Forms {
		if f == FormDialogues {
			continue
		}
		if err := r.dir.write(files[f], string(f)+".jsonl"); err != nil {
			return err
		}
	}
	return nil
}

// transcribe reads an item's run. It returns nil if there is none.
func transcribe(data *RunData, it *ItemData) (*transcript.Run, error) {
	events, err := data.Trajectory(it)
	if err != nil || len(events) == 0 {
		return nil, err
	}
	run, err := transcript.Read(events)
	if err != nil {
		return nil, nil // the attempt was cut off before its first event
	}
	run.ID = it.ID
	return run, nil
}

func (r *runner) writeDialogue(run *transcript.Run, it *ItemData) error {
	gold, gerr := answerValues(it.Gold)
	pred, perr := answerValues(it.Result.Result)
	if err := errors.Join(gerr, perr); err != nil {
		return err
	}
	b, err := run.Dialogue(transcript.Gold{SPARQL: it.GoldSPARQL, Answers: gold}, pred)
	if err != nil {
		return err
	}
	if err := os.Mkdir(r.dir.path(string(FormDialogues)), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return r.dir.write(b, string(FormDialogues), FileName(it.ID)+".json")
}
