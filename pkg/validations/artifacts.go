package validations

import (
	"fmt"
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Names of the preflights of MissingArtifacts.
const (
	CheckNodeImage   = "node-image"
	CheckNewMachines = "new-machines"
	// CheckMachineImage is about the images of documents that describe machines. It cannot
	// be skipped: there would be machines of the image of another version.
	CheckMachineImage = "machine-image"
)

// MissingArtifacts returns the images and kubeadm downloads that a plan needs and the
// bundles, or the documents that describe machines, lack.
func MissingArtifacts(resolved Resolved, p plan.Plan, bundles *versionsbundle.Bundles) []plan.Finding {
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
			found := plan.Finding{Check: CheckNewMachines, Reason: join(resolved.Provider, group.Name, versions.ControlPlane, version, bundles)}
			if found.Reason != "" && !slices.Contains(findings, found) {
				findings = append(findings, found)
			}
		}
	}
	for _, reason := range nodeImages(resolved, slices.SortedFunc(maps.Keys(passed), v1alpha1.Version.Compare), bundles) {
		findings = append(findings, plan.Finding{Check: CheckNodeImage, Reason: reason})
	}
	return append(findings, imageFindings(resolved, p)...)
}

// nodeImages returns reasons for the versions of a plan without an image of the
// provider's machines in the bundles.
func nodeImages(resolved Resolved, versions []v1alpha1.Version, bundles *versionsbundle.Bundles) []string {
	var reasons []string
	needs := Needs(resolved.Config, resolved.Provider)
	for _, version := range versions {
		if release, known := bundles.Release(version); known && needs.LacksNodeImage(release) {
			reasons = append(reasons, noNodeImage(version, needs))
		}
	}
	return reasons
}

// join returns why new machines of a group could not join a control plane at another
// minor; empty if they can.
func join(provider providers.Provider, group string, controlPlane, version v1alpha1.Version, bundles *versionsbundle.Bundles) string {
	release, _ := bundles.Release(controlPlane) // one that is not known has no download
	if version.Minor() == controlPlane.Minor() || !provider.Needs().LacksKubeadm(release) {
		return ""
	}
	return fmt.Sprintf("new machines of group %s at %s need kubeadm %s to join, and the versions bundle has no download of it; add it with --bundles, or ask for control planes with a download: %s",
		group, version, controlPlane, withKubeadm(bundles))
}

// Needs is what the machines of a cluster need of a release. The kubeadm of the
// control plane's is needed as long as a group is to have an older minor.
func Needs(config *v1alpha1.Config, provider providers.Provider) versionsbundle.Needs {
	needs := provider.Needs()
	spec := config.Cluster.Spec
	needs.Kubeadm = needs.Kubeadm && slices.ContainsFunc(spec.WorkerNodeGroupConfigurations, func(group v1alpha1.WorkerNodeGroupConfiguration) bool {
		return group.Pinned() && group.KubernetesVersion.Minor() != spec.KubernetesVersion.Minor()
	})
	return needs
}
