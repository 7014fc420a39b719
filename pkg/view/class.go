package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// ClassPlan writes the effect of a change of a ClusterClass on each cluster that uses
// it.
func (s Style) ClassPlan(w io.Writer, p plan.ClassPlan) error {
	var b strings.Builder
	name := p.Metadata.Namespace + "/" + p.Metadata.Name
	if len(p.Clusters) == 0 {
		_, err := fmt.Fprintf(w, "ClusterClass %s can be applied; no cluster uses it\n", name)
		return err
	}
	unchanged := 0
	for _, cluster := range p.Clusters {
		if cluster.Empty() {
			unchanged++
			if len(cluster.Notes) > 0 {
				fmt.Fprintf(&b, "Cluster %s/%s is unchanged.\n", cluster.Metadata.Namespace, cluster.Metadata.Name)
				notes(&b, cluster)
			}
			continue
		}
		if err := s.Plan(&b, cluster); err != nil {
			return err
		}
	}
	fmt.Fprintf(&b, "ClusterClass %s: %s, %d of them unchanged; at most %s and %s replaced.\n", name, Counted(len(p.Clusters), "cluster"), unchanged,
		Counted(p.MachinesReplaced.ControlPlane, "control plane machine"), Counted(p.MachinesReplaced.Workers, "worker machine"))
	_, err := io.WriteString(w, b.String())
	return err
}
