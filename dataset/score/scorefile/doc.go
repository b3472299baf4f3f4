// Package scorefile scores files of outputs: SPINACH's, GRASP's, those of Interactive-KBQA, and our own runs. It reads
// the files, gets gold answers and rows from a benchmark, from result files or from a graph, compares the items one by
// one (package dataset/score), and summarizes by measure and by group.
package scorefile
