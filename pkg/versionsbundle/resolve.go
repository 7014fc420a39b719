package versionsbundle

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Set holds the release of every version that a cluster touches. Its keys are
// the versions that were asked for.
type Set map[v1alpha1.Version]Release

// Releases of the set, oldest first.
func (s Set) Releases() []Release {
	return slices.SortedFunc(maps.Values(s), func(a, b Release) int { return a.Version.Compare(b.Version) })
}

// Resolve turns what the user wrote into exact versions: an exact version into
// itself; a minor into the patch of it that runs already, else into the newest
// in the bundles of those that lack the least of what is needed, which for a
// worker node group is not newer than the control plane. Every version must have
// a release, or run already: then its release in the set has the version only. The
// errors name the fields of the Cluster document.
//
// running holds the versions of the live cluster and is zero where there is none.
func Resolve(cluster *v1alpha1.Cluster, bundles *Bundles, running v1alpha1.ClusterVersions, needs Needs) (v1alpha1.ClusterVersions, Set, field.ErrorList) {
	r := resolver{bundles: bundles, set: Set{}, needs: needs}
	spec := field.NewPath("spec")
	desired := v1alpha1.ClusterVersions{WorkerNodeGroups: map[string]v1alpha1.Version{}}
	desired.ControlPlane = r.resolve(cluster.Spec.KubernetesVersion, running.ControlPlane, v1alpha1.Version{}, spec.Child("kubernetesVersion"))
	r.needs.Kubeadm = false // machines of a group fetch that of the control plane
	for i, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		version := desired.ControlPlane
		if group.Pinned() {
			path := spec.Child("workerNodeGroupConfigurations").Index(i).Child("kubernetesVersion")
			version = r.resolve(*group.KubernetesVersion, running.WorkerNodeGroups[group.Name], desired.ControlPlane, path)
		}
		desired.WorkerNodeGroups[group.Name] = version
	}
	return desired, r.set, r.errs
}

// With returns the bundles with further releases; those that are there already
// stay as they are.
func (b *Bundles) With(releases []Release) *Bundles {
	all := *b
	all.Spec.VersionsBundles = slices.Clone(b.Spec.VersionsBundles)
	for _, release := range releases {
		if _, known := all.Release(release.Version); !known {
			all.Spec.VersionsBundles = append(all.Spec.VersionsBundles, VersionsBundle{KubeVersion: release.Version.Minor(), Releases: []Release{release}})
		}
	}
	return &all
}

// SetOf has the release of every one of the versions, and those that there is
// no release of.
func (b *Bundles) SetOf(versions v1alpha1.ClusterVersions) (Set, []v1alpha1.Version) {
	set := Set{}
	var missing []v1alpha1.Version
	for _, version := range versions.All() {
		release, known := b.Release(version)
		if !known {
			missing = append(missing, version)
			continue
		}
		set[version] = release
	}
	return set, missing
}

// missingRelease marks errors about versions that there is no release of.
const missingRelease = "missing-release"

// OnlyMissing reports whether an error of validating a spec is about nothing but
// versions that there is no release of.
func OnlyMissing(err error) bool {
	var problems strictyaml.Problems
	if !errors.As(err, &problems) {
		return false
	}
	return !slices.ContainsFunc(problems, func(p strictyaml.Problem) bool { return p.Err.Origin != missingRelease })
}

type resolver struct {
	bundles *Bundles
	needs   Needs
	set     Set
	errs    field.ErrorList
	// listed is the field whose error lists the versions that there are.
	listed string
}

// resolve returns the zero version on an error.
func (r *resolver) resolve(wanted v1alpha1.KubernetesVersion, running, limit v1alpha1.Version, path *field.Path) v1alpha1.Version {
	if wanted.IsZero() {
		r.errs = append(r.errs, field.Required(path, "a version of Kubernetes such as \"1.34\"; "+r.available(path)))
		return v1alpha1.Version{}
	}
	version, found := r.choose(wanted, running, limit)
	if !found {
		lacks := "no versions bundle has this version; "
		if r.bundles.Kind == classKind {
			lacks = "ClusterClass " + r.bundles.Metadata.Name + " does not have this version; "
		}
		r.errs = append(r.errs, field.Invalid(path, wanted.String(), lacks+r.available(path)).WithOrigin(missingRelease))
		return v1alpha1.Version{}
	}
	release, known := r.bundles.Release(version)
	if !known {
		release = VersionOnly(version)
	}
	r.set[version] = release
	return version
}

func (r *resolver) choose(wanted v1alpha1.KubernetesVersion, running, limit v1alpha1.Version) (v1alpha1.Version, bool) {
	if exact, ok := wanted.Exact(); ok {
		_, found := r.bundles.Release(exact)
		return exact, found || exact == running && r.stays(running)
	}
	if running.Minor() == wanted.Minor() && r.stays(running) {
		return running, true
	}
	offered := r.bundles.offered(wanted.Minor(), limit, r.needs)
	if len(offered) > 0 {
		return offered[len(offered)-1].Version, true
	}
	if offered = r.bundles.offered(wanted.Minor(), v1alpha1.Version{}, r.needs); len(offered) > 0 {
		// All patches are newer than the control plane: the skew policy has
		// the better words for that than "not found".
		return offered[0].Version, true
	}
	return v1alpha1.Version{}, false
}

// stays reports whether a part may have the version that it runs. A ClusterClass lists
// every version that its clusters may have.
func (r *resolver) stays(running v1alpha1.Version) bool {
	_, known := r.bundles.Release(running)
	return known || !running.IsZero() && r.bundles.Kind != classKind
}

// available lists the versions there are, a minor at a time. One error of a file has
// the list, the others point to it.
func (r *resolver) available(path *field.Path) string {
	if r.listed != "" {
		return "use one of those listed for " + r.listed
	}
	r.listed = path.String()
	patches := map[v1alpha1.Minor][]string{}
	var minors []v1alpha1.Minor
	for _, version := range r.bundles.Versions() {
		minor := version.Minor()
		if patches[minor] == nil {
			minors = append(minors, minor)
		}
		patches[minor] = append(patches[minor], version.String())
	}
	slices.SortFunc(minors, v1alpha1.Minor.Compare)
	lines := make([]string, len(minors))
	for i, minor := range minors {
		lines[i] = fmt.Sprintf("%s (%s)", minor, strings.Join(patches[minor], ", "))
	}
	more := "a file with more by --bundles"
	if r.bundles.Kind == classKind {
		more = "a class that has it: one of 'generate clusterclass' is made anew with --keep-used and bundles that have the version, one of your own gets it in spec.kubernetesVersions"
	}
	return "there are " + strings.Join(lines, ", ") + "; use one of these, or " + more
}
