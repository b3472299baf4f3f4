package llm

import (
	"fmt"
	"log/slog"

	"github.com/spinachbot/spinachbot/internal/politehttp"
)

// Secret is a string that is never printed: every format verb, JSON and slog show ****** instead.
type Secret struct{ s string }

// NewSecret wraps a secret.
func NewSecret(s string) Secret { return Secret{s: s} }

// Reveal returns the secret itself. Call it only to send the secret.
func (s Secret) Reveal() string { return s.s }

// Empty reports whether there is no secret.
func (s Secret) Empty() bool { return s.s == "" }

// String returns ******, or "" if there is no secret.
func (s Secret) String() string {
	if s.s == "" {
		return ""
	}
	return politehttp.Mask
}

// Format writes ****** for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText writes ******, so encoding/json does too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue shows ****** to slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
