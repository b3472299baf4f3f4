// Package evalrun runs the agent on a benchmark and evaluates the results. Its runs survive crashes, its comparisons
// have error bars, and it writes reports.
//
// # A run
//
// [Run] asks every question of a benchmark and keeps everything in one folder:
//
//	run.json            settings with their fingerprint, sessions with their program versions
//	results.jsonl       one [Result] per item, in the benchmark's order: identical for the same settings, model and graph
//	meta.jsonl          one [Meta] per item: times, attempts, usage, and when and where the gold query was run
//	summary.json        [Summary]: scores by every metric, with and without items that had service failures
//	gold/NAME.json      the gold query's result with the time of its snapshot
//	items/NAME.json     how the agent's run ended: the source of results.jsonl and meta.jsonl
//	trajectories/NAME.jsonl    everything the model read and wrote; earlier attempts are in NAME~2.jsonl and so on
//	spent.jsonl         the model's costs, recorded before each call
//
// NAME is the item's ID in a form safe for file names; see [FileName]. Files in gold/ and items/ are written
// atomically, so a run can be killed at any time: the next run with the same settings completes it. A run with
// different settings in the same folder is rejected.
//
// A service failure (the model or the graph did not respond, or there is no model for the question) is not a wrong
// answer. It is retried, recorded separately, and listed, and every average is reported both with it (as 0) and without
// it. Items whose gold query fails or returns no rows are listed but not included in any average.
//
// # After the run
//
// [Compare] compares runs on their common items. It reports a paired bootstrap, McNemar's exact test, the minimum
// detectable effect, wins and losses with the step where the trajectories diverge, an oracle, and a vote. [NewReport]
// computes a report on one or more runs; a [Report] can be written as a standalone page or as Markdown or LaTeX tables.
//
// # Reading order
//
//	method.go result.go     what is run and the results
//	names.go files.go       the folder
//	settings.go account.go  settings that must not be mixed; costs
//	run.go attempt.go gold.go progress.go    the run
//	load.go score.go summary.go features.go    the results: scores, by feature
//	compare*.go stats.go part.go vote.go    comparison
//	classify*.go calibrate.go    error classes, confidence
//	report*.go table.go plot.go page/    pages and tables
package evalrun
