package dataset

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReplaceFile writes a file atomically, creating its folder if needed: a reader finds either the old content or the
// new, even after a crash. The content is on disk when ReplaceFile returns. Several writers may replace the same file
// at once: the last one wins.
func ReplaceFile(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	return replace(f, name, func(w io.Writer) error {
		_, err := w.Write(content)
		return errors.Join(err, f.Chmod(0o644))
	})
}

// ReplaceFileFunc is like [ReplaceFile], but for content that write produces incrementally, in a folder to which only
// one process at a time writes. The temporary file always has the same name, so crashes do not leave more and more
// files behind.
func ReplaceFileFunc(name string, write func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name+".tmp", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	return replace(f, name, write)
}

// File is the name and content of a file for [WriteFiles].
type File struct {
	Name    string
	Content []byte
}

// WriteFiles writes either all of the files or none. Without force, it refuses to replace a file with different
// content.
func WriteFiles(force bool, files ...File) error {
	for _, f := range files {
		old, err := os.ReadFile(f.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || force:
		case err != nil:
			return err
		case !bytes.Equal(old, f.Content):
			return fmt.Errorf("%s exists and has different content; nothing was written. Name another file, or add --force to replace it", f.Name)
		}
	}
	for _, f := range files {
		if err := ReplaceFile(f.Name, f.Content); err != nil {
			return err
		}
	}
	return nil
}

// replace writes the new file f and renames it to name.
func replace(f *os.File, name string, write func(io.Writer) error) error {
	w := bufio.NewWriterSize(f, 64<<10)
	err := write(w)
	if err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // a leftover temporary file does no harm
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return syncFolder(filepath.Dir(name))
}

// syncFolder makes a rename durable. It ignores the errors that systems return if they cannot sync a folder.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) &&
		!errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}
