package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// toolforgeJob contains the keys for a job in a file for `toolforge jobs load`, as listed at
// https://wikitech.wikimedia.org/wiki/Help:Toolforge/Jobs_framework.
type toolforgeJob struct {
	Name         string `json:"name"`
	Command      string `json:"command"`
	Image        string `json:"image"`
	Continuous   bool   `json:"continuous,omitempty"`
	Schedule     string `json:"schedule,omitempty"`
	Mem          string `json:"mem,omitempty"`
	CPU          string `json:"cpu,omitempty"`
	Emails       string `json:"emails,omitempty"`
	Mount        string `json:"mount,omitempty"`
	NoFilelog    bool   `json:"no-filelog,omitempty"`
	FilelogOut   string `json:"filelog-stdout,omitempty"`
	FilelogErr   string `json:"filelog-stderr,omitempty"`
	Retry        int    `json:"retry,omitempty"`
	Replicas     int    `json:"replicas,omitempty"`
	Port         int    `json:"port,omitempty"`
	HealthScript string `json:"health-check-script,omitempty"`
	HealthHTTP   string `json:"health-check-http,omitempty"`
	Timeout      int    `json:"timeout,omitempty"`
	Wait         bool   `json:"wait,omitempty"`
}

// checkToolforge parses the jobs strictly. A job's command must be one of the program's commands or a script in the
// folder.
func checkToolforge(data []byte, folder string, help func(string) (string, error)) error {
	var jobs []toolforgeJob
	if err := yaml.UnmarshalStrict(data, &jobs); err != nil {
		return fmt.Errorf("toolforge.yaml: %w", err)
	}
	if len(jobs) == 0 {
		return errors.New("toolforge.yaml: there are no jobs")
	}
	var problems []error
	for _, j := range jobs {
		wrong := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("toolforge.yaml: job "+j.Name+": "+format, args...))
		}
		for _, what := range validation.IsDNS1123Label(j.Name) {
			wrong("%s", what)
		}
		if j.Image == "" || j.Continuous == (j.Schedule != "") {
			wrong("want an image, and either continuous or a schedule")
		}
		if j.Schedule != "" {
			if _, err := cron.ParseStandard(j.Schedule); err != nil {
				wrong("%v", err)
			}
		}
		for _, quantity := range []string{j.Mem, j.CPU} {
			if _, err := resource.ParseQuantity(quantity); quantity != "" && err != nil {
				wrong("%q: %v", quantity, err)
			}
		}
		words := strings.Fields(j.Command)
		switch {
		case len(words) > 1 && words[0] == "./spinachbot":
			problems = append(problems, checkCommand(words[1:], help)...)
		case len(words) == 1 && strings.HasSuffix(words[0], ".sh"):
			if info, err := os.Stat(filepath.Join(folder, words[0])); err != nil || info.Mode()&0o111 == 0 {
				wrong("%s is not a program in deploy/", words[0])
			}
		default:
			wrong("the command %q", j.Command)
		}
	}
	return errors.Join(problems...)
}
