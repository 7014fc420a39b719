package manifests

import (
	"cmp"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// WithImages returns the class with those of its releases that all of its documents have an
// image for, and the documents that lack one by the version of the others.
func (c Class) WithImages() (Class, map[v1alpha1.Version][]v1alpha1.Ref) {
	lacking := map[v1alpha1.Version][]v1alpha1.Ref{}
	if c.Documents == nil {
		return c, lacking
	}
	var with []versionsbundle.Release
	for _, release := range c.Releases {
		for _, ref := range c.machineRefs() {
			if _, found := c.Provider.Image(c.Documents.Machines[ref], release.Version); !found {
				lacking[release.Version] = append(lacking[release.Version], ref)
			}
		}
		if len(lacking[release.Version]) == 0 {
			with = append(with, release)
		}
	}
	c.Releases = with
	return c, lacking
}

// machineRefs are the documents that describe machines, each once, sorted by name.
func (c Class) machineRefs() []v1alpha1.Ref {
	var refs []v1alpha1.Ref
	add := func(ref *v1alpha1.Ref) {
		if ref != nil && !slices.Contains(refs, *ref) {
			refs = append(refs, *ref)
		}
	}
	add(c.Documents.Cluster.Spec.ControlPlaneConfiguration.MachineGroupRef)
	for _, group := range c.Documents.Cluster.Spec.WorkerNodeGroupConfigurations {
		add(group.MachineGroupRef)
	}
	slices.SortFunc(refs, func(a, b v1alpha1.Ref) int { return cmp.Compare(a.Name, b.Name) })
	return refs
}
