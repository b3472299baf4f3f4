package ask

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/agent/event"
)

// File returns a function for [Service.Open], for a service that answers only one question. It keeps the trajectory in
// the file at path, which must not exist yet.
func File(path string) func(id string) (Trajectory, error) {
	return func(string) (Trajectory, error) {
		f, err := event.Create(path)
		if err != nil {
			return nil, err
		}
		return f, nil
	}
}

// maxSameTime is the maximum number of runs with the same ID that may start in the same millisecond.
const maxSameTime = 100

// making ensures that only one trajectory is created at a time. The operating system creates the files in a folder one
// at a time anyway, but waiting for it would block a thread.
var making sync.Mutex

// Folder returns a function for [Service.Open] that keeps the trajectories in dir, each in a file named after the run's
// ID and the time, since the same question can be asked again: ID-20261120T101500.000.jsonl. IDs must be valid in file
// names.
func Folder(dir string, now func() time.Time) func(id string) (Trajectory, error) {
	return func(id string) (Trajectory, error) {
		making.Lock()
		defer making.Unlock()
		name := id + "-" + now().UTC().Format("20060102T150405.000")
		for n := 1; ; n++ {
			path := filepath.Join(dir, name+".jsonl")
			if n > 1 {
				path = filepath.Join(dir, fmt.Sprintf("%s~%d.jsonl", name, n))
			}
			f, err := event.Create(path)
			if errors.Is(err, fs.ErrExist) && n < maxSameTime {
				continue
			}
			if err != nil {
				return nil, err
			}
			return f, nil
		}
	}
}

type notFound string

// Error returns a message that explains what to do.
func (e notFound) Error() string { return string(e) }

// Is reports whether target is [fs.ErrNotExist].
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// besides reports whether a file contains a judgment of a kind that does not occur in name.
func besides(file, name string) bool {
	for _, kind := range []string{"-triage", "-asked"} {
		if strings.Contains(file, kind+"-") && !strings.Contains(name, kind) {
			return true
		}
	}
	return false
}

// Newest returns the path of the newest trajectory in dir whose name starts with name. A trajectory that judged whether
// a post is a request is found only if name contains "-triage"; one that judged whether a request was made before, only
// if name contains "-asked". If there is no such trajectory, the error is [fs.ErrNotExist].
func Newest(dir, name string) (string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		if name != "" {
			name = fmt.Sprintf("there is no file %q, and ", name)
		}
		return "", notFound(fmt.Sprintf("%sthere are no trajectories in %s; name a file, or another data folder with --data-dir", name, dir))
	}
	var newest string
	var at time.Time
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !strings.HasSuffix(f.Name(), ".jsonl") || !strings.HasPrefix(f.Name(), name) ||
			besides(f.Name(), name) {
			continue
		}
		if newest == "" || info.ModTime().After(at) {
			newest, at = filepath.Join(dir, f.Name()), info.ModTime()
		}
	}
	if newest == "" {
		return "", notFound(fmt.Sprintf("there is no trajectory %q in %s; spinachbot ledger list shows the IDs", name, dir))
	}
	return newest, nil
}
