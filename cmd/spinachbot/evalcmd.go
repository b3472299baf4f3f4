package main

import "github.com/spf13/cobra"

func evalCommand(e *env) *cobra.Command {
	return group(e, "eval", "run benchmarks, score and compare results",
		evalRunCommand(e), evalScoreCommand(e), evalCompareCommand(e), evalReportCommand(e), evalCalibrateCommand(e))
}
