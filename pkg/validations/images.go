package validations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// versionsOfMachines returns the versions of the parts of a cluster by the document that
// describes their machines.
func versionsOfMachines(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions) map[v1alpha1.Ref][]v1alpha1.Version {
	of := map[v1alpha1.Ref][]v1alpha1.Version{}
	eachMachineRef(cluster, versions, func(_ string, ref v1alpha1.Ref, version v1alpha1.Version) {
		if !slices.Contains(of[ref], version) {
			of[ref] = append(of[ref], version)
		}
	})
	return of
}

// eachMachineRef visits the parts that have a version and a document of machines, the control
// plane first.
func eachMachineRef(cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions, visit func(part string, ref v1alpha1.Ref, version v1alpha1.Version)) {
	if ref := cluster.Spec.ControlPlaneConfiguration.MachineGroupRef; ref != nil && !versions.ControlPlane.IsZero() {
		visit("the control plane", *ref, versions.ControlPlane)
	}
	for _, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		if version := versions.WorkerNodeGroups[group.Name]; group.MachineGroupRef != nil && !version.IsZero() {
			visit("group "+group.Name, *group.MachineGroupRef, version)
		}
	}
}

// withImages returns a spec whose documents of machines list an image for each version that
// the spec asks for, where they have one for these.
func (r Resolved) withImages() *v1alpha1.Config {
	if r.Provider.Spec.Image == "" {
		return r.Config
	}
	config := *r.Config
	config.Machines = maps.Clone(r.Config.Machines)
	for ref, versions := range versionsOfMachines(config.Cluster, r.Versions) {
		config.Machines[ref] = r.Provider.WithImages(config.Machines[ref], versions)
	}
	return &config
}

// Running returns the spec for a cluster whose parts have these versions, and were made from
// another spec, which is nil where it is not known: its documents list what machines of these
// versions were made from too, unless they say something else.
func (r Resolved) Running(before *v1alpha1.Config, running v1alpha1.ClusterVersions) Resolved {
	if before == nil || before.Cluster == nil || r.Provider.Spec.Image == "" {
		return r
	}
	config := *r.Config
	config.Machines = maps.Clone(r.Config.Machines)
	now := map[string]v1alpha1.Ref{}
	eachMachineRef(config.Cluster, r.Versions, func(part string, ref v1alpha1.Ref, _ v1alpha1.Version) { now[part] = ref })
	eachMachineRef(before.Cluster, running, func(part string, was v1alpha1.Ref, version v1alpha1.Version) {
		if ref, there := now[part]; there {
			config.Machines[ref] = r.Provider.WithImagesOf(config.Machines[ref], before.Machines[was], []v1alpha1.Version{version})
		}
	})
	r.Config = &config
	return r
}

// mismatchedImages returns the names of images that do not contain the minor that they are
// for, as problems and as warnings.
func mismatchedImages(r Resolved) (strictyaml.Problems, []strictyaml.Warning) {
	var problems strictyaml.Problems
	var warnings []strictyaml.Warning
	versions := versionsOfMachines(r.Config.Cluster, r.Versions)
	for _, ref := range slices.SortedFunc(maps.Keys(versions), func(a, b v1alpha1.Ref) int { return cmp.Compare(a.Name, b.Name) }) {
		document := r.Config.Machines[ref]
		for _, image := range r.Provider.Mismatched(document, versions[ref]) {
			path := field.NewPath("spec", image.Path)
			minor := image.Minor.String()
			if r.Provider.Spec.ImageName.Mismatch == providers.SeverityWarning {
				text := fmt.Sprintf("%q does not contain %s, the version that its machines are to have; see that it is an image of that version", image.Name, minor)
				warnings = append(warnings, r.Config.LocateWarningsIn(document, []strictyaml.Warning{{Path: path.String(), Text: text}})...)
				continue
			}
			detail := fmt.Sprintf("must contain %s, as %[1]s, %[2]s, %[3]s or %[4]s, since machines of that version are made from it; name an image of %[1]s", minor, strings.ReplaceAll(minor, ".", "-"), strings.ReplaceAll(minor, ".", "_"), strings.ReplaceAll(minor, ".", ""))
			problems = append(problems, r.Config.LocateIn(document, field.ErrorList{field.Invalid(path, image.Name, detail)})...)
		}
	}
	return problems, warnings
}

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
	for _, versions := range all {
		eachMachineRef(resolved.Config.Cluster, versions, func(part string, ref v1alpha1.Ref, version v1alpha1.Version) {
			if _, found := resolved.Provider.Image(resolved.Config.Machines[ref], version); found {
				return
			}
			i := slices.IndexFunc(missing, func(m missingImage) bool { return m.machine == ref && m.version == version })
			if i < 0 {
				missing, i = append(missing, missingImage{machine: ref, version: version}), len(missing)
			}
			if !slices.Contains(missing[i].parts, part) {
				missing[i].parts = append(missing[i].parts, part)
			}
		})
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
