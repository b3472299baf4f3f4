package main

import "github.com/spf13/cobra"

func datasetCommand(e *env) *cobra.Command {
	return group(e, "dataset", "annotate, export, split, verify and describe a benchmark",
		datasetStatsCommand(e), datasetAnnotateCommand(e), datasetExportCommand(e), datasetSplitCommand(e),
		datasetVerifyCommand(e), datasetCardCommand(e))
}
