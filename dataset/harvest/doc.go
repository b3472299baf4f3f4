// Package harvest turns the archive of a request forum into benchmark candidates: it reads archive pages, finds the
// last-mentioned query in each discussion, runs it, and stages queries that returned rows, with everything an annotator
// wants to know.
//
// The funnel is that of the SPINACH paper (section 3): discussions, those with a query, those whose last-mentioned
// query runs and returns non-empty results below 10 MB. Rejected discussions are kept with a reason ([dataset.Reason]).
//
// # The path of a discussion
//
// [Harvest.Run] goes through the archive page by page. A page that changed since it was read is read again (read.go):
// as rendered HTML and as wikitext. If they differ, the discussion has a note. Each thread becomes a found
// [dataset.Candidate] (discuss.go) that is kept in the store together with the page's revision, in one transaction.
// Then short links are resolved (links.go), and the last-mentioned query is chosen, cleaned (clean.go) and run
// (run.go), and the outcome is stored. Everything else about a candidate is derived from this when the files are
// written (stage.go, flags.go, trim.go, near.go, export.go).
//
// A [Suggester], if there is one, is asked about each staged candidate once. Labels alone do not show which Victoria is
// meant, so it also gets the English descriptions: one query for all IDs of a candidate, to the endpoint that ran it,
// since the entity API returns descriptions only with whole entities. If the words of a discussion are removed, so is
// the advice about it.
//
// So whatever ends a harvest (Ctrl-C, kill -9, a dead wiki, a dead endpoint), the next one continues where it stopped,
// and the resulting files are the same.
//
// # Which queries need the scholarly half
//
// Since May 2025 the query service's main graph lacks scholarly articles. A query is rejected as [dataset.Scholarly]
// when the main graph returned no rows and its text names something that only articles have. That is the class
// scholarly article (Q13442814), one of a few classes split off with it, or a property such as cites work (P2860) or
// PubMed ID (P698). The list is in clean.go. A query with rows that names one of them is staged with a note that rows
// may be missing. The query text alone does not show that an unnamed ?x would have been an article; such queries count
// as empty. An endpoint that holds the whole graph, given as second endpoint, is asked before a query is rejected as
// scholarly.
//
// The files that a harvest writes, and how to read them, are in package dataset ([dataset.ReadCandidatesDir],
// [dataset.ReadResult]).
package harvest
