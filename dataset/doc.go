// Package dataset defines the benchmark's types. A harvest of the forum's archive yields [Candidate] values with their
// [Provenance]. A benchmark consists of [Item] values, each with a question and a query. [ReadItems] reads items in all
// published benchmark formats.
//
// A discussion in the archive becomes a candidate (package dataset/harvest), and annotators decide on it
// (dataset/annotate). A candidate that they include becomes an item, which is exported in the formats that other
// programs read. Statistics (dataset/stats), metrics (dataset/score), and runs (dataset/evalrun) operate on items.
package dataset
