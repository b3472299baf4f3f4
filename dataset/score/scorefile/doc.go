// Package scorefile scores files of outputs: SPINACH's, GRASP's, those of Interactive-KBQA, and our own runs. It reads
// them, gets gold answers and rows from a benchmark, from files of results or from a graph, compares item by item
// (package dataset/score), and sums up by measure and by group.
package scorefile
