package tool

import (
	"context"
	"strings"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Notebook is a collection of notes on a graph. The errors that its methods return are shown to the model.
type Notebook interface {
	Add(text string) (id string, err error)
	Update(id, text string) error
	Delete(id string) error
	Lines() ([]string, error) // the notes with their IDs, one per line
}

// noteTools are the tools that a note-taker uses to keep notes on a graph (GRASP, files from 2026).
var noteTools = Set{
	typed(&Tool{Name: "add_note", Text: "add_note.md", Input: "note"}, func(_ context.Context, env *Env, a struct {
		Note string `json:"note"`
	}) (Result, error) {
		return env.note(func(b Notebook) (string, error) {
			id, err := b.Add(a.Note)
			return say("note_added", id), err
		})
	}),
	typed(&Tool{Name: "update_note", Text: "update_note.md"}, func(_ context.Context, env *Env, a struct {
		ID   string `json:"id"`
		Note string `json:"note"`
	}) (Result, error) {
		return env.note(func(b Notebook) (string, error) { return say("note_changed", a.ID), b.Update(a.ID, a.Note) })
	}),
	typed(&Tool{Name: "delete_note", Text: "delete_note.md", Input: "id"}, func(_ context.Context, env *Env, a struct {
		ID string `json:"id"`
	}) (Result, error) {
		return env.note(func(b Notebook) (string, error) { return say("note_deleted", a.ID), b.Delete(a.ID) })
	}),
	typed(&Tool{Name: "show_notes", Text: "show_notes.md"}, func(_ context.Context, env *Env, _ struct{}) (Result, error) {
		return env.note(func(b Notebook) (string, error) {
			lines, err := b.Lines()
			if err == nil && len(lines) == 0 {
				return say("notes_none", nil), nil
			}
			return strings.Join(lines, "\n"), err
		})
	}),
	ending(&Tool{Name: "finish_notes", Text: "finish_notes.md"}, func(struct{}) End {
		return End{NoAnswer: true, Why: "the notes are taken"}
	}),
}

// note calls a function with the notebook. If the function fails, note tells the model why.
func (env *Env) note(do func(Notebook) (string, error)) (Result, error) {
	if env.Notebook == nil {
		return Result{Text: say("notes_closed", nil), Failure: kg.Refused}, nil
	}
	text, err := do(env.Notebook)
	if err != nil {
		return Result{Text: say("note_refused", err.Error()), Failure: kg.QueryFailed}, nil
	}
	return Result{Text: text}, nil
}
