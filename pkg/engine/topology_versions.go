package engine

import "github.com/clusterctl-x/clusterctl-x/pkg/plan"

// topologyVersions is a topology whose groups have versions of their own, a capability
// that Cluster API plans to have: it takes the steps of detached groups, too, and all of
// them are in the Cluster.
type topologyVersions struct{ topology }

func (topologyVersions) begin(t *turn) {
	if t.Plan.NextDetached(0) > 0 && !transferUnseen(t.now) {
		t.beginSegment(0)
	}
}

func (d topologyVersions) take(t *turn) (bool, error) {
	step := t.step()
	if !step.Detached {
		return t.follow()
	}
	if waits, err := t.waitsBefore(t.p.step, t.p.step+1); waits || err != nil {
		return false, err
	}
	if tr := t.nextTransfer(); len(tr.groups) > 0 {
		return d.transfer(t, tr)
	}
	return d.move(t, step)
}

// move takes a step by writing the Cluster.
func (topologyVersions) move(t *turn, step plan.Step) (bool, error) {
	done := step.Concurrent || step.UnderWay && step.Done(t.now) || t.p.begun[wholeCluster] && t.p.seen(t.now) && step.Done(t.now)
	if !step.UnderWay && !t.p.begun[wholeCluster] {
		t.p.begun[wholeCluster] = true
		t.writeAll(wholeCluster, t.Desired[t.p.step+1].Cluster)
	}
	if done {
		t.p.goTo(t.p.step + 1)
	}
	return done, nil
}

// transfer gives groups versions in the topology, or takes them away.
func (topologyVersions) transfer(t *turn, tr transfer) (bool, error) {
	if !t.p.seen(t.now) {
		return false, nil
	}
	if reasons := tr.obstacles(t.now); len(reasons) > 0 {
		return false, t.stale(reasons...)
	}
	if tr.phase(t.now) == complete {
		t.adopt(tr)
		return true, nil
	}
	for _, object := range t.Desired[tr.end].Cluster {
		t.do(Apply{object, wholeCluster})
	}
	return false, nil
}
