package ask

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Pictures fetches pictures by file name and returns each picture's media type, such as image/png. If there is no
// picture that a page may show, the error is [fs.ErrNotExist].
type Pictures interface {
	Get(ctx context.Context, file string) (kind string, data []byte, err error)
}

// picture sends the picture whose file name is in a cell of the result. Rows are numbered from 1 in the query's order,
// and a column is identified by its name. The file name comes only from the stored result, never from the request.
func (s *Server) picture(w http.ResponseWriter, r *http.Request, find find) error {
	if s.Pictures == nil {
		return refuse(http.StatusNotFound, "ask.noresult")
	}
	f, err := find(r)
	if err != nil {
		return err
	}
	file := pictureAt(f.Table, number(r.PathValue("n"), 0), r.PathValue("column"))
	if file == "" {
		return refuse(http.StatusNotFound, "ask.noresult")
	}
	kind, data, err := s.Pictures.Get(r.Context(), file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(http.StatusNotFound, "ask.nopicture")
	case err != nil:
		s.Log.DebugContext(r.Context(), "no picture", "file", file, "error", err)
		return refuse(http.StatusServiceUnavailable, "ask.nopicture")
	case !slices.Contains(bitmaps, kind):
		return refuse(http.StatusNotFound, "ask.nopicture")
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox") // in case the picture is opened as a page
	h.Set("Cache-Control", "private, max-age=86400")
	_ = http.NewResponseController(w).SetWriteDeadline(s.Now().Add(time.Minute)) // not all writers support deadlines
	_, _ = w.Write(data)                                                         // the client may have disconnected
	return nil
}

// bitmaps are the media types of pictures that cannot contain active content.
var bitmaps = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// pictureAt returns the file name in a cell of a result, or "" if there is none.
func pictureAt(t *kg.Table, n int, column string) string {
	i := slices.Index(t.Vars, column)
	if i < 0 || n < 1 || n > len(t.Rows) || i >= len(t.Rows[n-1]) || t.Rows[n-1][i].Kind != rdf.IRIKind {
		return ""
	}
	return commonsName(t.Rows[n-1][i].Value)
}

// commonsName returns the name of a file on Wikimedia Commons, or "" if the IRI does not identify one.
func commonsName(iri string) string {
	file, ok := strings.CutPrefix(iri, commonsFile)
	if !ok {
		return ""
	}
	plain, err := url.PathUnescape(file)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(plain, "_", " ")
}
