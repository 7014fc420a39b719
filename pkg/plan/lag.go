package plan

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Lag is how far a worker node group is behind the control plane, and what that
// means for it.
type Lag struct {
	WorkerNodeGroup string           `json:"workerNodeGroup"`
	Version         v1alpha1.Version `json:"version"` // of its oldest node
	// Pinned is true where the spec gives the group a version of its own.
	Pinned bool `json:"pinned"`
	// Behind is how many minors it is older than the control plane, Margin how
	// many more it may be; a negative one is that much too old.
	Behind int `json:"behind"`
	Margin int `json:"margin"`
	// Blocks is the newest minor that the control plane may have with the group at its
	// version.
	Blocks v1alpha1.Minor `json:"blocks"`
}

// Lags returns the groups that are pinned or behind the control plane, in the order of
// their names, without unmanaged machines.
func Lags(c state.Cluster, pinned func(group string) bool, policy skew.Policy) []Lag {
	var lags []Lag
	for _, group := range c.WorkerNodeGroups {
		if group.Version.IsZero() || c.ControlPlane.Version.IsZero() {
			continue
		}
		lag := Lag{WorkerNodeGroup: group.Name, Version: group.Oldest(), Pinned: pinned(group.Name) || group.Detached}
		lag.Blocks = policy.Newest(lag.Version)
		lag.Behind = int(c.ControlPlane.Version.Minor().Minor) - int(lag.Version.Minor().Minor)
		lag.Margin = int(lag.Blocks.Minor) - int(c.ControlPlane.Version.Minor().Minor)
		if lag.Pinned || lag.Behind > 0 {
			lags = append(lags, lag)
		}
	}
	return lags
}

// String says it in a sentence.
func (l Lag) String() string {
	text := "follows the control plane"
	if l.Pinned {
		text = "pinned"
	}
	if l.Behind <= 0 {
		return fmt.Sprintf("%s; the control plane cannot go beyond %s while %s is at %s", text, l.Blocks, l.WorkerNodeGroup, l.Version.Minor())
	}
	return fmt.Sprintf("%s, %s behind: the control plane cannot go beyond %s while %s is at %s, and %s gets no new machine while the control plane rolls",
		text, skew.Minors(uint64(l.Behind)), l.Blocks, l.WorkerNodeGroup, l.Version.Minor(), l.WorkerNodeGroup)
}
