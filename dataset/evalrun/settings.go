package evalrun

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Settings maps names to values for everything that determines a run's results, such as preset, policy, graph, model,
// benchmark, and limits. Files are identified by their hashes. Settings that do not affect results (number of items at
// once, cost limit, choice of items) are omitted.
type Settings map[string]string

// Fingerprint returns a hash of the settings.
func (s Settings) Fingerprint() string {
	var b bytes.Buffer
	_ = encode(&b, s, "") // encoding a map of strings cannot fail and sorts the keys
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:8])
}

// differences lists the settings in which s and other differ, one per line.
func (s Settings) differences(other Settings) []string {
	names := map[string]bool{}
	for n := range s {
		names[n] = true
	}
	for n := range other {
		names[n] = true
	}
	var out []string
	for n := range names {
		if s[n] != other[n] {
			out = append(out, fmt.Sprintf("%s: there %q, now %q", n, s[n], other[n]))
		}
	}
	slices.Sort(out)
	return out
}

// Session describes a process that worked on a run.
type Session struct {
	Started time.Time `json:"started"`
	Version string    `json:"version"`
}

// RunInfo is run.json.
type RunInfo struct {
	Schema      int       `json:"schema"`
	Fingerprint string    `json:"fingerprint"`
	Settings    Settings  `json:"settings"`
	AsOf        time.Time `json:"as_of"` // value of NOW() in an embedded graph; the same in all sessions
	Sessions    []Session `json:"sessions"`
}

// ErrOtherSettings means that a folder contains a run with different settings.
var ErrOtherSettings = errors.New("the folder contains a run with different settings")

// Begin opens a run's folder for a session. It creates the folder, or checks that it was created with the same
// settings, and returns the content of run.json. asOf applies to new runs; for an existing run, it must be zero or
// equal to the run's. The caller must hold a lock on the folder.
func Begin(dir string, s Settings, asOf time.Time, session Session) (*RunInfo, error) {
	d := folder(dir)
	if err := d.make(); err != nil {
		return nil, err
	}
	d.sweep()
	var info RunInfo
	found, err := d.readJSON(&info, RunFile)
	switch {
	case err != nil:
		return nil, err
	case found && info.Schema != Schema:
		return nil, fmt.Errorf("%s was written by a different version of this program (schema %d, this one writes %d); choose another folder", dir, info.Schema, Schema)
	case found && info.Fingerprint != s.Fingerprint():
		return nil, fmt.Errorf("%w: %s\n%s\nchoose another folder with --out, or use the settings of that run",
			ErrOtherSettings, dir,
			strings.Join(info.Settings.differences(s), "\n"))
	case found && !asOf.IsZero() && !asOf.Equal(info.AsOf):
		return nil, fmt.Errorf("%w: %s\nas-of: there %s, now %s", ErrOtherSettings, dir, info.AsOf.Format(time.RFC3339),
			asOf.Format(time.RFC3339))
	case !found:
		if asOf.IsZero() {
			asOf = session.Started
		}
		info = RunInfo{Schema: Schema, Fingerprint: s.Fingerprint(), Settings: s, AsOf: asOf.UTC()}
	}
	session.Started = session.Started.UTC()
	info.Sessions = append(info.Sessions, session)
	return &info, d.writeJSON(info, RunFile)
}
