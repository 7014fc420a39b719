package validations

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/docker"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Names of the preflights of Way.
const (
	CheckNodeImage   = "node-image"
	CheckNewMachines = "new-machines"
)

// Way returns what would keep machines from being made on the way of a plan.
func Way(config *v1alpha1.Config, p plan.Plan, bundles *versionsbundle.Bundles) []plan.Finding {
	var findings []plan.Finding
	passed := map[v1alpha1.Version]bool{}
	for i, step := range p.Steps {
		versions := p.Versions(i + 1)
		if step.Kind == plan.ControlPlane {
			passed[step.To] = true
		}
		for _, group := range step.WorkerNodeGroups {
			version := group.To
			if step.Kind == plan.InPlace && group.MachinesAdded > 0 {
				version = versions.WorkerNodeGroups[group.Name]
			}
			if version.IsZero() {
				continue
			}
			if !group.To.IsZero() && group.To != group.From {
				passed[group.To] = true
			}
			found := plan.Finding{Check: CheckNewMachines, Reason: join(config, group.Name, versions.ControlPlane, version, bundles)}
			if found.Reason != "" && !slices.Contains(findings, found) {
				findings = append(findings, found)
			}
		}
	}
	for _, reason := range nodeImages(config, slices.SortedFunc(maps.Keys(passed), v1alpha1.Version.Compare), bundles) {
		findings = append(findings, plan.Finding{Check: CheckNodeImage, Reason: reason})
	}
	return findings
}

// nodeImages returns for which of the versions that a plan brings about the
// bundles know no image of the provider's machines.
func nodeImages(config *v1alpha1.Config, versions []v1alpha1.Version, bundles *versionsbundle.Bundles) []string {
	if config.Docker == nil {
		return nil
	}
	var reasons []string
	for _, version := range versions {
		if release, known := bundles.Release(version); known && release.NodeImages[docker.Name] == "" {
			reasons = append(reasons, fmt.Sprintf("the versions bundle of %s has no node image for provider %s, which would take kindest/node:%s, and that may not exist; add it with --bundles, or ask for a version that has one", version, docker.Name, version))
		}
	}
	return reasons
}

// join tells why new machines of a group could not join a control plane at
// another minor; it is empty where they can.
func join(config *v1alpha1.Config, group string, controlPlane, version v1alpha1.Version, bundles *versionsbundle.Bundles) string {
	release, known := bundles.Release(controlPlane)
	if config.Docker == nil || version.Minor() == controlPlane.Minor() || !known || len(release.Kubeadm) > 0 {
		return ""
	}
	return fmt.Sprintf("new machines of group %s at %s need kubeadm %s to join, and the versions bundle has no download of it; add it with --bundles, or ask for control planes with a download: %s",
		group, version, controlPlane, withKubeadm(bundles))
}

// Passable are the releases that a control plane may pass through: where the
// provider's machines need an image those that have one, of a minor without
// any all of them.
func Passable(config *v1alpha1.Config, bundles *versionsbundle.Bundles) []v1alpha1.Version {
	has := map[v1alpha1.Minor]bool{}
	needed := func(r versionsbundle.Release) bool { return config.Docker == nil || r.NodeImages[docker.Name] != "" }
	for _, release := range bundles.Releases() {
		has[release.Version.Minor()] = has[release.Version.Minor()] || needed(release)
	}
	var versions []v1alpha1.Version
	for _, release := range bundles.Releases() {
		if needed(release) || !has[release.Version.Minor()] {
			versions = append(versions, release.Version)
		}
	}
	return versions
}
