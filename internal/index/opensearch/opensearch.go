// Package opensearch stores the names from a graph in OpenSearch, for graphs whose labels do not fit on one machine. It
// returns the same hits as internal/index/lookup: words are folded by the same function, and each name is a separate
// document, so an entity has the rank of its best name.
//
// The two packages differ in these ways: any word may have a wrong letter, but not if only a prefix matches; whether
// weak matches are left out depends on the hits on the page, not on those in the whole index; ranking by meaning falls
// back to words, as the page's note explains; a query can specify at most 65,536 candidates.
//
// Source: OpenSearch's REST API, version 2: bulk, aliases, search with collapse.
package opensearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spinachbot/spinachbot/internal/index/lookup"
)

// MaxAmong is the maximum number of candidates that a query may specify: OpenSearch's default for
// index.max_terms_count.
const MaxAmong = 65_536

const (
	bulkNames   = 2000 // documents per bulk request
	maxResponse = 32 << 20
)

// Client is a [lookup.Searcher] for an OpenSearch alias. It is safe for concurrent use.
type Client struct {
	base  string
	alias string
	login Login
	http  *http.Client
}

// Login contains a user's credentials; the zero value means no login.
type Login struct{ User, Password string }

// slowest is the time limit for one request; a bulk request takes seconds.
const slowest = time.Minute

var _ lookup.Searcher = (*Client)(nil)

// New returns a client for the server at an address such as "http://127.0.0.1:9200". alias is the name of the index to
// search; it must consist of lowercase letters, digits and hyphens. rt sends requests to the server.
func New(address, alias string, login Login, rt http.RoundTripper) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the OpenSearch address must be an http or https URL without a user name or parameters")
	}
	if alias == "" || strings.Trim(alias, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(alias, "-") {
		return nil, fmt.Errorf("the index name %q must consist of lowercase letters, digits and hyphens", alias)
	}
	return &Client{base: strings.TrimSuffix(address, "/"), alias: alias, login: login, http: &http.Client{Transport: rt, Timeout: slowest,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// ErrDown means that no server responds at the address.
var ErrDown = errors.New("OpenSearch does not respond")

// Error is the error that the server returned instead of a result.
type Error struct {
	Status int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("OpenSearch: status %d: %s", e.Status, e.Reason) }

// document is one of an entry's names.
type document struct {
	IRI      string   `json:"iri"`
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Words    []string `json:"words"`
	Whole    string   `json:"whole"` // the words, joined
	Label    string   `json:"label"`
	Language string   `json:"language"`
	Aliases  []string `json:"aliases,omitempty"`
	Infos    []string `json:"infos,omitempty"`
	Score    float64  `json:"score"`
	Uses     int64    `json:"uses"`
	External bool     `json:"external"`
	Noise    bool     `json:"noise"`
	Held     bool     `json:"held"`
	First    bool     `json:"first"` // first of its entry's documents
}

// mapping defines which fields are searched; other fields are only stored.
const mapping = `{"settings":{"index":{"refresh_interval":"-1"}},"mappings":{"dynamic":false,"properties":{"iri":{"type":"keyword"},"type":{"type":"keyword"},
"words":{"type":"keyword"},"whole":{"type":"keyword","ignore_above":8000},"language":{"type":"keyword"},"score":{"type":"double"},"held":{"type":"boolean"},"first":{"type":"boolean"}}}}`

// Create fills a new index with the entries that rows adds, and points the alias to it when it is complete, so readers
// are not affected. name is the name of the new index, which must not exist yet. The indexes that the alias previously
// pointed to are removed. If Create fails, it removes the new index.
func (c *Client) Create(ctx context.Context, name string, rows func(add func(lookup.Entry) error) error) (err error) {
	if err := c.call(ctx, http.MethodPut, "/"+name, []byte(mapping), nil); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.call(context.WithoutCancel(ctx), http.MethodDelete, "/"+name, nil, nil))
		}
	}()
	var b bytes.Buffer
	n := 0
	enc := json.NewEncoder(&b)
	flush := func() error {
		if n == 0 {
			return nil
		}
		var r struct {
			Errors bool `json:"errors"`
		}
		err := c.call(ctx, http.MethodPost, "/"+name+"/_bulk", b.Bytes(), &r)
		if err == nil && r.Errors {
			err = errors.New("OpenSearch rejected some of the names")
		}
		b.Reset()
		n = 0
		return err
	}
	if err := rows(func(e lookup.Entry) error {
		for i, d := range documents(&e) {
			d.First = i == 0
			b.WriteString("{\"index\":{}}\n")
			if err := enc.Encode(d); err != nil {
				return err
			}
			n++
		}
		if n >= bulkNames {
			return flush()
		}
		return nil
	}); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if err := c.call(ctx, http.MethodPost, "/"+name+"/_refresh", nil, nil); err != nil {
		return err
	}
	return c.point(ctx, name)
}

// Rebuild is like [Client.Create], with a name derived from the alias and the time.
func (c *Client) Rebuild(ctx context.Context, now time.Time, rows func(add func(lookup.Entry) error) error) error {
	return c.Create(ctx, c.alias+"-"+now.UTC().Format("20060102t150405"), rows)
}

// point points the alias to an index and removes the indexes that it previously pointed to.
func (c *Client) point(ctx context.Context, name string) error {
	old := map[string]any{}
	var none *Error
	if err := c.call(ctx, http.MethodGet, "/_alias/"+c.alias, nil, &old); err != nil && !(errors.As(err, &none) &&
		none.Status == http.StatusNotFound) {
		return err
	}
	actions := []map[string]any{{"add": map[string]string{"index": name, "alias": c.alias}}}
	for o := range old {
		if o != name && none == nil {
			actions = append(actions, map[string]any{"remove_index": map[string]string{"index": o}})
		}
	}
	body, err := json.Marshal(map[string]any{"actions": actions})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "/_aliases", body, nil)
}

func documents(e *lookup.Entry) (out []document) {
	kind := e.Type
	if kind == lookup.Any {
		kind = lookup.Entity
	}
	for _, name := range append([]string{e.Label}, e.Aliases...) {
		if w := lookup.Words(name); len(w) > 0 {
			out = append(out, document{IRI: e.IRI, Type: string(kind), Name: name, Words: w, Whole: strings.Join(w, " "),
				Label: e.Label, Language: e.Language,
				Aliases: e.Aliases, Infos: e.Infos, Score: e.Score, Uses: e.Uses, External: e.External, Noise: e.Noise,
				Held: e.External || e.Noise})
		}
	}
	return out
}

func (d *document) entry() lookup.Entry {
	return lookup.Entry{IRI: d.IRI, Type: lookup.Type(d.Type), Label: d.Label, Language: d.Language, Aliases: d.Aliases,
		Infos: d.Infos, Score: d.Score,
		Uses: d.Uses, External: d.External, Noise: d.Noise}
}

// call sends a request and decodes the response into out, which may be nil.
func (c *Client) call(ctx context.Context, method, path string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		if strings.HasSuffix(path, "/_bulk") {
			req.Header.Set("Content-Type", "application/x-ndjson")
		}
	}
	if c.login != (Login{}) {
		req.SetBasicAuth(c.login.User, c.login.Password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %w", ErrDown, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	if err != nil {
		return fmt.Errorf("OpenSearch's response is incomplete: %w", err)
	}
	if len(b) > maxResponse {
		return fmt.Errorf("OpenSearch's response is longer than %d MB", maxResponse>>20)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return &Error{Status: resp.StatusCode, Reason: reason(b)}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(b, out); err != nil {
		return &Error{Status: resp.StatusCode, Reason: "the response is not JSON; is this the address of OpenSearch?"}
	}
	return nil
}

// reason returns the server's error message as a single line.
func reason(b []byte) string {
	var e struct {
		Error json.RawMessage `json:"error"`
	}
	var full struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(b, &e) == nil {
		if json.Unmarshal(e.Error, &full) == nil && full.Reason != "" {
			b = []byte(full.Reason)
		} else if len(e.Error) > 0 {
			b = e.Error
		}
	}
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "")), " ")
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}
