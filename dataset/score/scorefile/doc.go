// Package scorefile scores output files from SPINACH, GRASP, Interactive-KBQA, and our own runs. It reads the files,
// gets gold answers and rows from a benchmark, from result files or from a graph, compares the items one by one
// (package dataset/score), and summarizes the scores by measure and by group.
package scorefile
