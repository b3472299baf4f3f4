// Package dataset has the types of the benchmark. A harvest of the forum's archive yields a [Candidate] with its
// [Provenance]. A benchmark consists of [Item] values with question and query, which [ReadItems] reads from all
// published benchmark formats.
//
// A discussion of the archive becomes a candidate (package dataset/harvest), annotators decide on it
// (dataset/annotate), and what they include becomes an item, exported in the forms that other programs read. Statistics
// (dataset/stats), metrics (dataset/score) and runs (dataset/evalrun) work on items.
package dataset
