package lifecycle

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// record returns the record of the cluster once the plan is started: the file, unless
// only a part of it is applied, the versions that the plan leads to, and the releases
// that the cluster runs until then.
func (p Upgrade) record(before management.Record) management.Record {
	releases := versionsbundle.Set{}
	for i := range len(p.Plan.Steps) + 1 {
		set, _ := p.spec.bundles.SetOf(p.Plan.Versions(i))
		maps.Copy(releases, set)
	}
	if len(p.scope.Groups) > 0 && !before.Versions.ControlPlane.IsZero() {
		return p.recordGroups(before, releases.Releases())
	}
	record := management.Record{Spec: before.Spec, Cluster: outlineOf(before, p.spec.providers), Versions: p.Plan.To, From: p.Plan.From, Plan: before.Plan, Releases: releases.Releases(), Runs: before.Runs}
	if sameVersions(before.Versions, record.Versions) {
		record.From = before.From // of the run that began it
	}
	record.VersionOnly = before.VersionOnly
	switch {
	case p.spec.change != nil:
		record.Cluster, record.VersionOnly = p.changedOutline(before)
	case p.scope.Whole():
		record.Spec, record.Cluster, record.VersionOnly = string(p.spec.data), outline(p.resolved.Config.Cluster), false
	}
	if p.spec.managed() && p.scope.Whole() && !p.Plan.Empty() {
		record.Plan = &p.Plan
	}
	return record
}

// recordGroups changes the entries of the record for the groups of the upgrade. Another
// run may work on other groups at the same time.
func (p Upgrade) recordGroups(record management.Record, releases []versionsbundle.Release) management.Record {
	record.Cluster = outlineOf(record, p.spec.providers)
	if record.From.ControlPlane.IsZero() {
		record.From.ControlPlane = record.Versions.ControlPlane
	}
	to, from := clonedGroups(record.Versions), clonedGroups(record.From)
	for _, group := range p.scope.Groups {
		if to[group] == p.Plan.To.WorkerNodeGroups[group] {
			continue // of the run that began it
		}
		to[group] = p.Plan.To.WorkerNodeGroups[group]
		delete(from, group)
		if version, exists := p.Plan.From.WorkerNodeGroups[group]; exists {
			from[group] = version
		}
	}
	record.Versions.WorkerNodeGroups, record.From.WorkerNodeGroups = to, from
	for _, release := range releases {
		if !slices.ContainsFunc(record.Releases, func(r versionsbundle.Release) bool { return r.Version == release.Version }) {
			record.Releases = append(record.Releases, release)
		}
	}
	return record
}

func clonedGroups(versions v1alpha1.ClusterVersions) map[string]v1alpha1.Version {
	if versions.WorkerNodeGroups == nil {
		return map[string]v1alpha1.Version{}
	}
	return maps.Clone(versions.WorkerNodeGroups)
}

// continues reports whether the plan is the rest of an upgrade that an earlier run
// started: a part of that upgrade has another version by now.
func (p Upgrade) continues(before management.Record) bool {
	if !p.Plan.ChangesVersions() || before.From.ControlPlane.IsZero() {
		return false
	}
	if len(p.scope.Groups) > 0 {
		return slices.ContainsFunc(p.scope.Groups, func(group string) bool {
			return before.Versions.WorkerNodeGroups[group] == p.Plan.To.WorkerNodeGroups[group] && p.moved(before, group)
		})
	}
	if !sameVersions(before.Versions, p.Plan.To) {
		return false
	}
	for name := range before.From.WorkerNodeGroups {
		if p.moved(before, name) {
			return true
		}
	}
	return before.From.ControlPlane != p.Plan.From.ControlPlane
}

// moved reports whether a group has another version than when an upgrade began.
func (p Upgrade) moved(before management.Record, group string) bool {
	was, known := before.From.WorkerNodeGroups[group]
	now, there := p.Plan.From.WorkerNodeGroups[group]
	return known && there && now != was
}

func sameVersions(a, b v1alpha1.ClusterVersions) bool {
	return a.ControlPlane == b.ControlPlane && maps.Equal(a.WorkerNodeGroups, b.WorkerNodeGroups)
}

// recordOf returns the record of a cluster after a spec was applied.
func recordOf(s Spec, versions v1alpha1.ClusterVersions) management.Record {
	set, _ := s.bundles.SetOf(versions)
	return management.Record{Spec: string(s.data), Cluster: outline(s.Config.Cluster), Versions: versions, Releases: set.Releases()}
}

// outline is what a spec says about versions, numbers of machines, and what cannot be
// changed. Nothing of it is confidential: every user who may read the cluster's objects may read
// it, comments and all else of the file are left out.
func outline(cluster *v1alpha1.Cluster) *v1alpha1.Cluster {
	is := cluster.Spec
	spec := v1alpha1.ClusterSpec{
		KubernetesVersion: is.KubernetesVersion, DatacenterRef: is.DatacenterRef, UpgradePolicy: is.UpgradePolicy,
		ControlPlaneConfiguration: v1alpha1.ControlPlaneConfiguration{Count: is.ControlPlaneConfiguration.Count},
		ClusterNetwork:            v1alpha1.ClusterNetwork{Pods: is.ClusterNetwork.Pods, Services: is.ClusterNetwork.Services, Nodes: is.ClusterNetwork.Nodes, CNI: is.ClusterNetwork.CNI},
	}
	if plugin := is.ClusterNetwork.CNIConfig; plugin != nil {
		spec.ClusterNetwork.CNIConfig = &v1alpha1.CNIConfig{Kindnetd: plugin.Kindnetd}
		if plugin.Cilium != nil {
			spec.ClusterNetwork.CNIConfig.Cilium = &v1alpha1.Cilium{}
		}
	}
	if class := is.ClusterClass; class != nil {
		spec.ClusterClass = &v1alpha1.ClusterClass{Name: class.Name, Namespace: class.Namespace}
	}
	if etcd := is.ExternalEtcdConfiguration; etcd != nil {
		spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Endpoints: etcd.Endpoints}
	}
	for _, group := range is.WorkerNodeGroupConfigurations {
		spec.WorkerNodeGroupConfigurations = append(spec.WorkerNodeGroupConfigurations, v1alpha1.WorkerNodeGroupConfiguration{
			Name: group.Name, Count: group.Count, AutoscalingConfiguration: group.AutoscalingConfiguration, KubernetesVersion: group.KubernetesVersion,
		})
	}
	return &v1alpha1.Cluster{APIVersion: cluster.APIVersion, Kind: cluster.Kind, Metadata: cluster.Metadata, Spec: spec}
}

// outlineOf is the outline of the spec that was last applied; nil where it is not known.
func outlineOf(record management.Record, known providers.Set) *v1alpha1.Cluster {
	if record.Cluster != nil || record.Spec == "" {
		return record.Cluster
	}
	// Of an older clusterctl-x, which wrote the file alone.
	config := known.Decode("the record", []byte(record.Spec))
	if config.Cluster == nil || len(config.Problems) > 0 {
		return nil // it read other fields
	}
	return outline(config.Cluster)
}

// changedOutline is the outline of a file with the versions of an upgrade without one; the
// outline of that upgrade where no file is known.
func (p Upgrade) changedOutline(before management.Record) (*v1alpha1.Cluster, bool) {
	asked, of := p.resolved.Config.Cluster, outlineOf(before, p.spec.providers)
	if of == nil || before.VersionOnly {
		return outline(asked), true
	}
	changed := outline(of)
	changed.Spec.KubernetesVersion = asked.Spec.KubernetesVersion
	for i, group := range changed.Spec.WorkerNodeGroupConfigurations {
		for _, wanted := range asked.Spec.WorkerNodeGroupConfigurations {
			if wanted.Name == group.Name {
				changed.Spec.WorkerNodeGroupConfigurations[i].KubernetesVersion = wanted.KubernetesVersion
			}
		}
	}
	return changed, false
}

// configOf is the outline of the spec that was last applied, as planning takes it; nil
// where it is not known.
func configOf(record management.Record, known providers.Set) *v1alpha1.Config {
	cluster := outlineOf(record, known)
	if cluster == nil {
		return nil
	}
	return &v1alpha1.Config{Cluster: cluster}
}
