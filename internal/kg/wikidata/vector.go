package wikidata

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
)

// Limits on calls to Wikidata's vector database. Source: its documentation (wd-vectordb.wmcloud.org/docs) and code.
const (
	vectorTimeout = 10 * time.Second
	mostVectors   = 50  // maximum number of hits per call
	mostSimilar   = 100 // maximum number of IDs in a similarity request
	offFor        = 10 * time.Minute
)

// vectorPace stays within the limit of 30 calls per minute per User-Agent: there are never more than 5 + 25 calls in a
// minute.
var vectorPace = remote.Pace{Calls: 5, CallRate: 25}

// errOff means that the search is temporarily disabled.
var errOff = errors.New("the search by meaning is temporarily disabled")

// vector implements search by meaning. After a failure, it is disabled for a while, since it only supplements other
// searches and nothing depends on it.
type vector struct {
	service *remote.Service
	address string
	lg      *slog.Logger
	now     func() time.Time
	mu      sync.Mutex
	off     time.Time // the search is disabled until this time
}

// vectorHit is a hit in the vector database. It does not have a label.
type vectorHit struct {
	QID        string  `json:"QID"`
	PID        string  `json:"PID"`
	ID         string  `json:"id"` // in responses about similarity
	Similarity float64 `json:"similarity_score"`
}

func (h vectorHit) id() string { return cmp.Or(h.QID, h.PID, h.ID) }

// find returns the IDs of the entities that are closest in meaning, best first.
func (v *vector) find(ctx context.Context, text, lang string, typ kg.Type, limit int, external bool) ([]string, error) {
	path, params := "/item/query/", url.Values{"query": {text}, "lang": {lang},
		"K": {strconv.Itoa(min(limit, mostVectors))}}
	if typ == kg.Property {
		path = "/property/query/"
		params.Set("exclude_external_ids", strconv.FormatBool(!external))
	}
	hits, err := v.get(ctx, path, params)
	if err != nil {
		return nil, err
	}
	return vectorIDs(hits, typ), nil
}

// vectorIDs returns the IDs of the hits with the given type, without duplicates.
func vectorIDs(hits []vectorHit, typ kg.Type) []string {
	var out []string
	for _, h := range hits {
		if id := h.id(); labelled(id) && (typ == "" || (id[0] == 'P') == (typ == kg.Property)) && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// likeness orders IDs by how similar their meaning is to the given text.
func (v *vector) likeness(ctx context.Context, text, lang string, ids []string) ([]string, error) {
	hits, err := v.get(ctx, "/similarity-score/", url.Values{"query": {text}, "lang": {lang},
		"qid": {strings.Join(ids[:min(len(ids), mostSimilar)], ",")}})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(hits, func(a, b vectorHit) int { return cmp.Compare(b.Similarity, a.Similarity) })
	return vectorIDs(hits, ""), nil
}

// get makes one call. A call that would have to wait too long, or that is made while the search is disabled, fails
// immediately.
func (v *vector) get(ctx context.Context, path string, params url.Values) ([]vectorHit, error) {
	v.mu.Lock()
	off := v.now().Before(v.off)
	v.mu.Unlock()
	if off {
		return nil, errOff
	}
	var hits []vectorHit
	short, cancel := context.WithTimeout(ctx, vectorTimeout)
	defer cancel()
	err := v.service.Do(short, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, v.address+path+"?"+params.Encode(), nil)
		if err == nil {
			req.Header.Set("Accept", "application/json")
		}
		return req, err
	}, func(a remote.Answer, now time.Time) *kg.Error { return readList(a, now, &hits) })
	if err != nil && ctx.Err() == nil {
		v.fail(err)
	}
	return hits, err
}

// fail disables the search for ten minutes, or for as long as the service requests.
func (v *vector) fail(err error) {
	wait := offFor
	var ke *kg.Error
	if errors.As(err, &ke) && ke.RetryAfter > 0 {
		wait = max(ke.RetryAfter, offFor)
	}
	v.mu.Lock()
	v.off = v.now().Add(wait)
	v.mu.Unlock()
	v.lg.Info("the search by meaning failed and is temporarily disabled", "service", v.service.Shown(),
		"for", wait, "err", err)
}

// rrf is the constant of reciprocal rank fusion (60 in Cormack, Clarke and Büttcher, SIGIR 2009).
const rrf = 60

// fuse merges rankings by reciprocal rank: entities are ordered by the sum of 1/(60+rank), with ties broken by the
// first ranking.
func fuse(rankings ...[]string) []string {
	score := map[string]float64{}
	var order []string
	for _, r := range rankings {
		for i, id := range r {
			if _, seen := score[id]; !seen {
				order = append(order, id)
			}
			score[id] += 1 / float64(rrf+i+1)
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return order
}
