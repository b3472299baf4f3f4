package politehttp

import (
	"errors"
	"fmt"
	"io"
)

// TooLargeError reports that a response was cut off because it exceeded the size limit.
type TooLargeError struct {
	Limit int64 // bytes
}

// Error returns a message that states the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer is larger than %d bytes and was cut", e.Limit)
}

// Permanent reports that retrying the request will not help.
func (e *TooLargeError) Permanent() bool { return true }

// LimitBody returns a reader for body that fails with a *[TooLargeError] after limit bytes, without reading further.
// Close closes body.
func LimitBody(body io.ReadCloser, limit int64) io.ReadCloser {
	return &limited{body: body, left: limit, limit: limit}
}

type limited struct {
	body        io.ReadCloser
	left, limit int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, &TooLargeError{Limit: l.limit}
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		return n - 1, &TooLargeError{Limit: l.limit}
	}
	return n, err
}

func (l *limited) Close() error { return l.body.Close() }

// ReadAll reads body up to limit bytes and closes it. It returns what it has read even if there is an error, so that
// callers can examine the end of a truncated response. If body exceeds the limit, the error is a *[TooLargeError].
func ReadAll(body io.ReadCloser, limit int64) ([]byte, error) {
	l := LimitBody(body, limit)
	data, err := io.ReadAll(l)
	if cerr := l.Close(); err == nil && cerr != nil && !errors.Is(cerr, io.EOF) {
		err = cerr
	}
	return data, err
}
