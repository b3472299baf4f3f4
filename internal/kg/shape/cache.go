package shape

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spinachbot/spinachbot/internal/kg"
)

// Store keeps shapes across restarts, as JSON values under keys that this package chooses.
type Store interface {
	// Get returns the value under key, or false if there is none.
	Get(ctx context.Context, key string) ([]byte, bool, error)
	// Put stores value under key.
	Put(ctx context.Context, key string, value []byte) error
}

// maxKnown is the maximum number of shapes in memory. When there are more, all except those in use are dropped.
const maxKnown = 2000

// entry caches the shape of a class. Only the goroutine that holds turn may read or set shape.
type entry struct {
	turn  chan struct{}
	shape *kg.Shape
}

func (m *Maker) entry(iri, lang string) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := iri + " " + lang
	e := m.known[key]
	if e == nil {
		if len(m.known) >= maxKnown {
			for k, old := range m.known {
				if len(old.turn) == 0 {
					delete(m.known, k)
				}
			}
		}
		e = &entry{turn: make(chan struct{}, 1)}
		m.known[key] = e
	}
	return e
}

func (m *Maker) fresh(s *kg.Shape) bool {
	return m.o.Now == nil || m.o.Now().Sub(s.At) < m.o.MaxAge
}

// keyVersion is part of every key. It changes with the format, so the program ignores shapes that an earlier version
// stored in another format.
const keyVersion = "shape 1"

func (m *Maker) key(iri, lang string) string {
	return keyVersion + " " + m.o.Graph.Endpoint + " " + m.o.Graph.Name + " " + iri + " " + lang
}

// stored returns a stored shape, or nil if there is none. If the store fails, the shape is measured again.
func (m *Maker) stored(ctx context.Context, iri, lang string) *kg.Shape {
	if m.o.Store == nil {
		return nil
	}
	data, ok, err := m.o.Store.Get(ctx, m.key(iri, lang))
	if err != nil {
		m.o.Log.Warn("shape: cannot read a stored shape", "class", iri, "err", err)
	}
	if !ok || err != nil {
		return nil
	}
	var s kg.Shape
	if err := json.Unmarshal(data, &s); err != nil || s.Class.ID == "" {
		m.o.Log.Warn("shape: a stored shape is corrupt and will be measured again", "class", iri)
		return nil
	}
	return &s
}

func (m *Maker) store(ctx context.Context, iri, lang string, s *kg.Shape) {
	if m.o.Store == nil {
		return
	}
	data, err := json.Marshal(s)
	if err == nil {
		err = m.o.Store.Put(ctx, m.key(iri, lang), data)
	}
	if err != nil {
		m.o.Log.Warn("shape: cannot store a shape", "class", iri, "err", err)
	}
}

// Folder is a [Store] that keeps each value in a file in the folder with this path, which is created when needed.
type Folder string

func (f Folder) file(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(string(f), hex.EncodeToString(sum[:12])+".json")
}

// Get returns the value under key.
func (f Folder) Get(_ context.Context, key string) ([]byte, bool, error) {
	data, err := os.ReadFile(f.file(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

// Put stores value under key. Readers see either the old value or the new value, never a partial one.
func (f Folder) Put(_ context.Context, key string, value []byte) error {
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return fmt.Errorf("the folder for shapes cannot be created: %w", err)
	}
	tmp, err := os.CreateTemp(string(f), ".shape-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(value)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.file(key))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
