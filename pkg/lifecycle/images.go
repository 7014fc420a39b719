package lifecycle

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// withImages returns the steps of a plan with what new machines are made from, where
// documents say it by version.
func withImages(steps []plan.Step, resolved validations.Resolved) ([]plan.Step, error) {
	spec := resolved.Config.Cluster.Spec
	refs := map[string]*v1alpha1.Ref{}
	for _, group := range spec.WorkerNodeGroupConfigurations {
		refs[group.Name] = group.MachineGroupRef
	}
	steps = slices.Clone(steps)
	var err error
	for i := range steps {
		if steps[i].Image, err = imageOf(resolved, spec.ControlPlaneConfiguration.MachineGroupRef, steps[i].To); err != nil {
			return nil, err
		}
		steps[i].WorkerNodeGroups = slices.Clone(steps[i].WorkerNodeGroups)
		for j, group := range steps[i].WorkerNodeGroups {
			if steps[i].WorkerNodeGroups[j].Image, err = imageOf(resolved, refs[group.Name], group.To); err != nil {
				return nil, err
			}
		}
	}
	return steps, nil
}

// imageOf returns the entry of a document's list of images for a version, as JSON; empty
// where there is none.
func imageOf(resolved validations.Resolved, ref *v1alpha1.Ref, version v1alpha1.Version) (string, error) {
	if ref == nil || version.IsZero() {
		return "", nil
	}
	image, found := resolved.Provider.Image(resolved.Config.Machines[*ref], version)
	if !found || len(image) == 0 {
		return "", nil
	}
	image = maps.Clone(image)
	delete(image, "kubernetesVersion")
	data, err := json.Marshal(image)
	if err != nil {
		return "", fmt.Errorf("writing the image of %s %s for %s: %w", ref.Kind, ref.Name, version, err)
	}
	return string(data), nil
}
