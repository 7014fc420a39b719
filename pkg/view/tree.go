package view

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// maxListed is how many ready machines of a part are listed; those that are
// not ready always are.
const maxListed = 10

// Described is the description of a cluster.
type Described struct {
	state.Cluster
	// Lags are the groups behind the control plane, and what follows.
	Lags []plan.Lag `json:"lags,omitempty"`
	// Postponed describes changes that wait for deferred groups.
	Postponed []string `json:"frozen,omitempty"`
	// Unreached are the detached groups that the latest changes of the ClusterClass
	// have not reached.
	Unreached []string `json:"unreached,omitempty"`
	// Variables of a cluster from a ClusterClass.
	Variables []Variable `json:"variables,omitempty"`
}

// Variable is the value of a variable of a ClusterClass.
type Variable struct {
	Name     string          `json:"name"`
	Part     string          `json:"part,omitempty"` // empty for the cluster
	Value    json.RawMessage `json:"value"`
	Required bool            `json:"required,omitempty"`
	Default  bool            `json:"default,omitempty"`
}

// Tree writes the parts of a cluster and their machines, why anything is not ready, and
// what follows from groups that are behind or deferred.
func (s Style) Tree(w io.Writer, described Described, now time.Time) error {
	cluster, lags := described.Cluster, described.Lags
	var b strings.Builder
	fmt.Fprintf(&b, "%s Cluster %s/%s  %s, created %s ago\n", s.mark(ofCluster(cluster)), cluster.Namespace, cluster.Name, phaseOf(cluster), age(cluster.Created, now))
	if cluster.OwnedByOthers() {
		fmt.Fprintf(&b, "  owner: %s\n", cluster.Owner)
	}
	switch {
	case cluster.Pause != nil:
		fmt.Fprintf(&b, "  paused: %s\n", *cluster.Pause)
	case cluster.Paused:
		b.WriteString("  paused: Cluster API does nothing until spec.paused of the Cluster is false\n")
	}
	for _, hold := range cluster.Holds {
		fmt.Fprintf(&b, "  %s%s\n", map[bool]string{true: "waits: "}[cluster.Held != nil && *cluster.Held == hold], hold)
	}
	if err := s.topology(&b, described); err != nil {
		return err
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
		fmt.Fprintf(&b, "%s %s %s  %s  %s  %s\n", branch, s.mark(ofPart(part)), part.Name, part.Object, part.Version, ready(part))
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

// ready is how many machines a part has of those that are wanted.
func ready(part state.Part) string {
	if part.Ready() > part.Replicas || part.ToReplace() > 0 {
		return part.Count()
	}
	return fmt.Sprintf("%d/%d ready", part.Ready(), part.Replicas)
}

// topology writes what only clusters from a ClusterClass have.
func (s Style) topology(b *strings.Builder, described Described) error {
	topology := described.Topology
	if topology == nil {
		return nil
	}
	fmt.Fprintf(b, "  ClusterClass %s at %s\n", topology.Class, topology.Version)
	if !topology.Settled && topology.Reason != "" && len(described.Postponed) == 0 {
		fmt.Fprintf(b, "  topology: %s\n", topology.Reason)
	}
	for _, line := range described.Postponed {
		fmt.Fprintf(b, "  %s\n", line)
	}
	for _, group := range described.Unreached {
		fmt.Fprintf(b, "  %s is pinned, and was made before the latest change of the class; 'clusterctl-x upgrade cluster' with its file applies that change\n", group)
	}
	var table strings.Builder
	for _, variable := range described.Variables {
		name := variable.Name
		if variable.Part != "" {
			name += " of " + variable.Part
		}
		var marks []string
		if variable.Required {
			marks = append(marks, "required")
		}
		if variable.Default {
			marks = append(marks, "default")
		}
		line := fmt.Sprintf("  variable %s\t%s\t%s", name, shortened(string(variable.Value)), strings.Join(marks, ", "))
		table.WriteString(strings.TrimRight(line, "\t ") + "\n")
	}
	return align(b, table.String(), 2)
}

// maxValue is how much of a variable is shown; -o json has all of it.
const maxValue = 80

func shortened(text string) string {
	if runes := []rune(text); len(runes) > maxValue {
		return string(runes[:maxValue]) + "..."
	}
	return text
}

func (s Style) machines(w io.Writer, trunk string, part state.Part) error {
	var table strings.Builder
	listed, left := 0, 0
	for _, m := range part.Machines {
		isReady := m.ReadyAt(part.Version)
		if isReady && listed >= maxListed {
			left++
			continue
		}
		if isReady {
			listed++
		}
		line := fmt.Sprintf("%s   %s %s\t%s\t%s", trunk, s.mark(markOf(isReady, m.Unwell())), m.Name, m.Version, m.Phase)
		if m.Reason != "" {
			line += "\t" + m.Reason
		}
		table.WriteString(line + "\n")
	}
	if left > 0 {
		fmt.Fprintf(&table, "%s   %s and %d more that are ready\n", trunk, s.mark(done), left)
	}
	return align(w, table.String(), 2)
}

// age is written as kubectl does.
func age(since, now time.Time) string { return duration.HumanDuration(now.Sub(since)) }
