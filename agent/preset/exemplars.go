package preset

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spinachbot/spinachbot/agent/exemplar"
	"github.com/spinachbot/spinachbot/agent/tool/kbqa"
	"github.com/spinachbot/spinachbot/internal/kg"
)

// Exemplars are the settings for worked dialogues in the prompt. The dialogues are in the preset's exemplars folder, in
// a subfolder named after the dialect. For graphs that name entities by IRI, the subfolder is wikidata.
type Exemplars struct {
	N    int    `json:"n"`    // number of dialogues to show for the question's kind; none if 0
	Kind string `json:"kind"` // how the kind is determined; see [KindByWords]
}

// How a question's kind is determined.
const (
	KindByWords = "words" // from its words, compared with questions whose kind is known
	KindByModel = "model" // by the model, which is shown a few of those questions; from the words if that fails
)

// Labelled is the number of questions of each kind that the model is shown. The number is small to keep the call cheap.
const Labelled = 4

// load reads a dialect's dialogues, or returns nil if none are requested.
func (x *Exemplars) load(fsys fs.FS, dialect string) (*exemplar.Set, error) {
	if x.N <= 0 {
		return nil, nil
	}
	if dialect == kbqa.ByIRI {
		dialect = byIRI
	}
	dir := "exemplars/" + dialect
	set, err := exemplar.Load(fsys, dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err != nil || len(set.Dialogues) == 0:
		return nil, fmt.Errorf("there are no dialogues in %s, but \"exemplars\" requests %d", dir, x.N)
	}
	return set, nil
}

// dialects returns the names of a built-in preset's variants, one for each dialect in which it has dialogues.
func dialects(name string) []string {
	files, err := fs.Glob(builtin, name+"/exemplars/*")
	if err != nil {
		panic(err) // the pattern is valid
	}
	var out []string
	for _, f := range files {
		if d := path.Base(f); d != byIRI {
			out = append(out, name+":"+d)
		}
	}
	return out
}

// byIRI is the folder with the dialogues for graphs like Wikidata.
const byIRI = "wikidata"

// Dialogues returns the worked dialogues for a graph, or nil if none are suitable.
func (p *Preset) Dialogues(g *kg.Description) *exemplar.Set {
	if p.Show.Dialect == kbqa.ByIRI && !g.IsWikibase() {
		return nil // the dialogues contain Wikidata's IDs
	}
	return p.dialogues
}

// few is the maximum number of kinds in a set whose dialogues are shown for every kind, as in Interactive-KBQA for
// WebQSP and MetaQA.
const few = 3

// AsksKind reports whether the model is asked for a question's kind. The model is not asked if the kind makes no
// difference.
func (p *Preset) AsksKind(set *exemplar.Set) bool {
	return p.Exemplars.Kind == KindByModel && len(set.Types()) > few
}

// Worked returns, as text, the dialogues for a question's kind, or for every kind if the set has only a few.
func (p *Preset) Worked(set *exemplar.Set, kind string) string {
	kinds := set.Types()
	if len(kinds) > few {
		kinds = []string{kind}
	}
	var out []string
	for _, k := range kinds {
		for _, d := range set.Of(k, p.Exemplars.N) {
			out = append(out, d.String())
		}
	}
	return strings.Join(out, "\n\n")
}
