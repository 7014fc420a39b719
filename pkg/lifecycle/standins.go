package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// standIn takes the place of the release of a version that parts of a live cluster run
// and no bundle has. It is good for comparing these parts with the file, and no machine
// is made from it.
type standIn struct {
	release versionsbundle.Release
	// of is the version whose release it is otherwise, and near the one whose entry an
	// entry of the version is best copied from.
	of, near v1alpha1.Version
	// parts that run the version, the control plane first.
	parts []string
}

type standIns []standIn

// standInsFor returns the stand-ins for the versions of the parts of a cluster.
func standInsFor(bundles *versionsbundle.Bundles, from current) standIns {
	var all standIns
	versions := from.start.Versions()
	add := func(part string, version, recorded v1alpha1.Version) {
		if _, known := bundles.Release(version); known || version.IsZero() {
			return // a new cluster runs none yet
		}
		i := slices.IndexFunc(all, func(s standIn) bool { return s.release.Version == version })
		if i < 0 {
			i = len(all)
			all = append(all, newStandIn(bundles, version, recorded))
		}
		all[i].parts = append(all[i].parts, part)
	}
	add("the control plane", versions.ControlPlane, from.recorded.Versions.ControlPlane)
	for _, group := range slices.Sorted(maps.Keys(versions.WorkerNodeGroups)) {
		add(group, versions.WorkerNodeGroups[group], from.recorded.Versions.WorkerNodeGroups[group])
	}
	return all
}

// newStandIn has the data of the release that the part had when clusterctl-x wrote it
// last, else of the nearest one.
func newStandIn(bundles *versionsbundle.Bundles, version, recorded v1alpha1.Version) standIn {
	near := nearest(bundles.Releases(), version)
	release, known := bundles.Release(recorded)
	if !known {
		release = near
	}
	s := standIn{release: release, of: release.Version, near: near.Version}
	s.release.Version = version
	return s
}

// nearest returns the newest release that is not newer than a version, else the oldest
// one, of the version's minor if there is any. The releases are sorted.
func nearest(releases []versionsbundle.Release, version v1alpha1.Version) (near versionsbundle.Release) {
	ofMinor := slices.DeleteFunc(slices.Clone(releases), func(r versionsbundle.Release) bool { return r.Version.Minor() != version.Minor() })
	if len(ofMinor) > 0 {
		releases = ofMinor
	}
	for i, r := range releases {
		if i == 0 || !r.Version.After(version) {
			near = r
		}
	}
	return near
}

func (all standIns) releases() []versionsbundle.Release {
	releases := make([]versionsbundle.Release, len(all))
	for i, s := range all {
		releases[i] = s.release
	}
	return releases
}

// runs says which parts run a version.
func (s standIn) runs() string {
	verb := "run"
	if len(s.parts) == 1 {
		verb = "runs"
	}
	return inWords(s.parts) + " " + verb
}

func inWords(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// notes say what a plan cannot know of versions that no bundle has.
func (all standIns) notes() []string {
	var notes []string
	for _, s := range all {
		notes = append(notes, fmt.Sprintf("%s %s, which is in no versions bundle: other changes are computed with the entry of %s, and templates stay until a step replaces the machines",
			s.runs(), s.release.Version, s.of))
	}
	return notes
}

// check refuses a plan that makes machines of a version that no bundle has.
func (all standIns) check(p plan.Plan) error {
	for _, s := range all {
		var steps []string
		for i, step := range p.Steps {
			if makes(step, s.release.Version) {
				steps = append(steps, fmt.Sprintf("step %d: %s", i+1, step))
			}
		}
		if len(steps) > 0 {
			return &management.RefusedError{Check: "versions-bundle", Reason: fmt.Sprintf(
				"no versions bundle has %s, which %s, and the plan makes machines of it (%s); ask for an available version, or %s",
				s.release.Version, s.runs(), strings.Join(steps, "; "), addToBundles(s.release.Version, s.near))}
		}
	}
	return nil
}

// makes reports whether a step makes machines from what is rendered of a version.
func makes(step plan.Step, version v1alpha1.Version) bool {
	if step.UnderWay || !slices.Contains([]plan.Kind{plan.ControlPlane, plan.Workers, plan.CreateWorkers, plan.Template}, step.Kind) {
		return false
	}
	return step.To == version || slices.ContainsFunc(step.WorkerNodeGroups, func(g plan.Group) bool { return !g.UnderWay && g.To == version })
}

// addToBundles says how the bundles get a version that they do not have.
func addToBundles(version, near v1alpha1.Version) string {
	return fmt.Sprintf("run 'clusterctl-x generate bundles %s > bundles.yaml', change the version, the image tags and, for provider docker, the node image and the checksums of kubeadm in that file to those of %s, and run the command with --bundles bundles.yaml", near, version)
}
