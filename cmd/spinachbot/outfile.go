package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spinachbot/spinachbot/dataset"
)

// outFile is a file that a command writes as a whole.
type outFile struct {
	name    string
	content []byte
}

const forceUsage = "overwrite existing files"

// writeFiles writes all of the files or none. Without force it refuses to replace a file that holds something else.
func writeFiles(force bool, files ...outFile) error {
	for _, f := range files {
		old, err := os.ReadFile(f.name)
		switch {
		case errors.Is(err, fs.ErrNotExist) || force:
		case err != nil:
			return err
		case !bytes.Equal(old, f.content):
			return fmt.Errorf("%s exists and holds something else; nothing was written. Name another file, or add --force to replace it", f.name)
		}
	}
	for _, f := range files {
		if err := dataset.ReplaceFile(f.name, f.content); err != nil {
			return err
		}
	}
	return nil
}
