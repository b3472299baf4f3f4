package lookup

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func created(t testing.TB, path string, entries []Entry) {
	t.Helper()
	if _, err := Create(context.Background(), path, Options{Source: "a test"}, addAll(entries)); err != nil {
		t.Fatal(err)
	}
}

func addAll(entries []Entry) func(add func(Entry) error) error {
	return func(add func(Entry) error) error {
		for _, e := range entries {
			if err := add(e); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	created(t, filepath.Join(dir, FileName), people)
	f, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, c := range searches {
		p, err := f.Search(context.Background(), c.q)
		if got := iris(p); err != nil || got != c.want {
			t.Errorf("%s: %q found %q (%v), want %q", c.name, c.q.Text, got, err, c.want)
		}
	}
	if err := f.Verify(context.Background()); err != nil {
		t.Error(err)
	}
	h, err := f.Header()
	if err != nil || h.Entities != 13 || h.Properties != 3 || h.Source != "a test" {
		t.Errorf("header %+v, %v", h, err)
	}
	e, ok, err := f.Get(context.Background(), "q:einstein", "ru")
	if err != nil || !ok || e.Label != "Альберт Эйнштейн" || e.Score != 300 || e.Uses != 300 {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left over: %v, %v", left, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := f.Search(context.Background(), Query{Text: "albert"}); err == nil {
		t.Error("a closed file was searched")
	}
}

// TestReplacedWhileRead checks that readers see either the old or the new names, never an error, and eventually see the
// new names.
func TestReplacedWhileRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	generation := func(n int) []Entry {
		return []Entry{{IRI: fmt.Sprintf("q:%d", n), Label: "Berlin", Score: 1}}
	}
	created(t, path, generation(0))
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if p, err := f.Search(context.Background(), Query{Text: "berlin"}); err != nil || len(p.Hits) != 1 {
					t.Errorf("found %+v, %v", p, err)
					return
				}
			}
		})
	}
	for n := 1; n <= 20; n++ {
		created(t, path, generation(n))
	}
	close(stop)
	wg.Wait()
	if p, _ := f.Search(context.Background(), Query{Text: "berlin"}); iris(p) != "20" {
		t.Errorf("found %q", iris(p))
	}
	// If a replacement cannot be read, the open file stays in use.
	if err := os.WriteFile(path+".x", []byte(magic+"no index"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".x", path); err != nil {
		t.Fatal(err)
	}
	if p, err := f.Search(context.Background(), Query{Text: "berlin"}); err != nil || iris(p) != "20" {
		t.Errorf("found %q, %v", iris(p), err)
	}
}

func TestFailedBuildLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	created(t, path, people)
	if err := os.WriteFile(path+".build-tmp9", []byte("of a build that was killed"), 0o644); err != nil {
		t.Fatal(err)
	}
	wrong := errors.New("line 3 is wrong")
	_, err := Create(context.Background(), path, Options{}, func(add func(Entry) error) error {
		return errors.Join(add(people[0]), wrong)
	})
	if !errors.Is(err, wrong) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Create(ctx, path, Options{}, addAll(people)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left over: %v", left)
	}
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, FileName)
	if _, err := Open(dir, nil); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "index build") {
		t.Errorf("missing: %v", err)
	}
	created(t, path, people)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := append([]byte(nil), whole...)
	binary.LittleEndian.PutUint32(other[8:], version+1)
	garbled := append([]byte(nil), whole...)
	garbled[len(garbled)-trailerSize-5] ^= 1
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty", nil, "empty"}, {"a text", []byte("Dear reader, this is no index, and it is long enough to be one."),
			"not a label index"},
		{"cut in the header", whole[:10], "truncated"}, {"cut", whole[:len(whole)/2], "truncated"}, {"cut at the end",
			whole[:len(whole)-1], "truncated"},
		{"another version", other, "format 2, but this program reads format 1; build it again"}, {"garbled", garbled,
			"wrong checksum"},
	} {
		if err := os.WriteFile(path, c.b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, nil); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestVerifyFindsAWrongByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	created(t, path, people)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[headerSize+40] ^= 4
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Verify(context.Background()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// TestCutWhileMapped checks that truncating an open file, which Create never does, causes an error instead of a crash.
func TestCutWhileMapped(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	many := make([]Entry, 2000)
	for i := range many {
		many[i] = Entry{IRI: fmt.Sprintf("q:%d", i), Label: fmt.Sprintf("name %d", i)}
	}
	created(t, path, many)
	f, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Search(context.Background(), Query{Text: "name"}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v", err)
	}
}

// TestWriterSortsInPasses checks that the index is the same no matter how little memory the writer may use.
func TestWriterSortsInPasses(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for _, memory := range []uint64{0, 16} {
		path := filepath.Join(dir, fmt.Sprint(memory))
		if _, err := Create(context.Background(), path, Options{Memory: memory}, addAll(people)); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(b))
	}
	if files[0] != files[1] {
		t.Error("the files differ")
	}
}

// FuzzDamaged checks that opening and searching a damaged index returns a result or ErrCorrupt, even if the directory
// and the checksums are adjusted to match the damage.
func FuzzDamaged(f *testing.F) {
	_, whole := imageOf(f, people)
	f.Add(uint32(20), []byte{0xff}, "albert e")
	f.Add(uint32(700), []byte{0xff, 0xff, 0xff, 0xff}, "Albrt")
	f.Add(uint32(len(whole)-trailerSize-30), []byte("9999"), "of")
	f.Fuzz(func(t *testing.T, at uint32, change []byte, text string) {
		hung := time.AfterFunc(time.Minute, func() { panic("a search in a damaged index does not end") })
		defer hung.Stop()
		b := append([]byte(nil), whole...)
		copy(b[int(at)%len(b):], change)
		trailer := b[len(b)-trailerSize:]
		if from, n := binary.LittleEndian.Uint64(trailer), binary.LittleEndian.Uint64(trailer[8:]); from < uint64(len(b)) &&
			n < uint64(len(b))-from {
			binary.LittleEndian.PutUint32(trailer[16:], crc32.Checksum(b[from:from+n], castagnoli))
		}
		im, err := newImage(b)
		if err == nil {
			for _, q := range []Query{{Text: text}, {Text: text, Among: []string{"q:albert", "p:imdb"}, Language: "ru"}} {
				q, _ = q.normal()
				if _, err = im.search(context.Background(), q, nil); err != nil {
					break
				}
			}
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("got %v", err)
		}
	})
}
