package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// groups of the large spec.
const groups = 1000

// manifests compares the rendering of a large spec with helm, which renders a
// chart that gives the same documents, byte for byte in each group.
func (b bench) manifests(ctx context.Context) error {
	spec := filepath.Join(b.dir, "large.yaml")
	if err := os.WriteFile(spec, []byte(largeSpec("    count: 3\n")), 0o600); err != nil {
		return err
	}
	ours := command{"ours", b.cli, []string{"generate", "manifests", "-f", spec}}
	rendered, err := b.exec(ctx, ours.program, ours.args...)
	if err != nil {
		return err
	}
	chart, err := b.chart(rendered.out)
	if err != nil {
		return err
	}
	m, err := b.compare(ctx, 11, ours, command{"helm", b.helm, []string{"template", "release", chart}})
	if err != nil {
		return err
	}
	documents := func(out []byte) int { return bytes.Count(out, []byte("\nkind: ")) }
	if ours, theirs := documents(m["ours"].out), documents(m["helm"].out); ours-theirs > 10 || theirs > ours {
		return fmt.Errorf("the outputs are not comparable: %d and %d documents", ours, theirs)
	}
	b.row(fmt.Sprintf("generate manifests, %d groups, %d KiB", groups, len(m["ours"].out)>>10), m["ours"], "helm, 300 MiB", "150 MiB")
	b.row(fmt.Sprintf("helm template, %d KiB", len(m["helm"].out)>>10), m["helm"], "", "")
	b.ratio("ratio to helm", m["ours"], m["helm"])
	return nil
}

// validate measures the checking of a large spec: of groups that differ by
// their names only, and of groups that have most fields.
func (b bench) validate(ctx context.Context) error {
	for _, spec := range []struct{ name, text string }{
		{"plain", largeSpec("    count: 3\n")},
		{"with most fields", largeSpec(`    count: 3
    labels: {example.org/part: workers, node-role.kubernetes.io/worker: ""}
    taints: [{key: example.org/dedicated, value: batch, effect: NoSchedule}]
    kubeletConfiguration: {maxPods: 250, evictionHard: {memory.available: 5%}}
    machineHealthCheck: {maxUnhealthy: 20%}
    upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 1}}
    machineDeletion: {nodeDrainTimeout: 10m}
`)},
	} {
		path := filepath.Join(b.dir, "validate.yaml")
		if err := os.WriteFile(path, []byte(spec.text), 0o600); err != nil {
			return err
		}
		m, err := b.compare(ctx, 11, command{"ours", b.cli, []string{"validate", "-f", path}})
		if err != nil {
			return err
		}
		b.row(fmt.Sprintf("validate, %d groups, %s, %d KiB", groups, spec.name, len(spec.text)>>10), m["ours"], "300 ms", "")
	}
	return nil
}

// largeSpec has many groups, each with these lines.
func largeSpec(group string) string {
	var s strings.Builder
	s.WriteString("apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: large\nspec:\n  kubernetesVersion: \"1.34\"\n")
	s.WriteString("  clusterNetwork:\n    pods: {cidrBlocks: [192.168.0.0/16]}\n    services: {cidrBlocks: [10.96.0.0/12]}\n")
	s.WriteString("  datacenterRef: {kind: InMemoryDatacenterConfig, name: large}\n  workerNodeGroupConfigurations:\n")
	for i := range groups {
		fmt.Fprintf(&s, "  - name: group-%d\n%s", i, group)
	}
	return s.String()
}

// chart writes a chart whose one template is what we render for the first group.
func (b bench) chart(rendered []byte) (string, error) {
	var template strings.Builder
	template.WriteString("{{- range .Values.groups }}\n")
	for document := range strings.SplitSeq(string(rendered), "---\n") {
		if strings.Contains(document, "large-group-0-") || strings.Contains(document, `"large-group-0"`) {
			template.WriteString("---\n" + strings.ReplaceAll(document, "group-0", "{{ .name }}"))
		}
	}
	template.WriteString("{{- end }}\n")
	var values strings.Builder
	values.WriteString("groups:\n")
	for i := range groups {
		fmt.Fprintf(&values, "- name: group-%d\n", i)
	}
	chart := filepath.Join(b.dir, "chart")
	if err := os.MkdirAll(filepath.Join(chart, "templates"), 0o700); err != nil {
		return "", err
	}
	for name, content := range map[string]string{
		"Chart.yaml":         "apiVersion: v2\nname: large\nversion: 1.0.0\n",
		"values.yaml":        values.String(),
		"templates/all.yaml": template.String(),
	} {
		if err := os.WriteFile(filepath.Join(chart, name), []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	return chart, nil
}
