package config

import (
	"fmt"
	"strings"
)

// Example returns the content of .env.example: every setting with its explanation and default.
func Example() string {
	var b strings.Builder
	b.WriteString("# Settings of SpinachBot. Copy this file to .env and fill in what you need.\n")
	b.WriteString("# A flag overrides the environment, which overrides this file. Check the result with: spinachbot config check\n")
	group := Group("")
	for _, k := range Keys() {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n# --- %s ---\n", group)
		}
		fmt.Fprintf(&b, "# %s\n", k.Doc)
		v := k.Default
		if strings.ContainsAny(v, " #*") {
			v = `"` + v + `"`
		}
		fmt.Fprintf(&b, "%s=%s\n", k.Name, v)
	}
	return b.String()
}
