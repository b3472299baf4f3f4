// Package harvest turns the archive of a request forum into benchmark candidates: it reads archive pages, finds in each discussion the last-mentioned query, runs
// it, and stages what returned rows with everything an annotator wants to know.
//
// The funnel is that of the SPINACH paper (section 3): discussions, those with a query, those whose last-mentioned query runs and returns non-empty results
// below 10 MB. What falls out on the way is kept with its reason.
//
// The files that a harvest writes, and how to read them, are in package dataset ([dataset.ReadCandidatesDir], [dataset.ReadResult]).
package harvest
