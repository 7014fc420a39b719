package topology_test

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
)

// TestWithDefaults: what Cluster API's webhooks add to an object is added, and nothing to
// objects of others. The objects that are given stay as they are.
func TestWithDefaults(t *testing.T) {
	t.Parallel()
	type fields = map[string]any
	object := func(apiVersion, kind string, spec fields) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: fields{"apiVersion": apiVersion, "kind": kind, "metadata": fields{"name": "a"}, "spec": spec}}
	}
	const core, controlPlane = "cluster.x-k8s.io/v1beta2", "controlplane.cluster.x-k8s.io/v1beta2"
	rollout := func(rollingUpdate fields) fields {
		return fields{"strategy": fields{"type": "RollingUpdate", "rollingUpdate": rollingUpdate}}
	}
	for name, test := range map[string]struct {
		bare, given *unstructured.Unstructured
		path        []string
		want        any
	}{
		"control plane": {
			object(controlPlane, "KubeadmControlPlane", fields{"version": "v1.34.2"}),
			object(controlPlane, "KubeadmControlPlane", fields{"version": "v1.34.2", "rollout": rollout(fields{"maxSurge": int64(1)})}),
			[]string{"spec", "rollout"}, rollout(fields{"maxSurge": int64(1)}),
		},
		"workers": {
			object(core, "MachineDeployment", fields{"clusterName": "prod"}),
			object(core, "MachineDeployment", fields{"clusterName": "prod", "rollout": rollout(fields{"maxSurge": int64(1), "maxUnavailable": int64(0)})}),
			[]string{"spec", "rollout"}, rollout(fields{"maxSurge": int64(1), "maxUnavailable": int64(0)}),
		},
		"health check": {
			object(core, "MachineHealthCheck", fields{"clusterName": "prod"}),
			object(core, "MachineHealthCheck", fields{"clusterName": "prod", "checks": fields{"nodeStartupTimeoutSeconds": int64(600)}}),
			[]string{"spec", "checks"}, fields{"nodeStartupTimeoutSeconds": int64(600)},
		},
		"another kind": {
			object("example.org/v1", "MachineDeployment", fields{"a": "b"}), object("example.org/v1", "MachineDeployment", fields{"a": "b"}),
			[]string{"spec"}, fields{"a": "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := test.bare.DeepCopy()
			got, err := topology.Parts{"bare": {test.bare}, "given": {test.given}}.WithDefaults(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(got["given"][0].Object, got["bare"][0].Object); diff != "" {
				t.Errorf("an object that is given the defaults (-given +bare):\n%s", diff)
			}
			if value, _, err := unstructured.NestedFieldNoCopy(got["bare"][0].Object, test.path...); err != nil || !gocmp.Equal(test.want, value) {
				t.Errorf("%v is %v, error %v", test.path, value, err)
			}
			if diff := gocmp.Diff(before.Object, test.bare.Object); diff != "" {
				t.Errorf("the object itself (-before +after):\n%s", diff)
			}
		})
	}
}
