package bot

import (
	"strings"
	"testing"
	"time"

	"github.com/spinachbot/spinachbot/agent"
	"github.com/spinachbot/spinachbot/bot/reply"
	"github.com/spinachbot/spinachbot/forum"
	"github.com/spinachbot/spinachbot/internal/kg"
	"github.com/spinachbot/spinachbot/internal/rdf"
)

// Each check holds back a reply that has the problem it looks for, and states the reason.
func TestCheck(t *testing.T) {
	b := &Bot{cfg: Config{Page: "Forum", Account: "SpinachBot", Operator: "Olga"}}
	for name, tt := range map[string]struct {
		spoil func(r *forum.Reply, e *Entry)
		wiki  func(w string) string // damages the composed reply, as a bug in composing might
		want  string
	}{
		"good": {},
		"good with links": {spoil: func(r *forum.Reply, _ *Entry) {
			r.Trace, r.QueryPage, r.Total = "https://bot.example.org/runs/sb-1", "https://query.wikidata.org/#", 30
		}},
		"a wrong figure": {spoil: func(r *forum.Reply, _ *Entry) { r.Short = "K2 is 8612 metres high." },
			want: `the figure "8612" is neither in the result nor in the query`},
		"a wrong name": {spoil: func(r *forum.Reply, _ *Entry) { r.Short = "The highest is Makalu." },
			want: `the name "Makalu" is neither in the result nor in the query`},
		"another language": {spoil: func(_ *forum.Reply, e *Entry) { e.Language = "de" },
			want: "does not seem to be in the asker's language, de"},
		"too long":   {spoil: func(r *forum.Reply, _ *Entry) { r.Query += "\n# " + strings.Repeat("x", 20_000) }, want: "bytes, more than 20000"},
		"long words": {spoil: func(r *forum.Reply, _ *Entry) { r.Rows[0][1].Text = strings.Repeat("w", 90) }}, // they are broken
		"too wide": {spoil: func(r *forum.Reply, _ *Entry) { r.Rows[0][1].Text = strings.Repeat("1", 90) },
			wiki: func(w string) string { return strings.Replace(w, forum.BreakWords, "", 1) }, want: "pixels wide, more than 390"},
		"a ping": {wiki: func(w string) string { return strings.Replace(w, "K2", "[[User:Mallory]]", 1) },
			want: `would notify "Mallory"`},
		"a strange link": {wiki: func(w string) string { return strings.Replace(w, "K2", "[https://evil.example x]", 1) },
			want: "links https://evil.example, which is not its own"},
		"two comments": {wiki: func(w string) string {
			return strings.Replace(w, "\n", " [[User:X]] 09:30, 5 June 2024 (UTC)\n", 1)
		}, want: "does not read as one comment"},
		"another query": {wiki: func(w string) string { return strings.Replace(w, "wdt:P2044", "wdt:P1082", 1) },
			want: "does not read back as it was run"},
	} {
		out := &agent.Outcome{Language: "en", Short: "The highest mountain is K2, with 8611 metres, and the table has its height as a value, too, in metres.",
			Answer: &agent.Answer{SPARQL: "SELECT ?mountain ?height WHERE { ?mountain wdt:P2044 ?height }", Endpoint: "x", RanAt: time.Unix(0, 0),
				Labels: map[string]string{"Q43512": "K2"}, Table: &kg.Table{Vars: []string{"mountain", "height"},
					Rows: [][]rdf.Term{{rdf.IRI(rdf.Entity + "Q43512"), rdf.Typed("8611", rdf.XSDDecimal)}}}}}
		e := &Entry{Key: "sb-1", Question: "Which mountain is the highest, and what is its height?", Language: "en"}
		r := reply.New(out, "Ann", "Olga", e.Key)
		if tt.spoil != nil {
			tt.spoil(&r, e)
		}
		w, err := forum.Compose(r, "::")
		if err != nil {
			t.Fatal(name, err)
		}
		if tt.wiki != nil {
			w = tt.wiki(w)
		}
		got := strings.Join(b.check(r, w, e, out), "; ")
		if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
