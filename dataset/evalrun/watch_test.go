package evalrun

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestWatch checks that watching a run in progress shows each finished item with its score and the run's progress, and
// that the files contain the same items after the run.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, dir, bench(mixed...))
	w.Jobs = 1
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { at = at.Add(2 * time.Second); return at }
	var seen []*Watched
	told := 0
	w.Progress = func(p Progress) {
		if told++; p.Done != told {
			t.Errorf("progress %+v", p)
		}
		got, err := Watch(t.Context(), dir) // reads the watch file written after the previous item
		if err != nil || !got.Working {
			t.Fatalf("%v %+v", err, got)
		}
		if got.Progress.Items != len(mixed) || got.Progress.Done != told-1 || len(got.Items) != told-1 {
			t.Errorf("after %d items: %+v", told-1, got)
		}
		seen = append(seen, got)
	}
	w.run(t)
	if _, err := os.Stat(filepath.Join(dir, WatchFile)); err == nil || len(seen) != len(mixed) {
		t.Errorf("%d looks; the file is left behind: %v", len(seen), err == nil)
	}
	end, err := Watch(t.Context(), dir)
	if err != nil || end.Working || len(end.Items) != len(mixed) || end.Progress.Done != len(mixed) {
		t.Fatalf("%v %+v", err, end)
	}
	for i, early := range seen[len(seen)-1].Items {
		late := end.Items[i]
		a, _ := early.State("exact")
		if early.ID != late.ID || early.Question != late.Question || a == "" || early.Steps != late.Steps ||
			early.Answered != late.Answered || early.Excluded != late.Excluded || early.Failed != late.Failed {
			t.Errorf("item %d was\n%+v\nand is\n%+v", i, early, late)
		}
	}
	if !IsRun(dir) || IsRun(filepath.Dir(dir)) || Changed(dir).IsZero() {
		t.Error("the folder is not recognized as a run")
	}
	for _, name := range []string{"../run", ".new-1", "none", ""} {
		if _, err := ItemOf(t.Context(), dir, name); err == nil {
			t.Errorf("%q is an item", name)
		}
	}
	it, err := ItemOf(t.Context(), dir, end.Items[0].File)
	if err != nil || it.ID != end.Items[0].ID || it.GoldSPARQL == "" {
		t.Errorf("%v %+v", err, it)
	}
}
