// Package void reads the VoID description that a graph publishes about itself, from a file or from the standard
// location on a server, so that package shape can query it.
package void

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/spinachbot/spinachbot/internal/kg/embedded"
	"github.com/spinachbot/spinachbot/internal/kg/shape"
)

// WellKnown returns the URL of a server's VoID description: /.well-known/void (W3C, Describing Linked Datasets with the
// VoID Vocabulary, section 7.2).
func WellKnown(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("%q is not an address", endpoint)
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/.well-known/void"}).String(), nil
}

// Fetch returns a function for shape.Options.VoID that fetches the description at a URL, such as one returned by
// WellKnown. get returns the body at a URL and must limit time and size.
func Fetch(address string, get func(ctx context.Context, address string) ([]byte, error),
) func(context.Context) (shape.Query, error) {
	return func(ctx context.Context) (shape.Query, error) {
		data, err := get(ctx, address)
		if err != nil {
			return nil, err
		}
		return Read(address, data)
	}
}

// File returns a function for shape.Options.VoID that reads a file in Turtle or N-Triples.
func File(path string) func(context.Context) (shape.Query, error) {
	return func(context.Context) (shape.Query, error) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("the VoID description cannot be read: %w", err)
		}
		return Read(path, data)
	}
}

// Read returns a function that queries a description in Turtle. name is used in errors.
func Read(name string, data []byte) (shape.Query, error) {
	b := embedded.NewBuilder()
	if err := b.Read("void.ttl", bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("the VoID description %s is not valid Turtle: %w", name, err)
	}
	return b.Graph(embedded.Options{Name: name}).Query, nil
}
