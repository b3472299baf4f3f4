package layout

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

const prefix = "/static/"

// file is a static file, with a compressed copy that is made when it is first requested.
type file struct {
	data   []byte
	zipped func() []byte
	kind   string
}

// static contains all static files. Their URLs share a hash of all files, so scripts can import each other by relative
// paths, and a browser never mixes two versions of the program.
type static struct {
	files map[string]file
	hash  string
}

func newStatic() *static { return &static{files: map[string]file{}} }

var kinds = map[string]string{
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".json": "application/json; charset=utf-8",
	".svg":  "image/svg+xml",
	".png":  "image/png",
	".txt":  "text/plain; charset=utf-8",
}

// add reads a folder. It panics if a file cannot be served, since the files are part of the program.
func (s *static) add(name string, files fs.FS) {
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		kind := kinds[path.Ext(p)]
		if kind == "" {
			panic("layout: the kind of the static file " + p + " is not known")
		}
		data, err := fs.ReadFile(files, p)
		if err != nil {
			return err
		}
		s.files[name+"/"+p] = file{data, sync.OnceValue(func() []byte { return zip(data) }), kind}
		return nil
	})
	if err != nil {
		panic(err)
	}
	sum := sha256.New()
	for _, n := range slices.Sorted(maps.Keys(s.files)) {
		sum.Write([]byte(n + "\x00"))
		sum.Write(s.files[n].data)
	}
	s.hash = hex.EncodeToString(sum.Sum(nil))[:12]
}

func (s *static) address(name string) string {
	if _, ok := s.files[name]; !ok {
		panic("layout: there is no static file " + name)
	}
	return prefix + s.hash + "/" + name
}

// ServeStatic serves the files added with [Site.Static]; it must be registered at /static/. Browsers may cache them for
// a year. Files from a different version of the program are not found: pages of that version must be reloaded.
func (s *Site) ServeStatic(w http.ResponseWriter, r *http.Request) {
	rest, ok := strings.CutPrefix(r.URL.Path, prefix+s.static.hash+"/")
	f, found := s.static.files[rest]
	if !ok || !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", f.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Add("Vary", "Accept-Encoding")
	if takesGzip(r) {
		if zipped := f.zipped(); zipped != nil {
			h.Set("Content-Encoding", "gzip")
			_, _ = w.Write(zipped)
			return
		}
	}
	_, _ = w.Write(f.data)
}

// zip compresses data as much as possible; it returns nil if the result is not smaller.
func zip(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err)
	}
	_, _ = z.Write(data) // writing to a buffer never fails
	_ = z.Close()
	if b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}
