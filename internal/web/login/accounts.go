package login

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// noteKey is the key of the note that contains the accounts and the signing key.
const noteKey = "web/logins"

// maxAccounts limits the number of accounts, since each login is compared with all of them.
const maxAccounts = 200

// book is the content of the note that holds the accounts.
type book struct {
	Secret   []byte    `json:"secret"`
	Logouts  int64     `json:"logouts"` // number of the operator's logouts
	Accounts []account `json:"accounts,omitempty"`
}

// account is the stored form of an [Account].
type account struct {
	Name    string    `json:"name"`
	Hash    []byte    `json:"hash"` // SHA-256 of the token, which has 128 random bits and is unguessable
	Logouts int64     `json:"logouts"`
	Made    time.Time `json:"made"`
}

func (b *book) account(name string) *account {
	i := slices.IndexFunc(b.Accounts, func(a account) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &b.Accounts[i]
}

// books reads and writes the accounts. If two processes change them at the same time, one change may be lost, but that
// is unlikely with only one operator.
type books struct {
	notes  Notes
	random io.Reader
	mu     sync.Mutex // held during a change
}

// read returns the book, creating it if it does not exist.
func (s *books) read(ctx context.Context) (*book, error) {
	b, ok, err := s.get(ctx)
	if err != nil || ok {
		return b, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, ok, err = s.get(ctx); err != nil || ok { // another process created it first
		return b, err
	}
	b = &book{Secret: make([]byte, 32)}
	if _, err := io.ReadFull(s.random, b.Secret); err != nil {
		return nil, err
	}
	return b, s.put(ctx, b)
}

func (s *books) get(ctx context.Context) (*book, bool, error) {
	raw, ok, err := s.notes.Get(ctx, noteKey)
	if err != nil || !ok {
		return nil, false, err
	}
	b := new(book)
	if err := json.Unmarshal(raw, b); err != nil || len(b.Secret) == 0 {
		return nil, false, fmt.Errorf("parsing the note %s in the ledger: %w", noteKey, err)
	}
	return b, true, nil
}

func (s *books) put(ctx context.Context, b *book) error {
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return s.notes.Put(ctx, noteKey, raw)
}

// change reads the book, changes it and writes it.
func (s *books) change(ctx context.Context, f func(*book) error) error {
	if _, err := s.read(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b, _, err := s.get(ctx)
	if err != nil {
		return err
	}
	if err := f(b); err != nil {
		return err
	}
	return s.put(ctx, b)
}

func (s *books) logout(ctx context.Context, u User) error {
	return s.change(ctx, func(b *book) error {
		if u.Operator {
			b.Logouts++
		} else if a := b.account(u.Name); a != nil {
			a.Logouts++
		}
		return nil
	})
}

// Account is the account of an annotator whom the operator has admitted.
type Account struct {
	Name string
	Made time.Time
}

// Accounts returns the accounts, sorted by name.
func (d *Door) Accounts(ctx context.Context) ([]Account, error) {
	b, err := d.books.read(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Account, len(b.Accounts))
	for i, a := range b.Accounts {
		out[i] = Account{a.Name, a.Made}
	}
	slices.SortFunc(out, func(a, b Account) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Problem is an error meant for the user who sent the request.
type Problem string

func (p Problem) Error() string { return string(p) }

// ErrNoAccount means that there is no account with this name.
var ErrNoAccount = errors.New("there is no such account")

// Add creates an account and returns its token, which is shown once and not stored. The name must be normalized.
func (d *Door) Add(ctx context.Context, name string) (token string, err error) {
	return d.renew(ctx, func(b *book, hash []byte) error {
		switch {
		case slices.ContainsFunc(b.Accounts, func(a account) bool { return strings.EqualFold(a.Name, name) }):
			return Problem("An account named " + name + " already exists. Make a new token for it instead.")
		case strings.EqualFold(name, d.Name):
			return Problem("This is the operator's own name. Give the annotator another one.")
		case len(b.Accounts) >= maxAccounts:
			return Problem(fmt.Sprintf("There are already %d accounts, which is the maximum. Remove one first.", maxAccounts))
		}
		b.Accounts = append(b.Accounts, account{Name: name, Hash: hash, Made: d.Now().UTC()})
		return nil
	})
}

// Renew creates a new token for an account. The old token and all logins with it become invalid.
func (d *Door) Renew(ctx context.Context, name string) (token string, err error) {
	return d.renew(ctx, func(b *book, hash []byte) error {
		a := b.account(name)
		if a == nil {
			return ErrNoAccount
		}
		a.Hash = hash
		return nil
	})
}

func (d *Door) renew(ctx context.Context, f func(b *book, hash []byte) error) (string, error) {
	secret := make([]byte, 16)
	if _, err := io.ReadFull(d.Random, secret); err != nil {
		return "", err
	}
	token := hex.EncodeToString(secret)
	hash := sha256.Sum256([]byte(token))
	if err := d.books.change(ctx, func(b *book) error { return f(b, hash[:]) }); err != nil {
		return "", err
	}
	return token, nil
}

// Remove deletes an account. Its annotations are kept.
func (d *Door) Remove(ctx context.Context, name string) error {
	return d.books.change(ctx, func(b *book) error {
		n := len(b.Accounts)
		b.Accounts = slices.DeleteFunc(b.Accounts, func(a account) bool { return a.Name == name })
		if len(b.Accounts) == n {
			return ErrNoAccount
		}
		return nil
	})
}
