package validations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// missingImage is a version for which a document that describes machines lists no image.
type missingImage struct {
	machine v1alpha1.Ref
	version v1alpha1.Version
	// parts that have the version, the control plane first.
	parts []string
}

// missingImages returns the images that the parts of a cluster lack at these versions, one
// after the other.
func missingImages(resolved Resolved, all []v1alpha1.ClusterVersions) []missingImage {
	var missing []missingImage
	spec := resolved.Config.Cluster.Spec
	lacks := func(part string, ref *v1alpha1.Ref, version v1alpha1.Version) {
		if ref == nil || version.IsZero() {
			return
		}
		if _, found := resolved.Provider.Image(resolved.Config.Machines[*ref], version); found {
			return
		}
		i := slices.IndexFunc(missing, func(m missingImage) bool { return m.machine == *ref && m.version == version })
		if i < 0 {
			missing, i = append(missing, missingImage{machine: *ref, version: version}), len(missing)
		}
		if !slices.Contains(missing[i].parts, part) {
			missing[i].parts = append(missing[i].parts, part)
		}
	}
	for _, versions := range all {
		lacks("the control plane", spec.ControlPlaneConfiguration.MachineGroupRef, versions.ControlPlane)
		for _, group := range spec.WorkerNodeGroupConfigurations {
			lacks("group "+group.Name, group.MachineGroupRef, versions.WorkerNodeGroups[group.Name])
		}
	}
	slices.SortStableFunc(missing, func(a, b missingImage) int {
		return cmp.Or(cmp.Compare(a.machine.Name, b.machine.Name), a.version.Compare(b.version))
	})
	return missing
}

// imageProblems returns the problems of a new cluster whose machines have no image.
func imageProblems(resolved Resolved) strictyaml.Problems {
	var problems strictyaml.Problems
	for _, missing := range missingImages(resolved, []v1alpha1.ClusterVersions{resolved.Versions}) {
		path := field.NewPath("spec", resolved.Provider.Spec.Images)
		err := field.Required(path, fmt.Sprintf("an entry with kubernetesVersion %q, which %s needs", missing.version.Minor(), strings.Join(missing.parts, ", ")))
		problems = append(problems, resolved.Config.LocateIn(resolved.Config.Machines[missing.machine], field.ErrorList{err})...)
	}
	return problems
}

// imageFindings returns the images that the parts of a cluster lack on the path of a plan,
// from the versions that they have on.
func imageFindings(resolved Resolved, p plan.Plan) []plan.Finding {
	var path []v1alpha1.ClusterVersions
	for i := range len(p.Steps) + 1 {
		path = append(path, p.Versions(i))
	}
	var findings []plan.Finding
	for _, missing := range missingImages(resolved, path) {
		findings = append(findings, plan.Finding{Check: CheckMachineImage, Reason: fmt.Sprintf("%s %s has no image for %s, which %s needs; add an entry with kubernetesVersion %q to its spec.%s",
			missing.machine.Kind, missing.machine.Name, missing.version, strings.Join(missing.parts, ", "), missing.version.Minor(), resolved.Provider.Spec.Images)})
	}
	return findings
}
