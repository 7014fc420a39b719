package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestUnknownLiveVersion: a part may run a version that no bundle has, as long as the
// plan makes no machine of it. The cluster was made at v1.31.9, and another user
// changed versions to v1.31.99.
func TestUnknownLiveVersion(t *testing.T) {
	t.Parallel()
	const known, unknown = "v1.31.9", "v1.31.99"
	const remedy = "; ask for an available version, or run 'clusterctl-x generate bundles v1.31.9 > bundles.yaml', change the version, the image tags and, for provider docker, the node image and the checksums of kubeadm in that file to those of v1.31.99, and run the command with --bundles bundles.yaml"
	note := func(parts string) string {
		return parts + " v1.31.99, which is in no versions bundle: other changes are computed with the entry of v1.31.9, and templates stay until a step replaces the machines"
	}
	onBoth, onControlPlane := note("the control plane and md-0 run"), note("the control plane runs")
	for name, test := range map[string]struct {
		controlPlane, group string // live
		version, groups     string // of the file
		want                []string
		refused             string
	}{
		"the same file":           {unknown, unknown, "1.31", "{name: md-0}", []string{onBoth}, ""},
		"another count":           {unknown, unknown, "1.31", "{name: md-0, count: 3}", []string{"InPlace: changes of md-0 in place", onBoth}, ""},
		"the version written out": {unknown, unknown, unknown, "{name: md-0, count: 3}", []string{"InPlace: changes of md-0 in place", onBoth}, ""},
		"labels in place": {unknown, unknown, "1.31", "{name: md-0, labels: {node-role.kubernetes.io/web: x}}", []string{
			"InPlace: changes of md-0 in place", `md-0: MachineDeployment/prod-md-0 spec.template.metadata.labels.node-role.kubernetes.io/web: x (added)`, onBoth,
		}, ""},
		"away from it": {unknown, unknown, "1.32", "{name: md-0}", []string{
			"ControlPlane: the control plane from v1.31.99 to v1.32.7", "Workers: md-0 from v1.31.99 to v1.32.7", onBoth,
		}, ""},
		"away from it, with another field that machines are replaced for": {unknown, unknown, "1.32", "{name: md-0, taints: [{key: a, effect: NoSchedule}]}", []string{
			"ControlPlane: the control plane from v1.31.99 to v1.32.7", "Workers: md-0 from v1.31.99 to v1.32.7",
			`md-0: MachineDeployment/prod-md-0 KubeadmConfigTemplate spec.template.spec.joinConfiguration.nodeRegistration.taints: [{"effect":"NoSchedule","key":"a"}] (added), replaces machines`, onBoth,
		}, ""},
		"the group stays where it is": {unknown, known, "1.32", "{name: md-0, kubernetesVersion: v1.31.9}", []string{
			"ControlPlane: the control plane from v1.31.99 to v1.32.7", onControlPlane,
		}, ""},
		"older than the entries of its minor": {"v1.31.5", "v1.31.5", "1.31", "{name: md-0, count: 3}", []string{
			"InPlace: changes of md-0 in place", strings.ReplaceAll(onBoth, unknown, "v1.31.5"),
		}, ""},
		"a group alone runs it": {known, "v1.30.99", "1.31", `{name: md-0, kubernetesVersion: "1.30", count: 3}`, []string{
			"InPlace: changes of md-0 in place",
			`md-0: MachineDeployment/prod-md-0 metadata.annotations: {"machineset.cluster.x-k8s.io/skip-preflight-checks":"KubeadmVersionSkew"} (added)`,
			"md-0 runs v1.30.99, which is in no versions bundle: other changes are computed with the entry of v1.30.14, and templates stay until a step replaces the machines",
		}, ""},
		"a group that follows": {
			unknown, known, "1.31", "{name: md-0}", nil,
			"no versions bundle has v1.31.99, which the control plane runs, and the plan makes machines of it (step 1: md-0 from v1.31.9 to v1.31.99)" + remedy,
		},
		"a new group": {
			unknown, unknown, "1.31", "{name: md-0}, {name: md-1}", nil,
			"no versions bundle has v1.31.99, which the control plane and md-0 run, and the plan makes machines of it (step 1: new group md-1 at v1.31.99)" + remedy,
		},
		"other machines": {
			unknown, unknown, "1.31", "{name: md-0, taints: [{key: a, effect: NoSchedule}]}", nil,
			"no versions bundle has v1.31.99, which the control plane and md-0 run, and the plan makes machines of it (step 1: new machines for md-0 at v1.31.99)" + remedy,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			live := liveAt(t, map[string]string{"KubeadmControlPlane": test.controlPlane, "MachineDeployment": test.group})
			one, three := int32(1), int32(3)
			cluster := state.Cluster{
				Name: "prod", Namespace: "default",
				ControlPlane:     managedPart(v1alpha1.ControlPlaneName, "KubeadmControlPlane/prod", v1alpha1.MustParseVersion(test.controlPlane), &three),
				WorkerNodeGroups: []state.Part{managedPart("md-0", "MachineDeployment/prod-md-0", v1alpha1.MustParseVersion(test.group), &one)},
			}
			from := currentOf(cluster)
			p, err := prepare(t.Context(), stagesSpecOf(t, test.version, test.groups), from, comparedWith(live), UpgradeOptions{}, Options{})
			refused := (*management.RefusedError)(nil)
			switch {
			case test.refused != "":
				if !errors.As(err, &refused) || refused.Check != "versions-bundle" {
					t.Fatalf("error is %v", err)
				}
				if diff := cmp.Diff(test.refused, refused.Reason); diff != "" {
					t.Errorf("refused (-want +got):\n%s", diff)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, linesOf(p.Plan)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			for _, release := range p.record(management.Record{}).Releases {
				if strings.HasPrefix(release.Version.String(), unknown) {
					t.Errorf("the record has a release of %s", unknown)
				}
			}
		})
	}
}

// stagesSpecOf is a file with the bundles of the tests.
func stagesSpecOf(t *testing.T, version, groups string) Spec {
	t.Helper()
	bundles := fewBundles(t)
	text := stagesSpec(version, groups)
	return Spec{data: []byte(text), Config: providers.BuiltIn().Decode("prod.yaml", []byte(text)), providers: providers.BuiltIn(), bundles: bundles}
}

// liveAt are the objects of a cluster that was made at v1.31.9, whose versions were
// changed since, by kind.
func liveAt(t *testing.T, versions map[string]string) []*unstructured.Unstructured {
	t.Helper()
	live := renderedObjects(t, stagesSpecOf(t, "1.31", "{name: md-0}"))
	for _, object := range live {
		path := []string{"spec", "version"}
		if object.GetKind() == "MachineDeployment" {
			path = []string{"spec", "template", "spec", "version"}
		}
		if version := versions[object.GetKind()]; version != "" {
			if err := unstructured.SetNestedField(object.Object, version, path...); err != nil {
				t.Fatal(fmt.Errorf("%s: %w", object.GetKind(), err))
			}
		}
	}
	return live
}

// TestStandIn: a part has the data of the release that was written last. Whoever writes
// an entry copies one of the same minor.
func TestStandIn(t *testing.T) {
	t.Parallel()
	bundles := stagesSpecOf(t, "1.31", "{name: md-0}").bundles
	for name, test := range map[string]struct{ version, recorded, of, near string }{
		"recorded":                    {"v1.31.99", "v1.31.9", "v1.31.9", "v1.31.9"},
		"recorded, of another minor":  {"v1.34.99", "v1.33.3", "v1.33.3", "v1.34.2"},
		"recorded, and in no bundle":  {"v1.34.99", "v1.34.98", "v1.34.2", "v1.34.2"},
		"between two":                 {"v1.34.1+build", "", "v1.34.1", "v1.34.1"},
		"older than those of a minor": {"v1.33.0", "", "v1.33.3", "v1.33.3"},
		"newer than all":              {"v1.40.0", "", "v1.35.0", "v1.35.0"},
		"older than all":              {"v1.20.0", "", "v1.30.14", "v1.30.14"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			recorded := v1alpha1.Version{}
			if test.recorded != "" {
				recorded = v1alpha1.MustParseVersion(test.recorded)
			}
			s := newStandIn(bundles, v1alpha1.MustParseVersion(test.version), recorded)
			got := []string{s.release.Version.String(), s.of.String(), s.near.String()}
			if diff := cmp.Diff([]string{test.version, test.of, test.near}, got); diff != "" {
				t.Errorf("stand-in, entry, nearest (-want +got):\n%s", diff)
			}
		})
	}
}

// TestClassThatMakesNothing: a class that can be repaired is not refused because the one
// that is there makes nothing of the cluster.
func TestClassThatMakesNothing(t *testing.T) {
	t.Parallel()
	bundles := fewBundles(t)
	class := inMemoryClass(t, bundles)
	before := otherClass(class, nil)
	before.Name = "before"
	before.Spec.Patches = append(before.Spec.Patches, clusterv1.ClusterClassPatch{Name: "a", Definitions: []clusterv1.PatchDefinition{{
		Selector:    clusterv1.PatchSelector{APIVersion: clusterv1.GroupVersionControlPlane.String(), Kind: "KubeadmControlPlaneTemplate", MatchResources: clusterv1.PatchSelectorMatch{ControlPlane: new(true)}},
		JSONPatches: []clusterv1.JSONPatch{{Op: "add", Path: "/spec/template/spec/rolloutStrategy", ValueFrom: &clusterv1.JSONPatchValue{Template: "{{ no }}"}}},
	}}})
	live := fakeTopologyOf(t, managedSpec(t, class, bundles, "", "{name: md-0}")).topology.cluster
	_, _, err := generated(t.Context(), currentTopology{class: before, cluster: live}, class, live)
	_, unable := topology.Generate(t.Context(), before, live)
	var reason *topology.GenerateError
	if !errors.As(unable, &reason) {
		t.Fatalf("the class before makes something: %v", unable)
	}
	var unknown *unknownError
	if !errors.As(err, &unknown) {
		t.Fatalf("error is %v", err)
	}
	if diff := cmp.Diff(plan.Unknown{ClusterClass: "before", Reason: plan.NothingGenerated, Message: reason.Reason}, unknown.Unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}
