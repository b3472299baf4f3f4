package sandbox

import (
	"io"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/netutil"
)

// Limits bounds the server resources that clients can use.
type Limits struct {
	Connections int           // maximum number of open connections; others wait until one closes
	Header      time.Duration // time to send a request's header
	Body        time.Duration // time to send its body
	Answer      time.Duration // time to receive the response, unless the handler sets its own limit
	Idle        time.Duration // time between two requests on a connection
}

// DefaultLimits contains the limits for the sandbox and the demo.
var DefaultLimits = Limits{Connections: 512, Header: 10 * time.Second, Body: 20 * time.Second, Answer: time.Minute,
	Idle: 30 * time.Second}

// Listener returns a listener with a limit on its connections.
func (l Limits) Listener(ln net.Listener) net.Listener {
	return netutil.LimitListener(ln, l.Connections)
}

// Server returns a server with these limits. now is the clock used to set read deadlines.
func (l Limits) Server(h http.Handler, now func() time.Time) *http.Server {
	return &http.Server{Handler: l.bodies(h, now), ReadHeaderTimeout: l.Header, WriteTimeout: l.Answer,
		IdleTimeout: l.Idle}
}

// bodies limits the time for reading request bodies. http.Server.ReadTimeout would stay in effect after the body has
// been read, and cut off long queries.
func (l Limits) bodies(next http.Handler, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			conn := http.NewResponseController(w)
			_ = conn.SetReadDeadline(now().Add(l.Body)) // fails only for a test recorder, which does not support deadlines
			r.Body = &timedBody{r.Body, conn}
		}
		next.ServeHTTP(w, r)
	})
}

// timedBody is a request body that removes the connection's deadline once the body has been read.
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
