package sandbox

import (
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Limits bound what clients can hold of a server.
type Limits struct {
	Connections int           // open at the same time; further ones wait until one is closed
	Header      time.Duration // to send a request's header
	Body        time.Duration // to send its body
	Answer      time.Duration // to read the answer, where the handler sets no limit of its own
	Idle        time.Duration // between two requests of a connection
}

// DefaultLimits are the limits of the sandbox and the demo.
var DefaultLimits = Limits{Connections: 512, Header: 10 * time.Second, Body: 20 * time.Second, Answer: time.Minute, Idle: 30 * time.Second}

// Listener bounds the connections of a listener.
func (l Limits) Listener(ln net.Listener) net.Listener {
	return netutil.LimitListener(ln, l.Connections)
}

// Server returns a server with these limits, which it keeps by the clock now.
func (l Limits) Server(h http.Handler, now func() time.Time) *http.Server {
	return &http.Server{Handler: l.bodies(h, now), ReadHeaderTimeout: l.Header, WriteTimeout: l.Answer, IdleTimeout: l.Idle}
}

// bodies bounds the time for a request's body. The server's own ReadTimeout would go on after the body and end long
// queries.
func (l Limits) bodies(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			conn := http.NewResponseController(w)
			_ = conn.SetReadDeadline(now().Add(l.Body)) // only a test's recorder has no deadlines
			r.Body = &timedBody{r.Body, conn}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a body that lifts the connection's deadline once it was read.
type timedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
