package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ReplaceFile writes a file as a whole, and its folder when that is missing: a reader finds the former content or this one, also after a crash. It is on the disk when
// ReplaceFile returns.
func ReplaceFile(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the file in place is the one that counts
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if d, err := os.Open(dir); err == nil { // where a folder can be synced, the name is on the disk too
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}
