package graphs

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/registry"
	"github.com/spinachbot/spinachbot/internal/kg/remote"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
	"github.com/spinachbot/spinachbot/internal/kg/shape/void"
	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// describe returns a function that queries a graph's description of itself; see [shape.Options].
type describe func(context.Context) (shape.Query, error)

// voidTime is the maximum time that a shape waits for a server's description of its graph.
const voidTime = 10 * time.Second

// void returns a function that reads the description that an entry's graph publishes about itself. It reads the file or
// address in the entry's void key or, without that key, the address that the standard defines. A Wikibase without the
// key has no description.
func (o *Opener) void(e *registry.Entry) (describe, error) {
	address := e.VoID
	switch {
	case address == "" && e.IsWikibase():
		return nil, nil
	case address == "":
		var err error
		if address, err = void.WellKnown(e.Address); err != nil {
			return nil, err
		}
	case !strings.Contains(address, "://"):
		return void.File(address), nil
	}
	ua, err := o.UserAgent(loopback(address))
	if err != nil {
		return nil, err
	}
	rt, err := o.transport(ua, address)
	if err != nil {
		return nil, err
	}
	cfg := remote.Config{Address: address, UserAgent: ua, Timeout: voidTime, Retry: politehttp.Policy{Attempts: 1}}
	if sameHost(address, e.Address) { // the endpoint's headers may also be used to fetch its description
		headers, _, err := e.Secrets(o.Lookup)
		if err != nil {
			return nil, err
		}
		cfg.Header = http.Header{}
		for k, v := range headers {
			cfg.Header.Set(k, v)
		}
	}
	service, err := remote.New(o.Log, cfg, rt, o.Clock, o.Random, o.Budgets)
	if err != nil {
		return nil, err
	}
	return void.Fetch(address, func(ctx context.Context, address string) ([]byte, error) {
		return document(ctx, service, address)
	}), nil
}

// document fetches the document at an address.
func document(ctx context.Context, service *remote.Service, address string) (data []byte, err error) {
	err = service.Do(ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err == nil {
			req.Header.Set("Accept", "text/turtle, application/n-triples")
		}
		return req, err
	}, func(a remote.Answer, _ time.Time) *kg.Error {
		if data = a.Body; a.Err != nil || a.Status != http.StatusOK {
			return &kg.Error{Kind: kg.NotFound, Message: "there is no description", Err: a.Err}
		}
		return nil
	})
	return data, err
}

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// shapesOf returns the shape store of an in-memory graph. Shapes are stored under a hash of the graph's content, so
// they survive restarts but not changes to the graph's files. The hash is computed when the first shape is requested.
func (o *Opener) shapesOf(g *embedded.Graph) shape.Store {
	return lateStore(sync.OnceValue(func() shape.Store {
		return shape.Folder(filepath.Join(o.DataDir, "shapes", "data-"+g.Digest()[:16]))
	}))
}

// lateStore is a store that is created on first use.
type lateStore func() shape.Store

func (l lateStore) Get(ctx context.Context, key string) ([]byte, bool, error) {
	return l().Get(ctx, key)
}

func (l lateStore) Put(ctx context.Context, key string, value []byte) error {
	return l().Put(ctx, key, value)
}
