package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Creation writes what a new cluster will be: its parts with their versions and machines.
func (s Style) Creation(w io.Writer, key string, cluster *v1alpha1.Cluster, versions v1alpha1.ClusterVersions) error {
	moves := []move{{"control plane", "new at " + versions.ControlPlane.String(), Counted(cluster.Spec.ControlPlaneConfiguration.Replicas(), "machine")}}
	for _, group := range cluster.Spec.WorkerNodeGroupConfigurations {
		moves = append(moves, move{group.Name, "new at " + versions.WorkerNodeGroups[group.Name].String(), Counted(group.Replicas(), "machine")})
	}
	who, what := 0, 0
	for _, move := range moves {
		who, what = max(who, len(move.who)), max(what, len(move.what))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Plan for cluster %s, which does not exist and is created:\n", key)
	for _, move := range moves {
		fmt.Fprintf(&b, "  %-*s  %-*s  %s\n", who, move.who, what, move.what, move.machines)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
