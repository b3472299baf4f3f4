// Manifests checks the files in deploy/ as far as is possible without a cluster: the manifests are valid according to
// Kubernetes' own types, every reference has a target, no container is privileged, and every setting and command exists
// in the program.
//
// Usage, in this folder: go run . [-sources DIR] PROGRAM
//
// It is a separate module so that its dependencies do not become dependencies of the program.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

func main() {
	sources := flag.String("sources", "../..", "`folder` of the sources")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "manifests: name the program")
		os.Exit(2)
	}
	if err := run(*sources, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		os.Exit(1)
	}
	fmt.Println("the manifests of Kubernetes and Toolforge are sound")
}

func run(sources, program string) error {
	help := func(command string) (string, error) {
		out, err := exec.CommandContext(context.Background(), program, command, "-h").CombinedOutput()
		return string(out), err
	}
	settings, err := settingsOf(filepath.Join(sources, ".env.example"))
	if err != nil {
		return err
	}
	k8s, err := os.ReadFile(filepath.Join(sources, "deploy", "kubernetes.yaml"))
	if err != nil {
		return err
	}
	jobs, err := os.ReadFile(filepath.Join(sources, "deploy", "toolforge.yaml"))
	if err != nil {
		return err
	}
	return errors.Join(checkKubernetes(k8s, settings, help), checkToolforge(jobs, filepath.Join(sources, "deploy"), help))
}

func settingsOf(path string) (map[string]bool, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([A-Z0-9_]+)=`).FindAllSubmatch(data, -1) {
		out[string(m[1])] = true
	}
	return out, nil
}

type cluster struct {
	deployments []appsv1.Deployment
	services    []corev1.Service
	configs     map[string]corev1.ConfigMap
	claims      map[string]bool
	policies    []networkingv1.NetworkPolicy
}

func readKubernetes(data []byte) (*cluster, error) {
	c := &cluster{configs: map[string]corev1.ConfigMap{}, claims: map[string]bool{}}
	for i, doc := range bytes.Split(data, []byte("\n---\n")) {
		var kind struct{ Kind, APIVersion string }
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
		var err error
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 ConfigMap":
			var o corev1.ConfigMap
			err = yaml.UnmarshalStrict(doc, &o)
			c.configs[o.Name] = o
		case "v1 PersistentVolumeClaim":
			var o corev1.PersistentVolumeClaim
			err = yaml.UnmarshalStrict(doc, &o)
			c.claims[o.Name] = true
		case "apps/v1 Deployment":
			var o appsv1.Deployment
			err = yaml.UnmarshalStrict(doc, &o)
			c.deployments = append(c.deployments, o)
		case "v1 Service":
			var o corev1.Service
			err = yaml.UnmarshalStrict(doc, &o)
			c.services = append(c.services, o)
		case "networking.k8s.io/v1 NetworkPolicy":
			var o networkingv1.NetworkPolicy
			err = yaml.UnmarshalStrict(doc, &o)
			c.policies = append(c.policies, o)
		default:
			err = fmt.Errorf("%s %s: unknown kind", kind.APIVersion, kind.Kind)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i+1, err)
		}
	}
	if len(c.deployments) == 0 {
		return nil, errors.New("there is no deployment")
	}
	return c, nil
}

func checkKubernetes(data []byte, settings map[string]bool, help func(string) (string, error)) error {
	c, err := readKubernetes(data)
	if err != nil {
		return fmt.Errorf("kubernetes.yaml: %w", err)
	}
	var problems []error
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kubernetes.yaml: "+format, args...))
	}
	for _, m := range c.configs {
		for _, name := range slices.Sorted(maps.Keys(m.Data)) {
			if !settings[name] {
				wrong("%s is not a setting", name)
			}
		}
	}
	ports := map[string]bool{}
	for _, d := range c.deployments {
		for _, what := range validation.IsDNS1123Subdomain(d.Name) {
			wrong("name %q: %s", d.Name, what)
		}
		pod := d.Spec.Template
		for k, v := range d.Spec.Selector.MatchLabels {
			if pod.Labels[k] != v {
				wrong("the selector %s=%s matches no pod", k, v)
			}
		}
		volumes := map[string]bool{}
		for _, v := range pod.Spec.Volumes {
			volumes[v.Name] = true
			if p := v.PersistentVolumeClaim; p != nil && !c.claims[p.ClaimName] {
				wrong("volume %s: no claim %s", v.Name, p.ClaimName)
			}
		}
		if s := pod.Spec.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.RunAsUser == nil || *s.RunAsUser == 0 {
			wrong("%s may run as root", d.Name)
		}
		for _, k := range pod.Spec.Containers {
			problems = append(problems, c.checkContainer(k, volumes, help)...)
			for _, p := range k.Ports {
				ports[p.Name] = true
			}
		}
	}
	for _, s := range c.services {
		if !slices.ContainsFunc(c.deployments, func(d appsv1.Deployment) bool { return fits(s.Spec.Selector, d.Spec.Template.Labels) }) {
			wrong("service %s matches no pod", s.Name)
		}
		for _, p := range s.Spec.Ports {
			if !ports[p.TargetPort.StrVal] {
				wrong("service %s: no container has the port %s", s.Name, p.TargetPort.String())
			}
		}
	}
	for _, p := range c.policies {
		if !slices.ContainsFunc(c.deployments, func(d appsv1.Deployment) bool {
			return fits(p.Spec.PodSelector.MatchLabels, d.Spec.Template.Labels)
		}) {
			wrong("policy %s matches no pod", p.Name)
		}
	}
	return errors.Join(problems...)
}

func fits(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}

// checkContainer checks the privileges, folders, settings and command of a container.
func (c *cluster) checkContainer(k corev1.Container, volumes map[string]bool, help func(string) (string, error)) (problems []error) {
	wrong := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("kubernetes.yaml: container "+k.Name+": "+format, args...))
	}
	s := k.SecurityContext
	switch {
	case s == nil:
		wrong("no security context")
	case s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem:
		wrong("its root file system is writable")
	case s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation:
		wrong("it may gain privileges")
	case s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL"):
		wrong("it keeps capabilities")
	}
	if k.Resources.Limits.Memory().IsZero() {
		wrong("no memory limit")
	}
	for _, m := range k.VolumeMounts {
		if !volumes[m.Name] {
			wrong("no volume %s", m.Name)
		}
	}
	for _, f := range k.EnvFrom {
		if f.ConfigMapRef == nil {
			continue
		}
		if _, ok := c.configs[f.ConfigMapRef.Name]; !ok {
			wrong("no config map %s", f.ConfigMapRef.Name)
		}
	}
	names := map[string]bool{}
	for _, p := range k.Ports {
		names[p.Name] = true
	}
	for _, probe := range []*corev1.Probe{k.LivenessProbe, k.ReadinessProbe} {
		if probe != nil && (probe.HTTPGet == nil || !names[probe.HTTPGet.Port.StrVal]) {
			wrong("a probe names a port that it does not have")
		}
	}
	return append(problems, checkCommand(k.Args, help)...)
}

// checkCommand checks that the program has the given command and flags.
func checkCommand(args []string, help func(string) (string, error)) (problems []error) {
	if len(args) == 0 {
		return []error{errors.New("a command is missing")}
	}
	text, err := help(args[0])
	if err != nil {
		return []error{fmt.Errorf("spinachbot %s: %w", args[0], err)}
	}
	for _, a := range args[1:] {
		if len(a) > 2 && a[:2] == "--" && !regexp.MustCompile(regexp.QuoteMeta(a)+`\b`).MatchString(text) {
			problems = append(problems, fmt.Errorf("spinachbot %s has no flag %s", args[0], a))
		}
	}
	return problems
}
