package main

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// help stands in for a program that has the commands run and serve.
func help(command string) (string, error) {
	switch command {
	case "run":
		return "  --env-file file\n", nil
	case "serve":
		return "  --addr address\n  --host name\n", nil
	}
	return "", errors.New("unknown command")
}

var settings = map[string]bool{"WIKI_USER": true, "OPERATOR": true, "CONTACT": true, "POSTING": true, "DAILY_USD_LIMIT": true,
	"OPENAI_INPUT_USD_PER_MTOK": true, "OPENAI_OUTPUT_USD_PER_MTOK": true}

// TestKubernetes breaks the manifest in one place at a time.
func TestKubernetes(t *testing.T) {
	data, err := os.ReadFile("../../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkKubernetes(data, settings, help); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, says string }{
		{"POSTING:", "POSTIN:", "POSTIN is not a setting"},
		{"replicas: 1", "replica: 1", `unknown field "replica"`},
		{"replicas: 1", "replicas: one", "cannot unmarshal"},
		{"runAsNonRoot: true", "runAsNonRoot: false", "may run as root"},
		{"readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "root file system is writable"},
		{"drop: [ALL]", "drop: [NET_RAW]", "keeps capabilities"},
		{"allowPrivilegeEscalation: false", "privileged: true", "may gain privileges"},
		{"matchLabels: {app: spinachbot}", "matchLabels: {app: other}", "matches no pod"},
		{"claimName: spinachbot", "claimName: other", "no claim other"},
		{"{name: tmp, mountPath: /tmp}", "{name: temp, mountPath: /tmp}", "no volume temp"},
		{"targetPort: http", "targetPort: web", "no container has the port web"},
		{"configMapRef: {name: spinachbot}", "configMapRef: {name: settings}", "no config map settings"},
		{"args: [run]", "args: [start]", "spinachbot start"},
		{"--host", "--hosts", "has no flag --hosts"},
		{"limits: {memory: 2Gi}", "limits: {cpu: 1}", "no memory limit"},
	} {
		spoiled := strings.Replace(string(data), c.old, c.new, 1)
		if spoiled == string(data) {
			t.Errorf("%q is not in the manifest", c.old)
		}
		if err := checkKubernetes([]byte(spoiled), settings, help); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.new, err, c.says)
		}
	}
}

func TestToolforge(t *testing.T) {
	data, err := os.ReadFile("../../deploy/toolforge.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := checkToolforge(data, "../../deploy", help); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, says string }{
		{"continuous: true", "continous: true", `unknown field`},
		{"continuous: true", "continuous: false", "either continuous or a schedule"},
		{"17 3 * * *", "17 25 * * *", "above maximum"},
		{"mem: 1Gi", "mem: 1 giga", "quantities"},
		{"spinachbot run", "spinachbot start", "spinachbot start"},
		{"backup.sh", "save.sh", "not a program"},
		{"name: spinachbot-backup", "name: Spinach_Bot", "lowercase"},
	} {
		spoiled := strings.Replace(string(data), c.old, c.new, 1)
		if spoiled == string(data) {
			t.Errorf("%q is not in the file", c.old)
		}
		if err := checkToolforge([]byte(spoiled), "../../deploy", help); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q", c.new, err, c.says)
		}
	}
}
