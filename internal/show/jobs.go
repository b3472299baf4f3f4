package show

import (
	"fmt"
	"time"

	"github.com/spinachbot/spinachbot/internal/console"
	"github.com/spinachbot/spinachbot/internal/job"
	"github.com/spinachbot/spinachbot/internal/text"
)

// Jobs prints a table of jobs.
func (l *Ledger) Jobs(jobs []job.Job) error {
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format("2006-01-02 15:04")
	}
	table := &console.Table{Header: []string{"JOB", "KIND", "STATE", "TRIES", "DUE", "UNTIL", "WORKER", "REASON"},
		Fixed: map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true}}
	for _, j := range jobs {
		worker := ""
		if j.State == job.Running {
			worker = j.Holder
		}
		table.Rows = append(table.Rows, []string{j.Key, j.Kind, string(j.State), fmt.Sprint(j.Attempts), at(j.Due),
			at(j.Deadline), worker, text.OneLine(j.Reason)})
	}
	return table.Write(l.Out, l.Width(), func(s string) string { return l.Out.In(console.Bold, s) })
}
