package runs

import (
	"io/fs"
	"net/http"
	"os"
	"strings"
)

// judged lists the ID suffixes of runs that only judge a post: whether it is a request, or whether it repeats an
// earlier one.
var judged = []string{"-triage", "-asked"}

// runID returns the ID in a run's file name, such as ID-20261120T101500.000, and whether the run only judges a post.
func runID(name string) (id string, triage bool) {
	id = name
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		id = name[:i]
	}
	for _, end := range judged {
		if key, ok := strings.CutSuffix(id, end); ok {
			return key, true
		}
	}
	return id, false
}

// Latest returns the URL of the newest run for each ID, such as a request's key. A run that only judges a post (is it a
// request, was it made before) is returned only if there is no other run.
func (p *Pages) Latest() map[string]string {
	files, err := os.ReadDir(p.Trajectories) // sorted by name and therefore by time
	if err != nil {
		p.Log.Debug("the folder of the trajectories cannot be read", "error", err)
	}
	out, solved := map[string]string{}, map[string]bool{}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ending)
		if !ok {
			continue
		}
		id, triage := runID(name)
		if triage && solved[id] {
			continue
		}
		solved[id] = !triage
		e := entry{Name: name}
		out[id] = e.Address()
	}
	return out
}

// request redirects from a request's key to its newest run; replies on the wiki link to runs this way.
func (p *Pages) request(w http.ResponseWriter, r *http.Request) {
	to := p.Latest()[r.PathValue("key")]
	if to == "" {
		p.missing(w, r, fs.ErrNotExist)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// ledgerEntry returns the URL of the request that a run belongs to, or "" if the question was not asked on a wiki.
func (p *Pages) ledgerEntry(r *http.Request, name string) string {
	if from := source(name); p.Request == nil || from != fromBot && from != fromTriage {
		return ""
	}
	id, _ := runID(name)
	return p.Request(r.Context(), id)
}
