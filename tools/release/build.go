package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const program = "./cmd/spinachbot"

// compile builds the program for a platform from dir/src and returns the file. If cache is empty, the user's build
// cache is used.
func compile(dir, cache string, v version, target string) (string, error) {
	system, arch, _ := strings.Cut(target, "/")
	bin := filepath.Join(dir, "spinachbot-"+system+"-"+arch)
	abs, err := filepath.Abs(bin)
	if err != nil {
		return "", err
	}
	const info = "github.com/spinachbot/spinachbot/internal/buildinfo"
	// The build ID is empty, and there is no version control stamp, because a build from an unpacked archive would have
	// none.
	link := fmt.Sprintf("-s -w -buildid= -X %s.tag=%s -X %s.commit=%s -X %s.date=%s",
		info, v.tag, info, v.commit, info, v.date.Format(time.RFC3339))
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", link, "-o", abs, program)
	c.Dir = filepath.Join(dir, "src")
	c.Env = append(without(os.Environ(), "GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOFIPS140"),
		"CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=", "GOWORK=off", "GOENV=off",
		"GOTOOLCHAIN=local")
	if cache != "" {
		c.Env = append(c.Env, "GOCACHE="+cache)
	}
	var complaint bytes.Buffer
	c.Stderr = &complaint
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, &complaint)
	}
	return bin, nil
}

// without returns an environment without the given variables.
func without(environ []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

func same(a, b string) error {
	x, err := os.ReadFile(a)
	if err != nil {
		return err
	}
	y, err := os.ReadFile(b)
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		n := 0
		for n < min(len(x), len(y)) && x[n] == y[n] {
			n++
		}
		return fmt.Errorf("two builds differ from byte %d: the build is not reproducible", n)
	}
	return nil
}

var packed = []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", ".env.example"}

type entry struct {
	name string
	mode os.FileMode
	data []byte
}

// pack writes the archive for one platform: zip for Windows, otherwise tar.gz. Its bytes depend only on the files and
// the commit's date.
func pack(src, bin, out, name, target string, v version) error {
	windows := strings.HasPrefix(target, "windows/")
	exe := "spinachbot"
	if windows {
		exe += ".exe"
	}
	data, err := os.ReadFile(bin)
	if err != nil {
		return err
	}
	files := []entry{{name + "/" + exe, 0o755, data}}
	for _, f := range packed {
		data, err := os.ReadFile(filepath.Join(src, f))
		if err != nil {
			return err
		}
		files = append(files, entry{name + "/" + f, 0o644, data})
	}
	var b bytes.Buffer
	ending := ".tar.gz"
	if windows {
		ending, err = ".zip", writeZip(&b, files, v.date)
	} else {
		err = writeTar(&b, files, v.date)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+ending), b.Bytes(), 0o644)
}

func writeTar(w io.Writer, files []entry, date time.Time) error {
	z := gzip.NewWriter(w) // the gzip header has neither a name nor a time
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: date,
			Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func writeZip(w io.Writer, files []entry, date time.Time) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: date}
		h.SetMode(f.mode)
		e, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := e.Write(f.data); err != nil {
			return err
		}
	}
	return z.Close()
}

// writeSums writes SHA256SUMS, which `sha256sum -c` reads.
func writeSums(dir string) error {
	entries, err := os.ReadDir(dir) // sorted by name
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), e.Name())
	}
	return os.WriteFile(filepath.Join(dir, sums), []byte(b.String()), 0o644)
}
