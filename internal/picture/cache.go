package picture

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// keepFor is how long a picture is kept before it is fetched again, since a file may be replaced by a new version.
const keepFor = 30 * 24 * time.Hour

// block is the minimum size, in bytes, that is assumed for a file when the limit is checked.
const block = 4096

// cache stores pictures in files. The file names are hashes, so no part of a request becomes a path.
type cache struct {
	dir  string
	most int64 // bytes
	now  func() time.Time

	mu    sync.Mutex
	files map[string]*kept // keyed by name; nil until the folder has been read
	size  int64
}

type kept struct {
	size       int64
	made, used time.Time
}

const suffix = ".picture"

func nameOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:16]) + suffix
}

// get returns a picture, or nil if it is not in the cache or is too old.
func (c *cache) get(key string) []byte {
	name := nameOf(key)
	c.mu.Lock()
	c.load()
	k, ok := c.files[name]
	if ok && c.now().Sub(k.made) > keepFor {
		c.drop(name)
		ok = false
	}
	if ok {
		k.used = c.now()
	}
	c.mu.Unlock()
	if !ok {
		return nil
	}
	data, err := os.ReadFile(filepath.Join(c.dir, name))
	if err != nil || len(data) > maxBytes { // the file was removed or replaced
		c.mu.Lock()
		c.drop(name)
		c.mu.Unlock()
		return nil
	}
	return data
}

// put stores a picture. If the cache becomes too large, it evicts the least recently requested pictures.
func (c *cache) put(key string, data []byte) error {
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	name := nameOf(key)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(c.dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load()
	c.forget(name)
	now := c.now()
	c.files[name] = &kept{max(int64(len(data)), block), now, now}
	c.size += c.files[name].size
	if c.size <= c.most {
		return nil
	}
	names := make([]string, 0, len(c.files))
	for n := range c.files {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(c.files[a].used.Compare(c.files[b].used), strings.Compare(a, b))
	})
	for _, n := range names {
		if c.size <= c.most*9/10 {
			break
		}
		c.drop(n)
	}
	return nil
}

// load reads the folder once. The caller holds c.mu.
func (c *cache) load() {
	if c.files != nil {
		return
	}
	c.files = map[string]*kept{}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return // the folder is created when there is something to store
	}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(e.Name(), "new-"): // left behind by a program that was killed
			_ = os.Remove(filepath.Join(c.dir, e.Name()))
		case strings.HasSuffix(e.Name(), suffix):
			c.files[e.Name()] = &kept{max(info.Size(), block), info.ModTime(), info.ModTime()}
			c.size += max(info.Size(), block)
		}
	}
}

// forget removes a file from the cache's index. The caller holds c.mu.
func (c *cache) forget(name string) {
	if k, ok := c.files[name]; ok {
		c.size -= k.size
		delete(c.files, name)
	}
}

// drop deletes a file. The caller holds c.mu.
func (c *cache) drop(name string) {
	c.forget(name)
	_ = os.Remove(filepath.Join(c.dir, name))
}
