package build

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// Pull requests all of a graph's entries of the given type, page by page, and calls add for each of them. It saves each
// page to a file in dir, so that an interrupted pull can resume after the last complete page. If the file is from a
// different graph or was created with different settings, it is ignored and the pull starts over. Done removes the
// files.
func Pull(ctx context.Context, g Graph, kind lookup.Type, dir string, progress func(done int),
	add func(lookup.Entry) error) error {
	if g.Page <= 0 {
		g.Page = DefaultPage
	}
	p := &puller{Graph: g, kind: kind}
	kept, err := openKept(pulledFile(dir, kind), g)
	if err != nil {
		return err
	}
	defer kept.f.Close()
	done, err := kept.replay(add)
	if err != nil {
		return err
	}
	for !kept.complete {
		progress(done)
		n := g.Page
		if g.Limit > 0 {
			n = min(n, g.Limit-done)
		}
		var entries []lookup.Entry
		places := 0
		if n > 0 {
			if entries, places, err = p.page(ctx, done, n); err != nil {
				return err
			}
		}
		done += places
		last := places < n || n <= 0 || g.Limit > 0 && done >= g.Limit
		if err := kept.page(entries, done, last); err != nil {
			return err
		}
		for _, e := range entries {
			if err := add(e); err != nil {
				return err
			}
		}
	}
	progress(done)
	return nil
}

// Done removes the files that pulls stored in dir. It must be called only after the index has been built from them.
func Done(dir string) error {
	for _, kind := range []lookup.Type{lookup.Entity, lookup.Property} {
		if err := os.Remove(pulledFile(dir, kind)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func pulledFile(dir string, kind lookup.Type) string {
	return filepath.Join(dir, "pulled-"+string(kind)+".jsonl")
}

// kept is the file of pulled entries. Its first line contains the settings. Each page follows as one line per entry and
// a line that ends the page.
type kept struct {
	f        *os.File
	complete bool
}

type keptHead struct {
	Graph     string   `json:"graph"`
	Endpoint  string   `json:"endpoint"`
	Languages []string `json:"languages"`
	Limit     int      `json:"limit"`
}

// keptLine is an entry, or the end of a page: the number of IRIs completed so far, and whether this is the last page.
type keptLine struct {
	Entry *lookup.Entry `json:"entry,omitempty"`
	Done  int           `json:"done,omitempty"`
	Last  bool          `json:"last,omitempty"`
	End   bool          `json:"end,omitempty"`
}

func openKept(path string, g Graph) (*kept, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(keptHead{g.Name, g.Describe.Endpoint, g.Languages, g.Limit})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	head = append(head, '\n')
	first := make([]byte, len(head))
	if n, _ := f.ReadAt(first, 0); n != len(head) || !bytes.Equal(first, head) {
		if err := errors.Join(f.Truncate(0), writeAt(f, head, 0)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	_, err = f.Seek(int64(len(head)), 0)
	return &kept{f: f}, err
}

func writeAt(f *os.File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	return err
}

// replay adds the entries from complete pages and truncates the file after them.
func (k *kept) replay(add func(lookup.Entry) error) (done int, err error) {
	at, err := k.f.Seek(0, 1)
	if err != nil {
		return 0, err
	}
	good := at
	r := bufio.NewReaderSize(k.f, 1<<20)
	var page []lookup.Entry
	for {
		line, err := r.ReadBytes('\n')
		var l keptLine
		if err != nil || json.Unmarshal(line, &l) != nil {
			break // the end of the file, or an incomplete line from an interrupted write
		}
		at += int64(len(line))
		if l.Entry != nil {
			page = append(page, *l.Entry)
		}
		if !l.End {
			continue
		}
		for _, e := range page {
			if err := add(e); err != nil {
				return 0, err
			}
		}
		good, done, k.complete, page = at, l.Done, l.Last, page[:0]
	}
	if err := k.f.Truncate(good); err != nil {
		return 0, err
	}
	_, err = k.f.Seek(good, 0)
	return done, err
}

func (k *kept) page(entries []lookup.Entry, done int, last bool) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for i := range entries {
		if err := enc.Encode(keptLine{Entry: &entries[i]}); err != nil {
			return err
		}
	}
	if err := enc.Encode(keptLine{Done: done, Last: last, End: true}); err != nil {
		return err
	}
	k.complete = last
	if _, err := k.f.Write(b.Bytes()); err != nil {
		return fmt.Errorf("keep what was pulled: %w", err)
	}
	return k.f.Sync()
}
