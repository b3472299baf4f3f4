// Package backup writes all of a bot's data to a single file, even while the bot is running, and restores it.
//
// The file is a gzipped tar archive. It contains the files in the data folder, with a consistent copy of each database.
// The last file is manifest.json, with the size and SHA-256 hash of each file, which [Restore] uses to check that the
// archive is complete.
package backup

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Format is the format name written to every manifest. Unknown formats are rejected when reading.
const Format = "spinachbot-backup-1"

const manifestName = "manifest.json"

// Name prefixes of the temporary folders used by [Write] and [Restore].
const (
	scratchPrefix = ".backup-"
	restorePrefix = ".restore-"
)

// Manifest lists the contents of an archive.
type Manifest struct {
	Format  string          `json:"format"`
	Made    time.Time       `json:"made"`
	Version string          `json:"version"` // version of the program
	Files   map[string]File `json:"files"`   // by path, with slashes
}

// File describes a file in an archive.
type File struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Bytes returns the total size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, f := range m.Files {
		n += f.Size
	}
	return n
}

// Source describes what to back up.
type Source struct {
	Dir     string // the data folder
	Version string
	Skip    []string // files and folders in Dir that are not backed up because they can be recreated
	// for each database that is not a plain file in Dir, a function that writes a copy to a file; keyed by path in the
	// archive
	Databases map[string]func(ctx context.Context, to string) error
	// copies a database file that other processes may be writing to
	Copy func(ctx context.Context, from, to string) error
}

// Write writes an archive. Files that grow while they are read are truncated to their original size. Code that reads
// trajectories treats a truncated file as if the program had been killed.
func Write(ctx context.Context, w io.Writer, src Source, now time.Time) (*Manifest, error) {
	if err := RemoveStale(src.Dir, scratchPrefix, now); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	scratch, err := os.MkdirTemp(src.Dir, scratchPrefix)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	defer os.RemoveAll(scratch)
	a := &archive{m: Manifest{Format: Format, Made: now.UTC(), Version: src.Version, Files: map[string]File{}},
		copy: filepath.Join(scratch, "copy")}
	z := gzip.NewWriter(w)
	a.tar = tar.NewWriter(z)
	err = a.all(ctx, src)
	if err == nil {
		err = a.finish()
	}
	if err == nil {
		err = a.tar.Close()
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	return &a.m, nil
}

// RemoveStale removes the files and folders in dir whose names start with prefix and that were left behind by backups
// killed more than a day ago.
func RemoveStale(dir, prefix string, now time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), prefix) || now.Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return errors.Join(errs...)
}

type archive struct {
	tar  *tar.Writer
	m    Manifest
	copy string // temporary file for the copy of a database
}

func (a *archive) all(ctx context.Context, src Source) error {
	for _, name := range slices.Sorted(maps.Keys(src.Databases)) {
		if err := a.database(name, func(to string) error { return src.Databases[name](ctx, to) }); err != nil {
			return err
		}
	}
	return filepath.WalkDir(src.Dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(src.Dir, file)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		_, done := src.Databases[name]
		switch {
		case slices.Contains(src.Skip, name), d.IsDir() && strings.HasPrefix(name, scratchPrefix):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case done, !d.Type().IsRegular(), ofDatabase(name):
			return nil
		case path.Ext(name) == ".db":
			return a.database(name, func(to string) error { return src.Copy(ctx, file, to) })
		}
		return a.add(name, file)
	})
}

// ofDatabase reports whether a file is one of the files that accompany an SQLite database and whose contents are in the
// database's copy.
func ofDatabase(name string) bool {
	return strings.HasSuffix(name, ".db-wal") || strings.HasSuffix(name, ".db-shm") || strings.HasSuffix(name, ".db-journal")
}

// database adds a copy of a database to the archive. write creates the copy.
func (a *archive) database(name string, write func(to string) error) error {
	if err := write(a.copy); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	defer func() { _ = os.Remove(a.copy) }() // the scratch folder is removed, too
	return a.add(name, a.copy)
}

// add adds a file at its current size.
func (a *archive) add(name, file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // removed after it was listed
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size(),
		ModTime: info.ModTime()}); err != nil {
		return err
	}
	sum := sha256.New()
	if n, err := io.Copy(io.MultiWriter(a.tar, sum), io.LimitReader(f, info.Size())); err != nil || n != info.Size() {
		return errors.Join(fmt.Errorf("%s became shorter while it was being read; try again", name), err)
	}
	a.m.Files[name] = File{info.Size(), digest(sum)}
	return nil
}

func (a *archive) finish() error {
	b, err := json.MarshalIndent(a.m, "", " ")
	if err != nil {
		return err
	}
	if err := a.tar.WriteHeader(&tar.Header{Name: manifestName, Mode: 0o600, Size: int64(len(b)),
		ModTime: a.m.Made}); err != nil {
		return err
	}
	_, err = a.tar.Write(b)
	return err
}

func digest(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// ErrDamaged means that the archive is incomplete or damaged. Nothing was restored.
var ErrDamaged = errors.New("this is not a complete backup")

// Restore extracts an archive to a folder, which must be missing or empty. If Restore fails, the folder is unchanged:
// every file is compared with the manifest before any file is moved into place. An existing folder is filled, not
// replaced, because it may be the mount point of a disk, in a parent folder that is not writable.
func Restore(ctx context.Context, r io.Reader, dir string) (*Manifest, error) {
	m, err := restore(ctx, r, dir)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	return m, nil
}

func restore(ctx context.Context, r io.Reader, dir string) (*Manifest, error) {
	_, err := os.Stat(dir)
	exists := err == nil
	if err := vacant(dir); err != nil {
		return nil, err
	}
	parent := dir
	if !exists {
		parent = filepath.Dir(filepath.Clean(dir))
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp(parent, restorePrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	m, err := unpack(ctx, r, scratch)
	if err != nil {
		return nil, err
	}
	if !exists {
		return m, os.Rename(scratch, dir)
	}
	if err := vacant(dir); err != nil { // the folder may have changed in the meantime
		return nil, err
	}
	return m, fill(dir, scratch)
}

// vacant returns an error if a folder is not empty. It ignores the remains of a killed restore and the folders that
// file systems create themselves.
func vacant(dir string) error {
	there, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range there {
		if !strings.HasPrefix(e.Name(), restorePrefix) && e.Name() != "lost+found" {
			return fmt.Errorf("%s is not empty (%s): specify a new folder", dir, e.Name())
		}
	}
	return err
}

// fill moves everything from one folder to another. It moves folders before files, and thus before the ledger: until
// the ledger is in place, nothing else is used.
func fill(to, from string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, folders := range []bool{true, false} {
		for _, e := range entries {
			if e.IsDir() != folders {
				continue
			}
			if err := os.Rename(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// unpack extracts an archive to a folder and compares the files with the manifest.
func unpack(ctx context.Context, r io.Reader, dir string) (*Manifest, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	t, got := tar.NewReader(z), map[string]File{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, fmt.Errorf("%w: it is incomplete", ErrDamaged)
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		case h.Name == manifestName:
			return whole(t, got)
		case h.Typeflag != tar.TypeReg || !filepath.IsLocal(filepath.FromSlash(h.Name)):
			return nil, fmt.Errorf("%w: it contains %q", ErrDamaged, h.Name)
		}
		if got[h.Name], err = unpackFile(t, filepath.Join(dir, filepath.FromSlash(h.Name))); err != nil {
			return nil, err
		}
	}
}

func unpackFile(r io.Reader, name string) (File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return File{}, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), r)
	if onDisk := new(fs.PathError); err != nil && !errors.As(err, &onDisk) {
		return File{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	} else if err != nil {
		return File{}, err
	}
	return File{n, digest(sum)}, errors.Join(f.Sync(), f.Close())
}

// maxManifest is the maximum size of a manifest in bytes, which is enough for a few hundred thousand files.
const maxManifest = 64 << 20

// whole reads the manifest and compares it with the unpacked files.
func whole(r io.Reader, got map[string]File) (*Manifest, error) {
	var m Manifest
	if err := json.NewDecoder(io.LimitReader(r, maxManifest)).Decode(&m); err != nil {
		return nil, fmt.Errorf("%w: its manifest cannot be read: %w", ErrDamaged, err)
	}
	if m.Format != Format {
		return nil, fmt.Errorf("its format is %q, but this program only supports %q: use the program that wrote it", m.Format, Format)
	}
	if !maps.Equal(got, m.Files) {
		for name, f := range m.Files {
			if got[name] != f {
				return nil, fmt.Errorf("%w: %s differs from the file that was backed up", ErrDamaged, name)
			}
		}
		return nil, fmt.Errorf("%w: it contains files that were not backed up", ErrDamaged)
	}
	return &m, nil
}
