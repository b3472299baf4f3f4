// Package harvest turns a request forum's archive into benchmark candidates: it reads archive pages, finds the
// last-mentioned query in each discussion, runs it, and stages queries that returned rows, along with everything that
// an annotator needs to know.
//
// The funnel is the same as in the SPINACH paper (section 3): discussions, discussions with a query, and discussions
// whose last-mentioned query runs and returns a nonempty result smaller than 10 MB. Rejected discussions are kept, with
// a reason ([dataset.Reason]).
//
// # The path of a discussion
//
// [Harvest.Run] goes through the archive page by page. A page that changed since it was last read is reread (read.go),
// both as rendered HTML and as wikitext. If the two differ, a note is added to the discussion. Each thread becomes a
// [dataset.Candidate] whose Stage is Found (discuss.go), which is stored together with the page's revision in one
// transaction. Then short links are resolved (links.go), and the last-mentioned query is chosen, cleaned (clean.go),
// and run (run.go). The outcome is stored. Everything else about a candidate is derived from it when the files are
// written (stage.go, flags.go, trim.go, near.go, export.go).
//
// A [Suggester], if configured, is asked once about each staged candidate. Labels alone do not show which Victoria is
// meant, so the suggester also receives English descriptions. They are requested in one query for all of a candidate's
// IDs, sent to the first endpoint that is available, since the entity API returns descriptions only with whole
// entities. When the text of a discussion is removed, the advice about it is removed, too.
//
// Whatever ends a harvest (Ctrl-C, kill -9, a wiki or an endpoint that is down), the next harvest resumes from the same
// point, and the resulting files are the same.
//
// # Which queries require the scholarly half
//
// Since May 2025, the query service's main graph lacks scholarly articles. A query is rejected as [dataset.Scholarly]
// if the main graph returned no rows and the query's text contains something specific to articles: the class scholarly
// article (Q13442814), one of a few classes split off with it, or a property such as cites work (P2860) or PubMed ID
// (P698). The list is in clean.go. If a query that contains one of them returns rows, it is staged with a note that
// rows may be missing. A query's text does not always show that it is about articles; if it does not, the query is
// rejected as empty. If the second endpoint has the whole graph, it is queried before a query is rejected as scholarly.
//
// Package dataset describes the files that a harvest writes and reads them ([dataset.ReadCandidatesDir],
// [dataset.ReadResult]).
package harvest
