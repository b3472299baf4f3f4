// Package dataset holds the nouns of the benchmark: what a harvest of the forum's archive yields (a [Candidate] with
// its [Provenance]) and what a benchmark consists of (an [Item] with question and query, read by [ReadItems] from every
// form in which benchmarks are published).
//
// A discussion of the archive becomes a candidate (package dataset/harvest), annotators decide on it
// (dataset/annotate), and what they include becomes an item, exported in the forms that others read. Statistics
// (dataset/stats), metrics (dataset/score) and runs (dataset/evalrun) work on items.
package dataset
