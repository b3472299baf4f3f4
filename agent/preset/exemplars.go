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

// Exemplars are worked dialogues in the prompt. They are in the preset's folder, under exemplars/ in a folder named
// after the dialect: wikidata for entities by IRI.
type Exemplars struct {
	N    int    `json:"n"`    // dialogues of the question's kind; 0: none
	Kind string `json:"kind"` // how the kind is found, see [KindByWords]
}

// How a question's kind is found.
const (
	KindByWords = "words" // by its words, compared with questions whose kind is known
	KindByModel = "model" // the model is asked and shown a few of those questions; if it fails, by words
)

// Labelled is the number of questions of each kind that the model is shown: few, so that the call is cheap.
const Labelled = 4

// load reads the dialogues of a dialect, or returns nil if none are wanted.
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
		return nil, fmt.Errorf("there are no dialogues in %s, and \"exemplars\" asks for %d", dir, x.N)
	}
	return set, nil
}

// dialects returns the names of a built-in preset with each dialect that it has dialogues for.
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

// byIRI is the folder of the dialogues for graphs like Wikidata.
const byIRI = "wikidata"

// Dialogues returns the worked dialogues for a graph, or nil if none fit it.
func (p *Preset) Dialogues(g *kg.Description) *exemplar.Set {
	if p.Show.Dialect == kbqa.ByIRI && !g.IsWikibase() {
		return nil // they contain IDs of Wikidata
	}
	return p.dialogues
}

// few is the maximum number of kinds for which the dialogues of all kinds are shown (as Interactive-KBQA does for
// WebQSP and MetaQA).
const few = 3

// AsksKind reports whether the model is asked for the kind of a question. It is not asked if the kind makes no
// difference.
func (p *Preset) AsksKind(set *exemplar.Set) bool {
	return p.Exemplars.Kind == KindByModel && len(set.Types()) > few
}

// Worked returns the dialogues of a question's kind as text or, if the set has few kinds, those of every kind.
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
