package main

import (
	"maps"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// withRecord adds what the record of a cluster knows; an empty one knows nothing.
func (s spec) withRecord(record management.Record, name string) (spec, *v1alpha1.Config) {
	s.bundles = s.bundles.With(record.Releases)
	before := v1alpha1.Decode("the record of cluster "+name, []byte(record.Spec))
	if before.Cluster == nil || len(before.Problems) > 0 {
		return s, nil // there is none, or it is of another release, which read other fields
	}
	return s, before
}

// record is what is kept about the cluster once the plan is begun: the file,
// unless only a part of it is applied, the versions that the plan leads to, and
// the releases that the cluster runs until then.
func (p prepared) record(before management.Record) management.Record {
	releases := versionsbundle.Set{}
	for i := range len(p.plan.Steps) + 1 {
		set, _ := p.spec.bundles.SetOf(p.plan.Versions(i))
		maps.Copy(releases, set)
	}
	if len(p.about.groups) > 0 && !before.Versions.ControlPlane.IsZero() {
		return p.recordGroups(before, releases.Releases())
	}
	record := management.Record{Spec: before.Spec, Versions: p.plan.To, From: p.plan.From, Plan: before.Plan, Releases: releases.Releases()}
	if sameVersions(before.Versions, record.Versions) {
		record.From = before.From // of the run that began it
	}
	if p.about.whole() {
		record.Spec = string(p.spec.data)
	}
	if p.spec.managed() && p.about.whole() && !p.plan.Empty() {
		record.Plan = &p.plan
	}
	return record
}

// recordGroups changes what the record says of the groups that the upgrade is about.
// Another run may be at work on others at the same time.
func (p prepared) recordGroups(record management.Record, releases []versionsbundle.Release) management.Record {
	if record.From.ControlPlane.IsZero() {
		record.From.ControlPlane = record.Versions.ControlPlane
	}
	to, from := clonedGroups(record.Versions), clonedGroups(record.From)
	for _, group := range p.about.groups {
		if to[group] == p.plan.To.WorkerNodeGroups[group] {
			continue // of the run that began it
		}
		to[group] = p.plan.To.WorkerNodeGroups[group]
		delete(from, group)
		if version, exists := p.plan.From.WorkerNodeGroups[group]; exists {
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

// continues tells whether the plan is what is left of an upgrade that an earlier run
// began: something that was there then has another version by now.
func (p prepared) continues(before management.Record) bool {
	if !p.plan.ChangesVersions() || before.From.ControlPlane.IsZero() {
		return false
	}
	if len(p.about.groups) > 0 {
		return slices.ContainsFunc(p.about.groups, func(group string) bool {
			return before.Versions.WorkerNodeGroups[group] == p.plan.To.WorkerNodeGroups[group] && p.moved(before, group)
		})
	}
	if !sameVersions(before.Versions, p.plan.To) {
		return false
	}
	for name := range before.From.WorkerNodeGroups {
		if p.moved(before, name) {
			return true
		}
	}
	return before.From.ControlPlane != p.plan.From.ControlPlane
}

// moved reports whether a group has another version than when an upgrade began.
func (p prepared) moved(before management.Record, group string) bool {
	was, known := before.From.WorkerNodeGroups[group]
	now, there := p.plan.From.WorkerNodeGroups[group]
	return known && there && now != was
}

func sameVersions(a, b v1alpha1.ClusterVersions) bool {
	return a.ControlPlane == b.ControlPlane && maps.Equal(a.WorkerNodeGroups, b.WorkerNodeGroups)
}

// recordOf is what is kept about a cluster that a spec was applied to.
func recordOf(s spec, versions v1alpha1.ClusterVersions) management.Record {
	set, _ := s.bundles.SetOf(versions)
	return management.Record{Spec: string(s.data), Versions: versions, Releases: set.Releases()}
}
