package sandbox

import (
	"net/http"
	"strings"
	"sync"
	"time"
)

// Activity watches the bot's requests to the sandbox, so the forum page can show what the bot is doing.
type Activity struct {
	name string // the program's name, as it appears at the start of its User-Agent
	now  func() time.Time
	mu   sync.Mutex
	what string
	at   time.Time
}

// NewActivity returns an Activity for requests from the program whose User-Agent starts with name and a slash.
func NewActivity(name string, now func() time.Time) *Activity {
	return &Activity{name: name, now: now}
}

// fresh is how long Status keeps reporting a request.
const fresh = 3 * time.Second

// Watch records requests from the program's own clients.
func (a *Activity) Watch(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if what := a.doing(r); what != "" {
			a.mu.Lock()
			a.what, a.at = what, a.now()
			a.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// doing returns what the bot is doing when it sends a request, or "" if the request is not from the bot or has nothing
// to do with a question.
func (a *Activity) doing(r *http.Request) string {
	if !strings.HasPrefix(r.UserAgent(), a.name+"/") {
		return ""
	}
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v1/"):
		return "The bot asks the model"
	case path == "/sparql":
		return "The bot runs a query"
	case path == "/w/api.php" && strings.HasPrefix(r.URL.Query().Get("action"), "wb"):
		return "The bot looks up items"
	}
	return ""
}

// Status returns what the bot is doing, or "" if unknown.
func (a *Activity) Status() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at.IsZero() || a.now().Sub(a.at) > fresh {
		return ""
	}
	return a.what
}
