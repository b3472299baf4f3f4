// Package score compares a system's answer with the answer that a benchmark expects: it compares result tables row by
// row.
//
// # The measure
//
// Most published figures for Wikidata are based on SPINACH's row-major F1 (Liu et al., EMNLP Findings 2024, section 5
// and its evaluation code). A gold row and a predicted row are multisets of cells; their recall is the share of the
// gold row's cells that also occur in the predicted row. Gold and predicted rows are paired one to one so that the
// sum of recalls is as large as possible; the remaining rows are misses or false alarms. [Spinach] is exactly that
// measure, [GRASP] is the variant used by GRASP (Walter and Bast 2025), and [KBQA] computes the set measures of
// Interactive-KBQA (Xiong et al. 2024) and MCTS-KBQA (Xiong et al. 2025). [Fair] is our own measure: it is similar to
// [Spinach], but does not penalize correct answers for their form. docs/scoring.md explains each with examples.
//
// # How the pairing is found
//
// The pairing is an assignment problem. A matrix of all pairs would be too large for 100,000 rows. It is not needed,
// because two rows can be paired only through values that they share.
//
//   - hubs.go lists the sets of values that rows on both sides have in common, each once. In data mining, these are
//     called closed sets: adding any value would lose a row. Such a set is a hub: it joins every gold row and every
//     predicted row that contains it, with the set's size as the weight. A pair of rows is joined at least once with
//     its true weight, through the set of all values that they share.
//   - duals.go is the Hungarian method, started from all free gold rows at once. They share one dual value, which
//     falls from the largest weight to 0; between two falls, as many rows as possible are paired over tight edges.
//   - paths.go computes this pairing with the Hopcroft–Karp algorithm. Any number of paths may pass through a hub.
//
// The whole computation is exact: weights are integers (in a gold row of width w, a cell weighs L/w, where L is the
// least common multiple of all widths). If L is 2^60 or more, which requires gold rows with more than 40 different
// widths or with several large prime widths, weights are rounded down, and the score also has an upper bound, as when
// time runs out. The score and the bound then differ by less than the precision with which scores are printed. Among
// several best pairings, the one with the most pairs is used, so that the row order never matters; see [Pairing].
//
// # Trust
//
// Results come from untrusted sources. Therefore, the code that reads them validates them, the depth of recursion is at
// most the number of values that two rows share, plus one, and [Assign] ends when its context ends, with a lower and an
// upper bound on the result.
package score
