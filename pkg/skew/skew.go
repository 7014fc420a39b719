// Package skew is the version skew policy of Kubernetes for control planes and
// worker nodes (https://kubernetes.io/releases/version-skew-policy/#kubelet).
package skew

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const (
	// MaxLag is how many minors a node may be older than the newest API server.
	MaxLag = 3
	// maxLagOld is the same for nodes older than oldBefore.
	maxLagOld = 2
)

// oldBefore is the first minor whose nodes may lag by MaxLag.
func oldBefore() v1alpha1.Minor { return v1alpha1.Minor{Major: 1, Minor: 25} }

// Policy is the skew policy, which a cluster may tighten and never widen. The
// zero value is the policy of Kubernetes.
type Policy struct {
	// MaxLag is how many minors a node may be older than the newest API server,
	// where Kubernetes would allow more; 0 leaves it to Kubernetes.
	MaxLag uint64
}

// Check tells why a worker node at version worker may not run beside a control
// plane at version controlPlane; it is nil where it may.
func (p Policy) Check(controlPlane, worker v1alpha1.Version) error {
	cp, w := controlPlane.Minor(), worker.Minor()
	switch {
	case worker.After(controlPlane):
		return fmt.Errorf("must not be newer than the control plane (%s)", controlPlane)
	case cp.Major != w.Major:
		return fmt.Errorf("must have the major version of the control plane (%s)", controlPlane)
	case cp.Minor-w.Minor > p.lag(w):
		return fmt.Errorf("must not be more than %s older than the control plane (%s)", Minors(p.lag(w)), controlPlane)
	}
	return nil
}

// TooOld reports whether a node is older than the policy allows, whatever else
// is wrong with it.
func (p Policy) TooOld(controlPlane, worker v1alpha1.Version) bool {
	cp, w := controlPlane.Minor(), worker.Minor()
	return cp.Major > w.Major || cp.Major == w.Major && cp.Minor > w.Minor+p.lag(w)
}

// Oldest is the oldest minor that may run beside the control plane.
func (p Policy) Oldest(controlPlane v1alpha1.Version) v1alpha1.Minor {
	oldest := controlPlane.Minor()
	for oldest.Minor > 0 {
		next := v1alpha1.Minor{Major: oldest.Major, Minor: oldest.Minor - 1}
		if controlPlane.Minor().Minor-next.Minor > p.lag(next) {
			break
		}
		oldest = next
	}
	return oldest
}

// Newest is the newest minor of a control plane that the worker may run beside.
func (p Policy) Newest(worker v1alpha1.Version) v1alpha1.Minor {
	minor := worker.Minor()
	minor.Minor += p.lag(minor)
	return minor
}

// lag is how many minors a node of the minor may be older.
func (p Policy) lag(worker v1alpha1.Minor) uint64 {
	allowed := uint64(MaxLag)
	if worker.Compare(oldBefore()) < 0 {
		allowed = maxLagOld
	}
	if p.MaxLag > 0 {
		allowed = min(allowed, p.MaxLag)
	}
	return allowed
}

// Minors returns the count with its unit.
func Minors(count uint64) string {
	if count == 1 {
		return "1 minor"
	}
	return fmt.Sprintf("%d minors", count)
}
