package observe

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestKubeletsOfDistributions: a group is done where the kubelet has the major, minor and patch
// of its machine, and no group of another patch, build or pre-release is.
func TestKubeletsOfDistributions(t *testing.T) {
	t.Parallel()
	type group struct {
		Done   bool
		Oldest string
	}
	tests := map[string]struct {
		machine, kubelet string
		want             group
	}{
		"the same":                {"v1.33.1", "v1.33.1", group{true, "v1.33.1"}},
		"EKS":                     {"v1.33.1", "v1.33.1-eks-abc123", group{true, "v1.33.1"}},
		"K3s, without the build":  {"v1.33.1", "v1.33.1+k3s1", group{true, "v1.33.1"}},
		"K3s":                     {"v1.33.1+k3s1", "v1.33.1+k3s1", group{true, "v1.33.1+k3s1"}},
		"RKE2, without the build": {"v1.33.1", "v1.33.1+rke2r1", group{true, "v1.33.1"}},
		"RKE2, another build":     {"v1.33.1+rke2r2", "v1.33.1+rke2r1", group{false, "v1.33.1+rke2r1"}},
		"EKS, an older patch":     {"v1.33.1", "v1.33.0-eks-abc123", group{false, "v1.33.0-eks-abc123"}},
		"EKS, an older minor":     {"v1.33.1", "v1.32.1-eks-abc123", group{false, "v1.32.1-eks-abc123"}},
		"a release candidate":     {"v1.33.0", "v1.33.0-rc.1", group{false, "v1.33.0-rc.1"}},
		"no version":              {"v1.33.1", "", group{false, "v1.33.1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := aCluster()
			spec := machineSpec(test.machine, "c-md-0", "c-md-0")
			s.deployments[0].Spec.Template.Spec, s.sets[0].Spec.Template.Spec = spec, spec
			s.machines[1].Spec.Version, s.machines[1].Status.NodeInfo.KubeletVersion = test.machine, test.kubelet
			part := s.groupPart(s.deployments[0])
			if diff := cmp.Diff(test.want, group{part.Done(), part.Oldest().String()}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOldKubeletOfEKS: the node of an old machine counts for the version that its machine has.
func TestOldKubeletOfEKS(t *testing.T) {
	t.Parallel()
	s := aCluster()
	old := workerOf("c-md-0-old", "c-md-0-2", "v1.32.1")
	old.Status.NodeInfo.KubeletVersion = "v1.32.1-eks-abc123"
	s.machines = append(s.machines, old)
	of := v1alpha1.MustParseVersion("v1.32.1")
	want := state.Machine{
		Name: "c-md-0-2", Phase: "Running", Node: "c-md-0-2", Version: of, Kubelet: of, Ready: true, Outdated: true, Since: born,
	}
	if diff := cmp.Diff(want, s.groupPart(s.deployments[0]).Machines[1], cmpopts.EquateComparable(v1alpha1.Version{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
