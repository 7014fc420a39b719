// Package skew is the version skew policy of Kubernetes for control planes and
// worker nodes (https://kubernetes.io/releases/version-skew-policy/#kubelet).
package skew

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

const (
	// maxLag is how many minors a node may be older than the newest API server.
	maxLag = 3
	// maxLagOld is the same for nodes older than oldBefore.
	maxLagOld = 2
)

// oldBefore is the first minor whose nodes may lag by maxLag.
func oldBefore() v1alpha1.Minor { return v1alpha1.Minor{Major: 1, Minor: 25} }

// Check tells why a worker node at version worker may not run beside a control
// plane at version controlPlane; it is nil where it may.
func Check(controlPlane, worker v1alpha1.Version) error {
	cp, w := controlPlane.Minor(), worker.Minor()
	switch {
	case worker.After(controlPlane):
		return fmt.Errorf("must not be newer than the control plane (%s)", controlPlane)
	case cp.Major != w.Major:
		return fmt.Errorf("must have the major version of the control plane (%s)", controlPlane)
	case cp.Minor-w.Minor > lag(w):
		return fmt.Errorf("must not be more than %d minors older than the control plane (%s)", lag(w), controlPlane)
	}
	return nil
}

// Oldest is the oldest minor that may run beside the control plane.
func Oldest(controlPlane v1alpha1.Version) v1alpha1.Minor {
	oldest := controlPlane.Minor()
	for oldest.Minor > 0 {
		next := v1alpha1.Minor{Major: oldest.Major, Minor: oldest.Minor - 1}
		if controlPlane.Minor().Minor-next.Minor > lag(next) {
			break
		}
		oldest = next
	}
	return oldest
}

func lag(worker v1alpha1.Minor) uint64 {
	if worker.Compare(oldBefore()) < 0 {
		return maxLagOld
	}
	return maxLag
}
