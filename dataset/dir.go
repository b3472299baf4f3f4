package dataset

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spinachbot/spinachbot/internal/text"
)

// The files in a harvest folder. Only the harvest uses the database. The other files are for anyone to read, and each
// is replaced atomically.
const (
	HarvestDB      = "harvest.db"       // pages read and queries run so far, so that an interrupted harvest can continue
	CandidatesFile = "candidates.jsonl" // staged candidates, one per line, sorted by month, page, and section
	RejectedFile   = "rejected.jsonl"   // rejected candidates with reasons, and candidates that are gone
	FunnelFile     = "funnel.json"      // number of discussions that reached each stage; see [Funnel]
	FunnelPicture  = "funnel.svg"
	ResultsFolder  = "results" // ID.json.gz: all rows of a staged candidate
)

// Funnel counts the discussions in an archive that reached each stage.
type Funnel struct {
	Schema int       `json:"schema"`
	Total  Counts    `json:"total"`
	Years  []Counts  `json:"years"` // ascending
	Pages  PageCount `json:"pages"`
}

// Counts are the totals for one year of the archive, or for all years.
type Counts struct {
	Year        int `json:"year,omitempty"` // 0 in the total
	Discussions int `json:"discussions"`    // threads on the archive pages
	// threads with a query posted by someone other than the bot (paper: 2,780)
	WithQuery int `json:"with_query"`
	// threads whose last-mentioned query parses and is allowed
	Valid    int            `json:"valid"`
	Run      int            `json:"run"`     // threads whose query an endpoint evaluated completely
	Staged   int            `json:"staged"`  // threads whose result has rows and is below the size limit (paper: 2,171)
	Gone     int            `json:"gone"`    // threads whose text has since been removed
	Pending  int            `json:"pending"` // found but not yet run
	Rejected map[Reason]int `json:"rejected"`
}

// PageCount counts archive pages.
type PageCount struct {
	Listed int `json:"listed"`
	Read   int `json:"read"`
	Gone   int `json:"gone"`
}

// maxLine is the maximum length of a line in a candidates file. A wiki page is at most 2 MB, and a sample has at most
// 20 rows.
const maxLine = 64 << 20

// ReadCandidates reads candidates.jsonl or rejected.jsonl. Errors include the line number.
func ReadCandidates(r io.Reader) ([]Candidate, error) {
	var out []Candidate
	for c, err := range EachCandidate(r) {
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// EachCandidate reads the candidates in candidates.jsonl or rejected.jsonl one by one. The first error, which includes
// the line number, ends the sequence.
func EachCandidate(r io.Reader) iter.Seq2[Candidate, error] {
	return func(yield func(Candidate, error) bool) {
		sc := bufio.NewScanner(r)
		sc.Buffer(make([]byte, 0, 64<<10), maxLine)
		for n := 1; sc.Scan(); n++ {
			line := bytes.TrimSpace(sc.Bytes())
			if len(line) == 0 {
				continue
			}
			var c Candidate
			err := json.Unmarshal(line, &c)
			switch {
			case err != nil:
				err = fmt.Errorf("line %d is not a candidate: %w", n, text.JSON(err))
			case c.Schema != CandidateSchema:
				err = fmt.Errorf("line %d has schema %d, but this program reads %d: use the version that wrote it, "+
					"or harvest again", n, c.Schema, CandidateSchema)
			case !ValidID(c.ID):
				err = fmt.Errorf("line %d has an invalid candidate ID: %q", n, c.ID)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
		if err := sc.Err(); err != nil {
			yield(Candidate{}, fmt.Errorf("reading candidates: %w", err))
		}
	}
}

// WriteCandidate writes a candidate as a line of candidates.jsonl.
func WriteCandidate(w io.Writer, c *Candidate) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(c)
}

// ReadCandidatesDir reads the staged candidates in a harvest folder.
func ReadCandidatesDir(dir string) ([]Candidate, error) {
	name := filepath.Join(dir, CandidatesFile)
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s has no %s: run spinachbot harvest --out %s first", dir, CandidatesFile, dir)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cs, err := ReadCandidates(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cs, nil
}

// ReadFunnel reads the funnel in a harvest folder.
func ReadFunnel(dir string) (Funnel, error) {
	var f Funnel
	name := filepath.Join(dir, FunnelFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return f, fmt.Errorf("%s: %w", name, text.JSON(err))
	}
	return f, nil
}

// ValidID reports whether id has the form of a candidate's ID: "c-" followed by 16 hex digits. Only a valid ID may
// become part of a file name.
func ValidID(id string) bool {
	digits, ok := strings.CutPrefix(id, "c-")
	return ok && len(digits) == 16 && strings.Trim(digits, "0123456789abcdef") == ""
}

// ResultPath returns the path of the file that contains all of a candidate's rows.
func ResultPath(dir, id string) (string, error) {
	if !ValidID(id) {
		return "", fmt.Errorf("%q is not a candidate id", id)
	}
	return filepath.Join(dir, ResultsFolder, id+".json.gz"), nil
}

// ReadResult reads all of a candidate's rows, in the SPARQL 1.1 Query Results JSON Format. It returns an error if they
// exceed limit bytes.
func ReadResult(dir, id string, limit int64) ([]byte, error) {
	name, err := ResultPath(dir, id)
	if err != nil {
		return nil, err
	}
	return ReadGzip(name, limit)
}

// ReadGzip reads a gzip file. It returns an error if the uncompressed content exceeds limit bytes.
func ReadGzip(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return b, nil
}

// WriteGzip atomically replaces a gzip file; see [ReplaceFile].
func WriteGzip(name string, content []byte) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(content)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return ReplaceFile(name, b.Bytes())
}
