package main

import (
	"context"
	"fmt"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// plan measures planning an upgrade of 1,000 worker node groups over five
// minors; every third one is pinned, and they begin at four versions.
func (b bench) plan(context.Context) error {
	in := thousandGroups()
	var runs []usage
	for range 21 {
		began := time.Now()
		p, err := plan.Compute(in)
		if err != nil {
			return err
		}
		if p.Empty() {
			return fmt.Errorf("the plan is empty")
		}
		runs = append(runs, usage{wall: time.Since(began)})
	}
	b.row("planning, 1,000 groups over five minors", median(runs), "50ms", "")
	return nil
}

func thousandGroups() plan.Input {
	version := func(minor int) v1alpha1.Version { return v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.4", minor)) }
	part := func(minor, machines int) plan.Part {
		return plan.Part{Version: version(minor), Oldest: version(minor), Machines: machines, Fresh: machines}
	}
	in := plan.Input{
		Start:  plan.Start{ControlPlane: part(31, 3), WorkerNodeGroups: map[string]plan.Part{}},
		Target: plan.Target{ControlPlane: version(36), ControlPlaneMachines: 3},
	}
	for minor := 28; minor <= 36; minor++ {
		in.Releases = append(in.Releases, version(minor))
	}
	for i := range 1000 {
		group := plan.TargetGroup{Name: fmt.Sprintf("md-%d", i), Version: version(36), Machines: 3}
		if i%3 == 0 {
			group.Version, group.Pinned = version(33+i%4), true
		}
		in.Start.WorkerNodeGroups[group.Name] = part(28+i%4, 3)
		in.Target.WorkerNodeGroups = append(in.Target.WorkerNodeGroups, group)
	}
	return in
}
