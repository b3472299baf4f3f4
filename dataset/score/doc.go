// Package score compares the answer of a system with the answer that a benchmark wants: tables of results, row by row.
//
// # The measure
//
// Most published figures on Wikidata rest on the row-major F1 of SPINACH (Liu et al., EMNLP Findings 2024, section 5
// and its evaluation code). A gold row and a predicted row are multisets of cells; their recall is the share of the
// gold row's cells that the predicted row has too; gold and predicted rows are paired one to one so that the summed
// recall is greatest; rows left over are misses or false alarms. [Spinach] is that measure to the digit, [GRASP] the
// variant of GRASP (Walter and Bast 2025), [KBQA] the set measures of Interactive-KBQA (Xiong et al. 2024) and
// MCTS-KBQA (Xiong et al. 2025), and [Fair] is ours: the first one without the ways in which it punishes answers that
// are right. docs/scoring.md explains each with examples.
//
// # How the pairing is found
//
// The pairing is an assignment problem. A matrix of all pairs is out of the question for 100,000 rows, and not needed:
// two rows matter to each other only through values that they share.
//
//   - hubs.go lists the sets of values that rows of both sides have in common, each once (a closed set, in the words of
//     data mining: adding any value would lose a row). Such a set is a hub: every gold row and every predicted row that
//     holds it are joined through it, with the set's size as weight. A pair of rows is joined at least once with its
//     true weight, through the set of all that they share.
//   - duals.go is the Hungarian method started from all free gold rows at once. They have one common dual value, which
//     falls from the greatest weight to 0; between two falls, as many rows as possible are paired over tight edges.
//   - paths.go does that: the method of Hopcroft and Karp, with hubs as nodes that any number of paths may pass.
//
// All of it is exact: weights are integers (in a gold row of width w a cell weighs L/w, where L is the least common
// multiple of all widths). Where L is 2^60 or more, which takes gold rows of more than 40 different widths or of
// several great prime ones, weights are rounded down and the score has an upper limit as well, as when time runs out;
// the two then differ by less than any figure shows. Of several best pairings the one with the most pairs is taken, so
// that the order of rows never matters; see [Pairing].
//
// # Trust
//
// Results come from outside: the reader of results checks them, the depth of recursion is at most the number of values
// that two rows share, and [Assign] ends when its context does, with a lower and an upper limit of what it was to find.
package score
