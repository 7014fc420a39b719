package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestOtherControlPlane: what control planes of other providers are, by what their objects say.
func TestOtherControlPlane(t *testing.T) {
	t.Parallel()
	versionOf := v1alpha1.MustParseVersion
	one := func(version, kubelet string) []state.Machine {
		return []state.Machine{{Name: "m", Node: "n", Version: versionOf(version), Kubelet: versionOf(kubelet)}}
	}
	tests := map[string]struct {
		object   string
		machines []state.Machine
		want     state.Part
	}{
		"RKE2, done": {
			"{kind: RKE2ControlPlane, spec: {version: v1.31.4+rke2r1, replicas: 1}, status: {version: v1.31.4+rke2r1, observedGeneration: 2, upToDateReplicas: 1}}", one("v1.31.4+rke2r1", "v1.31.4+rke2r1"),
			state.Part{Version: versionOf("v1.31.4+rke2r1"), Replicas: 1, Machines: one("v1.31.4+rke2r1", "v1.31.4+rke2r1"), Settled: true},
		},
		"RKE2, another build": {
			"{kind: RKE2ControlPlane, spec: {version: v1.31.4+rke2r2, replicas: 1}, status: {version: v1.31.4+rke2r1, observedGeneration: 2}}", one("v1.31.4+rke2r1", "v1.31.4+rke2r1"),
			state.Part{Version: versionOf("v1.31.4+rke2r2"), Replicas: 1, Machines: one("v1.31.4+rke2r1", "v1.31.4+rke2r1"), Reason: "RKE2ControlPlane/c runs v1.31.4+rke2r1"},
		},
		"K0s in place, whose kubelets say less": {
			"{kind: K0sControlPlane, spec: {version: v1.32.1+k0s.0, replicas: 1}, status: {version: v1.32.1+k0s.0}}", one("v1.31.4+k0s.0", "v1.32.1+k0s"),
			state.Part{Version: versionOf("v1.32.1+k0s.0"), Replicas: 1, InPlace: true, Machines: one("v1.32.1+k0s.0", "v1.32.1+k0s.0"), Settled: true},
		},
		"Talos, by the contract v1beta1": {
			"{kind: TalosControlPlane, spec: {version: v1.31.4, replicas: 1}, status: {version: v1.31.4, updatedReplicas: 0}}", one("v1.31.4", "v1.31.4"),
			state.Part{Version: versionOf("v1.31.4"), Replicas: 1, Machines: one("v1.31.4", "v1.31.4")},
		},
		"EKS": {
			"{kind: AWSManagedControlPlane, spec: {version: v1.31}, status: {version: v1.31}}", nil,
			state.Part{Version: v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: 31}), Settled: true},
		},
		"EKS, on its way": {
			"{kind: AWSManagedControlPlane, spec: {version: v1.32}, status: {version: v1.31}}", nil,
			state.Part{Version: v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: 32}), Reason: "AWSManagedControlPlane/c runs v1.31"},
		},
		"EKS, whose provider chooses": {
			"{kind: AWSManagedControlPlane, spec: {}, status: {version: v1.31}}", nil,
			state.Part{Version: v1alpha1.MinorVersion(v1alpha1.Minor{Major: 1, Minor: 31}), Settled: true},
		},
		"nothing yet": {
			"{kind: KamajiControlPlane, spec: {version: v1.31.4, replicas: 2}}", nil,
			state.Part{Version: versionOf("v1.31.4"), Reason: "KamajiControlPlane/c runs nothing yet"},
		},
		"not by the contract": {
			"{kind: MyControlPlane, spec: {version: v1.31.4, replicas: many}}", nil,
			state.Part{
				Version: versionOf("v1.31.4"), Blocked: true,
				Reason: "MyControlPlane/c does not follow the contract of Cluster API: json: cannot unmarshal string into Go struct field .spec.replicas of type int32",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(test.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			object.SetName("c")
			object.SetGeneration(2)
			test.want.Object, test.want.Generation = object.GetKind()+"/c", 2
			got := otherControlPlane(state.Part{Object: object.GetKind() + "/c", Machines: test.machines}, object)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
