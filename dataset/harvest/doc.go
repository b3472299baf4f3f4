// Package harvest turns the archive of a request forum into benchmark candidates: it reads archive pages, finds in each
// discussion the last-mentioned query, runs it, and stages what returned rows with everything an annotator wants to
// know.
//
// The funnel is that of the SPINACH paper (section 3): discussions, those with a query, those whose last-mentioned
// query runs and returns non-empty results below 10 MB. What falls out on the way is kept with its reason
// ([dataset.Reason]).
//
// # The way of a discussion
//
// [Harvest.Run] goes through the archive page by page. A page that moved since it was read is read again (read.go):
// rendered HTML and wikitext, where they differ the discussion says so. Each thread becomes a found [dataset.Candidate]
// (discuss.go) that is kept in the store together with the page's revision, in one transaction. Then its last-mentioned
// query is chosen, short links resolved (links.go), cleaned (clean.go), run (run.go), and what came of it is kept.
// Everything else about a candidate follows from what is kept and is worked out when the files are written (stage.go,
// flags.go, trim.go, near.go, export.go).
//
// A [Suggester], where one is given, is asked about each staged candidate once. Labels alone do not say which Victoria
// is meant, so it is shown the English descriptions, too: one query for all numbers of a candidate, to the endpoint
// that ran it, since the entity API returns them with whole entities only. Words that are taken away from a discussion
// take the advice about it with them.
//
// So whatever ends a harvest (Ctrl-C, kill -9, a dead wiki, a dead endpoint), the next one goes on where it stopped,
// and the files come out the same.
//
// # Which queries need the scholarly half
//
// Since May 2025 the query service's main graph lacks scholarly articles. A query is rejected as [dataset.Scholarly]
// when the main graph returned no rows and its text names something that only articles have. That is the class
// scholarly article (Q13442814), one of a few classes split off with it, or a property such as cites work (P2860) or
// PubMed ID (P698). The list is in clean.go. A query with rows that names one of them is staged with a note that rows
// may be missing. There is no way to tell from a query text alone that an unnamed ?x would have been an article; such
// queries count as empty. An endpoint that holds the whole graph, given as second endpoint, is asked before a query is
// rejected as scholarly.
//
// The files that a harvest writes, and how to read them, are in package dataset ([dataset.ReadCandidatesDir],
// [dataset.ReadResult]).
package harvest
