package main

import (
	"maps"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// withRecord adds what the record of a cluster knows.
func (s spec) withRecord(record management.Record, recorded bool, name string) (spec, *v1alpha1.Config) {
	if !recorded {
		return s, nil
	}
	s.bundles = s.bundles.With(record.Releases)
	before := v1alpha1.Decode("the record of cluster "+name, []byte(record.Spec))
	if before.Cluster == nil || len(before.Problems) > 0 {
		return s, nil // of another release, which read other fields
	}
	return s, before
}

// record is what is kept about the cluster once the plan is begun: the file,
// unless only a part of it is applied, the versions that the plan leads to, and
// the releases that the cluster runs until then.
func (p prepared) record(before management.Record, whole bool) management.Record {
	record := management.Record{Spec: before.Spec, Versions: p.plan.To, From: p.plan.From}
	if sameVersions(before.Versions, record.Versions) {
		record.From = before.From // of the run that began it
	}
	if whole {
		record.Spec = string(p.spec.data)
	}
	if p.spec.managed() {
		record.Plan = &p.plan
	}
	releases := versionsbundle.Set{}
	for i := range len(p.plan.Steps) + 1 {
		set, _ := p.spec.bundles.SetOf(p.plan.Versions(i))
		maps.Copy(releases, set)
	}
	record.Releases = releases.Releases()
	return record
}

// continues tells whether the plan is what is left of an upgrade that an earlier run
// began: something that was there then has another version by now.
func (p prepared) continues(before management.Record) bool {
	if !p.plan.ChangesVersions() || before.From.ControlPlane.IsZero() || !sameVersions(before.Versions, p.plan.To) {
		return false
	}
	for name, version := range before.From.WorkerNodeGroups {
		if now, there := p.plan.From.WorkerNodeGroups[name]; there && now != version {
			return true
		}
	}
	return before.From.ControlPlane != p.plan.From.ControlPlane
}

func sameVersions(a, b v1alpha1.ClusterVersions) bool {
	return a.ControlPlane == b.ControlPlane && maps.Equal(a.WorkerNodeGroups, b.WorkerNodeGroups)
}

// recordOf is what is kept about a cluster that a spec was applied to.
func recordOf(s spec, versions v1alpha1.ClusterVersions) management.Record {
	set, _ := s.bundles.SetOf(versions)
	return management.Record{Spec: string(s.data), Versions: versions, Releases: set.Releases()}
}
