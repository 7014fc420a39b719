package lifecycle

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
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
	record := management.Record{Spec: before.Spec, Versions: p.Plan.To, From: p.Plan.From, Plan: before.Plan, Releases: releases.Releases()}
	if sameVersions(before.Versions, record.Versions) {
		record.From = before.From // of the run that began it
	}
	if p.scope.Whole() {
		record.Spec = string(p.spec.data)
	}
	if p.spec.managed() && p.scope.Whole() && !p.Plan.Empty() {
		record.Plan = &p.Plan
	}
	return record
}

// recordGroups changes the entries of the record for the groups of the upgrade. Another
// run may work on other groups at the same time.
func (p Upgrade) recordGroups(record management.Record, releases []versionsbundle.Release) management.Record {
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
	return management.Record{Spec: string(s.data), Versions: versions, Releases: set.Releases()}
}
