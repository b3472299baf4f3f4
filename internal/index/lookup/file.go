package lookup

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	mmap "github.com/edsrzf/mmap-go"
)

// FileName is the name of the index file in the folder given by "index build --out".
const FileName = "labels.idx"

// Options control how an index file is written. The zero value is usable.
type Options struct {
	Source   string   // source of the entries, for display
	Built    string   // build time in RFC 3339 format
	Embedder Embedder // computes vectors for property names, and for entity names if there are few; no vectors if nil
	Memory   uint64   // bytes of postings sorted in memory at once; 0 means DefaultMemory
	// Progress is called to report progress. In each stage, done increases from 0 to of, the total, which is 0 if unknown.
	Progress func(stage string, done, of int)
}

// Create writes an index file with the entries that rows adds. The file is written next to path, synced, and renamed
// when it is complete: readers of an existing file are not affected, and the existing file is kept after a failure or a
// crash. It requires disk space of about two and a half times the size of the index. The caller must ensure that only
// one Create runs at a time for a path. Create returns errors from rows, ctx and the file system.
func Create(ctx context.Context, path string, o Options, rows func(add func(Entry) error) error) (h Header, err error) {
	temps := &tempFiles{dir: filepath.Dir(path), base: filepath.Base(path)}
	temps.sweep()
	defer temps.sweep()
	w := newWriter(temps.make)
	w.header.Source, w.header.Built, w.embedder = o.Source, o.Built, o.Embedder
	if o.Memory > 0 {
		w.memory = o.Memory
	}
	if o.Progress != nil {
		w.progress = o.Progress
	}
	if err := rows(w.Add); err != nil {
		return h, err
	}
	out, err := temps.create("new")
	if err != nil {
		return h, err
	}
	if h, err = w.finish(ctx, out); err != nil {
		return h, err
	}
	if err := out.Sync(); err != nil {
		return h, err
	}
	if err := out.Close(); err != nil {
		return h, err
	}
	return h, os.Rename(out.Name(), path)
}

// tempFiles lists the files that a build creates next to the index.
type tempFiles struct {
	dir, base string
	open      []*os.File
	n         int
}

func (t *tempFiles) make() (store, error) {
	t.n++
	return t.create(fmt.Sprintf("tmp%d", t.n))
}

func (t *tempFiles) create(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(t.dir, t.base+".build-"+name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err == nil {
		t.open = append(t.open, f)
	}
	return f, err
}

// sweep removes the temporary files, including those left by a killed build.
func (t *tempFiles) sweep() {
	for _, f := range t.open {
		f.Close() // closing a file twice is harmless
	}
	left, err := filepath.Glob(filepath.Join(t.dir, globQuote(t.base)+".build-*"))
	if err != nil {
		return
	}
	for _, f := range left {
		_ = os.Remove(f) // if this fails, the next build tries again
	}
}

func globQuote(s string) string {
	out := []byte{}
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, s[i])
	}
	return string(out)
}

// File is a [Searcher] for an index file. It is safe for concurrent use. If the file is replaced, for example by
// [Create], the next search uses the new file. A new file that cannot be read is ignored until it changes again.
type File struct {
	path     string
	embedder Embedder

	mu     sync.RWMutex // held for reading during a search, so that the file stays mapped
	info   fs.FileInfo
	bad    fs.FileInfo // a replacement file that could not be read
	mapped mmap.MMap
	image  *image
}

var _ Searcher = (*File)(nil)

// Open opens an index file. path may also be the folder that contains it. embedder converts queries to vectors, and may
// be nil; the file's vectors are used only if embedder is the model that the file was built with. Errors are
// ErrCorrupt, with advice on what to do, or file system errors.
func Open(path string, embedder Embedder) (*File, error) {
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		path = filepath.Join(path, FileName)
	}
	f := &File{path: path, embedder: embedder}
	err := f.load()
	if err != nil {
		return nil, fmt.Errorf("open index %s: %w", path, err)
	}
	return f, nil
}

// load maps the current file. The caller must hold f.mu for writing unless f is not shared yet.
func (f *File) load() error {
	file, err := os.Open(f.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w; create one with: spinachbot index build", err)
		}
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		return fmt.Errorf("%w: the file is empty; build it again", ErrCorrupt)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrCorrupt)
	}
	m, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		return err
	}
	im, err := newImage(m)
	if err != nil {
		f.bad = info
		return errors.Join(err, m.Unmap())
	}
	old := f.mapped
	f.info, f.bad, f.mapped, f.image = info, nil, m, im
	if old != nil {
		return old.Unmap()
	}
	return nil
}

// use calls a function with the image of the current file.
func (f *File) use(do func(*image) error) (err error) {
	// Reading a mapped file that was truncated causes a fault; guard turns the fault into an error.
	defer guard(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	f.mu.RLock()
	if f.image != nil && f.changed() {
		f.mu.RUnlock()
		f.mu.Lock()
		if f.image != nil && f.changed() {
			_ = f.load() // keep using the open file; load remembers a new file that cannot be read
		}
		f.mu.Unlock()
		f.mu.RLock()
	}
	defer f.mu.RUnlock()
	if f.image == nil {
		return fs.ErrClosed
	}
	return do(f.image)
}

// changed reports whether the file differs from both the open file and the file that could not be read.
func (f *File) changed() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return false
	}
	same := func(old fs.FileInfo) bool {
		return old != nil && os.SameFile(old, now) && old.ModTime().Equal(now.ModTime()) && old.Size() == now.Size()
	}
	return !same(f.info) && !same(f.bad)
}

// Search returns a page of hits.
func (f *File) Search(ctx context.Context, q Query) (page Page, err error) {
	q, err = q.normal()
	if err != nil {
		return Page{}, err
	}
	err = f.use(func(im *image) (err error) {
		page, err = im.search(ctx, q, f.embedder)
		return err
	})
	return page, err
}

// Get returns the entry for an IRI in the language that [Prefer] ranks first.
func (f *File) Get(_ context.Context, iri, language string) (e Entry, ok bool, err error) {
	err = f.use(func(im *image) error {
		e, ok = im.get(iri, language)
		return nil
	})
	return e, ok, err
}

// Header returns a description of the file's contents.
func (f *File) Header() (h Header, err error) {
	err = f.use(func(im *image) error {
		h = im.dir.Header
		return nil
	})
	return h, err
}

// Verify reads the whole file and verifies its checksums, which searches do not verify.
func (f *File) Verify(ctx context.Context) error {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.image == nil {
		return fs.ErrClosed
	}
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, s := range f.image.dir.Sections {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		sum := crc32.New(castagnoli)
		if _, err := io.Copy(sum, bufio.NewReader(io.NewSectionReader(file, int64(s.Offset), int64(s.Length)))); err != nil {
			return err
		}
		if sum.Sum32() != s.CRC {
			return damaged("section " + s.Name + " has a wrong checksum")
		}
	}
	return nil
}

// Close unmaps the file. It waits for searches in progress; later searches fail.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	m := f.mapped
	f.mapped, f.image = nil, nil
	if m == nil {
		return nil
	}
	return m.Unmap()
}
