package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// FindingClassPatches is a version of a plan at which the patches of the class fail, as for
// lack of an image.
const FindingClassPatches = "class-patches"

// check notes the versions of a plan at which Cluster API can make nothing of a part. It
// would find out in the middle of the upgrade.
func (m *topologyMode) check(ctx context.Context, p plan.Plan) ([]string, error) {
	if m.spec.class.External() {
		return nil, nil
	}
	try := func(part string, version v1alpha1.Version, groups ...clusterv1.MachineDeploymentTopology) error {
		cluster := m.wanted.DeepCopy()
		cluster.Spec.Topology.Version, cluster.Spec.Topology.Workers.MachineDeployments = version.String(), groups
		_, err := topology.Generate(ctx, *m.spec.class, cluster)
		if unable := (*topology.GenerateError)(nil); errors.As(err, &unable) {
			m.unmakeable = append(m.unmakeable, plan.Finding{Check: FindingClassPatches, Reason: fmt.Sprintf(
				"ClusterClass %s can make nothing of %s at %s: %s", m.spec.class.Name, part, version, unable.Reason)})
			return nil
		}
		return err
	}
	for _, step := range p.Steps {
		if step.To.IsZero() || step.To == step.From {
			continue
		}
		if err := try("the control plane", step.To); err != nil {
			return nil, err
		}
	}
	if len(m.unmakeable) > 0 { // groups are made together with a control plane
		return nil, nil
	}
	for _, step := range p.Steps {
		for _, group := range step.WorkerNodeGroups {
			managed := slices.IndexFunc(m.wanted.Spec.Topology.Workers.MachineDeployments, func(g clusterv1.MachineDeploymentTopology) bool { return g.Name == group.Name })
			if managed < 0 || group.To.IsZero() || group.To == group.From {
				continue
			}
			if err := try("group "+group.Name, group.To, m.wanted.Spec.Topology.Workers.MachineDeployments[managed]); err != nil {
				return nil, err
			}
		}
	}
	return nil, nil
}

// missing returns what check noted: the images of a class are among its variables.
func (m *topologyMode) missing(plan.Plan) []plan.Finding { return m.unmakeable }
