package view

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// maxListed is how many ready machines of a part are listed; those that are
// not ready always are.
const maxListed = 10

// Tree writes the parts of a cluster and their machines, with the reason for
// whatever is not ready, and what it means that groups are behind.
func (s Style) Tree(w io.Writer, cluster state.Cluster, lags []plan.Lag, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s Cluster %s/%s  %s, created %s ago\n", s.mark(cluster.Done()), cluster.Namespace, cluster.Name, cluster.Phase, age(cluster.Created, now))
	if cluster.Paused {
		b.WriteString("  paused: Cluster API does nothing until spec.paused of the Cluster is not true\n")
	}
	if cluster.Infrastructure != "" {
		fmt.Fprintf(&b, "  infrastructure: %s\n", cluster.Infrastructure)
	}
	for _, addOn := range cluster.AddOns {
		if !addOn.Applied {
			fmt.Fprintf(&b, "  add-on %s: %s\n", addOn.Name, cmp.Or(addOn.Reason, "not applied yet"))
		}
	}
	parts := cluster.Parts()
	for i, part := range parts {
		branch, trunk := "├─", "│ "
		if i == len(parts)-1 {
			branch, trunk = "└─", "  "
		}
		fmt.Fprintf(&b, "%s %s %s  %s  %s  %d/%d ready\n", branch, s.mark(part.Done()), part.Name, part.Object, part.Version, part.Ready(), part.Replicas)
		for _, lag := range lags {
			if lag.WorkerNodeGroup == part.Name {
				fmt.Fprintf(&b, "%s   %s\n", trunk, lag)
			}
		}
		if !part.Done() && part.Reason != "" {
			fmt.Fprintf(&b, "%s   %s\n", trunk, part.Reason)
		}
		if err := s.machines(&b, trunk, part); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s Style) machines(w io.Writer, trunk string, part state.Part) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	listed, left := 0, 0
	for _, m := range part.Machines {
		ready := m.ReadyAt(part.Version)
		if ready && listed >= maxListed {
			left++
			continue
		}
		if ready {
			listed++
		}
		line := fmt.Sprintf("%s   %s %s\t%s\t%s", trunk, s.mark(ready), m.Name, m.Version, m.Phase)
		if m.Reason != "" {
			line += "\t" + m.Reason
		}
		fmt.Fprintln(table, line)
	}
	if left > 0 {
		fmt.Fprintf(table, "%s   %s and %d more that are ready\n", trunk, s.mark(true), left)
	}
	return table.Flush()
}

// Table writes one line for each cluster.
func (s Style) Table(w io.Writer, clusters []state.Cluster, now time.Time) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tPHASE\tVERSION\tCONTROL PLANE\tWORKERS\tAGE")
	for _, c := range clusters {
		ready, wanted := 0, 0
		for _, group := range c.WorkerNodeGroups {
			ready += group.Ready()
			wanted += group.Replicas
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d/%d\t%d/%d\t%s\n", c.Namespace, c.Name, c.Phase, c.ControlPlane.Version,
			c.ControlPlane.Ready(), c.ControlPlane.Replicas, ready, wanted, age(c.Created, now))
	}
	return table.Flush()
}

// age is written as kubectl does.
func age(since, now time.Time) string { return duration.HumanDuration(now.Sub(since)) }
