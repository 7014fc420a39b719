package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// runningSpec is a cluster with a group that follows the control plane, and a pinned one.
const runningSpec = `apiVersion: clusterctl-x.io/v1alpha1
kind: Cluster
metadata: {name: refused}
spec:
  kubernetesVersion: "1.34.1"
  controlPlaneConfiguration: {count: 1}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
  workerNodeGroupConfigurations:
  - name: md-0
    count: 1
  - name: md-1
    count: 1
    kubernetesVersion: "1.32"
  datacenterRef: {kind: InMemoryDatacenterConfig, name: any}
`

// TestIllegalRequests: an upgrade that is not allowed is refused with place and remedy. The
// type of the error says whether the file is wrong by itself, or for the cluster.
func TestIllegalRequests(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	const controlPlane, group = `kubernetesVersion: "1.34.1"`, `kubernetesVersion: "1.32"`
	for name, test := range map[string]struct {
		edits   []string
		bundles *versionsbundle.Bundles
		scope   plan.Scope
		want    string
	}{
		"downgrade": {
			edits: []string{controlPlane, `kubernetesVersion: "1.33"`},
			want:  "validations.Refused: refused.yaml:5: spec.kubernetesVersion: Invalid value: \"1.33\": the control plane runs v1.34.1 and cannot be downgraded; use v1.34.1 or newer",
		},
		"downgrade of a group": {
			edits: []string{group, `kubernetesVersion: "1.31"`},
			want:  "validations.Refused: refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"1.31\": group md-1 runs v1.32.13 and cannot be downgraded; use v1.32.13 or newer",
		},
		"pin above the control plane": {
			edits: []string{group, `kubernetesVersion: "1.35"`},
			want:  "strictyaml.Problems: refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"1.35\": group md-1 must not be newer than the control plane (v1.34.1); use 1.31 to v1.34.1, or change spec.kubernetesVersion",
		},
		"worker ahead by a patch": {
			edits: []string{group, `kubernetesVersion: "1.34.2"`},
			want:  "strictyaml.Problems: refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"v1.34.2\": group md-1 must not be newer than the control plane (v1.34.1); use 1.31 to v1.34.1, or change spec.kubernetesVersion",
		},
		"pin too far behind": {
			edits: []string{controlPlane, `kubernetesVersion: "1.36"`},
			want:  "strictyaml.Problems: refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"1.32\": group md-1 must not be more than 3 minors older than the control plane (v1.36.3); use 1.33 to v1.36.3, or change spec.kubernetesVersion to 1.35 or older",
		},
		"minor without a bundle on the way": {
			edits: []string{controlPlane, `kubernetesVersion: "1.36"`, group, `kubernetesVersion: "1.33"`}, bundles: bundlesWithout(t, "1.35"),
			want: "*plan.NoPlanError: control plane: it goes from v1.34.1 to v1.36.3 one minor at a time, and there is no versions bundle of 1.35; use a file that has it with --bundles, or go no further than 1.34",
		},
		"minor without a bundle": {
			edits: []string{controlPlane, `kubernetesVersion: "1.35"`}, bundles: bundlesWithout(t, "1.35"),
			want: "strictyaml.Problems: refused.yaml:5: spec.kubernetesVersion: Invalid value: \"1.35\": no versions bundle has this version; there are 1.25 (v1.25.16), 1.26 (v1.26.15), 1.27 (v1.27.16), 1.28 (v1.28.15), 1.29 (v1.29.8, v1.29.14), 1.30 (v1.30.4, v1.30.8, v1.30.14), 1.31 (v1.31.0, v1.31.4, v1.31.14), 1.32 (v1.32.2, v1.32.11, v1.32.13), 1.33 (v1.33.6, v1.33.7, v1.33.13), 1.34 (v1.34.0, v1.34.1, v1.34.2, v1.34.3, v1.34.4), 1.36 (v1.36.1, v1.36.3); use one of these, or a file with more by --bundles",
		},
		"another network of pods": {
			edits: []string{"192.168", "192.169"},
			want:  "validations.Refused: refused.yaml:8: spec.clusterNetwork.pods.cidrBlocks: Invalid value: \"192.169.0.0/16\": cannot be changed, and is 192.168.0.0/16: nodes keep their part of this network for their lifetime; create a new cluster",
		},
		"unknown group": {
			scope: plan.Scope{Groups: []string{"md-7", "md-0", "md-8"}},
			want:  "*lifecycle.UnknownGroupError: --worker-node-groups: the file has no group \"md-7\"; it has md-0, md-1\n*lifecycle.UnknownGroupError: --worker-node-groups: the file has no group \"md-8\"; it has md-0, md-1",
		},
		"group beyond the control plane": {
			edits: []string{controlPlane, `kubernetesVersion: "1.35"`}, scope: plan.Scope{Groups: []string{"md-0"}},
			want: "*plan.NoPlanError: group md-0: it cannot go to v1.35.4 before the control plane does, which is at v1.34.1; alone it can go to v1.34.1 at most: upgrade the control plane first, with --control-plane-only, or leave --worker-node-groups out",
		},
		"control plane too far without its groups": {
			edits: []string{controlPlane, `kubernetesVersion: "1.36"`, group, `kubernetesVersion: "1.33"`}, scope: plan.Scope{ControlPlaneOnly: true},
			want: "*plan.NoPlanError: group md-1: it stays at v1.32.13, so the control plane cannot go to v1.36.3: the group must not be more than 3 minors older than the control plane (v1.36.3); use v1.35.4 at most, or upgrade the group to 1.33 or newer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known := bundles
			if test.bundles != nil {
				known = test.bundles
			}
			before := ReadSpec("before.yaml", []byte(runningSpec), providers.BuiltIn(), bundles)
			after := ReadSpec("refused.yaml", []byte(strings.NewReplacer(test.edits...).Replace(runningSpec)), providers.BuiltIn(), known)
			_, err := PlanBetween(t.Context(), before, after, UpgradeOptions{Scope: test.scope}, Options{})
			if diff := cmp.Diff(test.want, typed(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIllegalPins of a cluster from a ClusterClass are refused before its class is asked.
func TestIllegalPins(t *testing.T) {
	t.Parallel()
	bundles, err := versionsbundle.Parse("bundles", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ version, old, newer, want string }{
		"newer than the control plane": {
			"1.33", "1.31", "1.34",
			"refused.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: \"1.34\": group new must not be newer than the control plane (v1.33.13); use 1.30 to v1.33.13, or change spec.kubernetesVersion",
		},
		"newer patch than the control plane": {
			"1.33.6", "1.31", "1.33.13",
			"refused.yaml:18: spec.workerNodeGroupConfigurations[2].kubernetesVersion: Invalid value: \"v1.33.13\": group new must not be newer than the control plane (v1.33.6); use 1.30 to v1.33.6, or change spec.kubernetesVersion",
		},
		"cluster beyond what a pin allows": {
			"1.35", "1.31", "1.32",
			"refused.yaml:15: spec.workerNodeGroupConfigurations[1].kubernetesVersion: Invalid value: \"1.31\": group old must not be more than 3 minors older than the control plane (v1.35.4); use 1.32 to v1.35.4, or change spec.kubernetesVersion to 1.34 or older",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			groups := fmt.Sprintf("  - name: old\n    count: 1\n    kubernetesVersion: %q\n  - name: new\n    count: 1\n    kubernetesVersion: %q\n  clusterClass: {name: inmemory}\n", test.old, test.newer)
			before, _, _ := strings.Cut(runningSpec, "  - name: md-1")
			_, after, _ := strings.Cut(runningSpec, "kubernetesVersion: \"1.32\"\n")
			text := strings.Replace(before, "1.34.1", test.version, 1) + groups + after
			_, err := ReadSpec("refused.yaml", []byte(text), providers.BuiltIn(), bundles).CheckUpgrade(UpgradeOptions{})
			if diff := cmp.Diff("strictyaml.Problems: "+test.want, typed(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// bundlesWithout are those of all minors but one.
func bundlesWithout(t *testing.T, minor string) *versionsbundle.Bundles {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal(config.Bundles, &file); err != nil {
		t.Fatal(err)
	}
	spec := file["spec"].(map[string]any)
	spec["versionsBundles"] = slices.DeleteFunc(spec["versionsBundles"].([]any), func(b any) bool { return b.(map[string]any)["kubeVersion"] == minor })
	data, err := yaml.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	bundles, err := versionsbundle.Parse("bundles", data)
	if err != nil {
		t.Fatal(err)
	}
	return bundles
}
