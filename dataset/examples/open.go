package examples

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/dataset"
)

// Read adds the examples at a path: a benchmark file in any published format ([dataset.ReadItems]) or a harvest folder.
// Errors include the path and the expected content. If there are no solved questions, Read returns an error.
func (p *Pool) Read(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("cannot read the examples: %w", err)
	}
	before := p.Len()
	if info.IsDir() {
		err = p.harvest(path, nil)
	} else {
		err = p.file(path)
	}
	if err == nil && p.Len() == before {
		err = errors.New("it has no questions with queries")
		if len(p.broken) > 0 {
			err = errors.New("it has no questions with queries that can be parsed")
		}
	}
	if err != nil {
		return fmt.Errorf("examples: %s: %w", path, err)
	}
	return nil
}

func (p *Pool) file(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	items, _, err := dataset.ReadItems(f)
	if err == nil {
		p.Add(filepath.Base(path), items)
	}
	return err
}

// Archive is the source name of examples from a harvest.
const Archive = "archive"

// Harvest adds the staged candidates in a harvest folder. Candidates that annotators have kept are replaced with the
// resulting items, whose wording states everything in the query. If the folder does not contain a harvest, Harvest adds
// only the items.
func (p *Pool) Harvest(dir string, annotated []dataset.Item) error {
	err := p.harvest(dir, annotated)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("examples: %s: %w", dir, err)
	}
	return nil
}

func (p *Pool) harvest(dir string, annotated []dataset.Item) error {
	p.Add(Archive, annotated)
	done := map[string]bool{}
	for _, it := range annotated {
		done[it.ID] = true
	}
	f, err := os.Open(filepath.Join(dir, dataset.CandidatesFile))
	if err != nil {
		return err
	}
	defer f.Close()
	for c, err := range dataset.EachCandidate(f) {
		if err != nil {
			return err
		}
		if !done[c.ID] {
			p.AddCandidate(Archive, &c)
		}
	}
	return nil
}
