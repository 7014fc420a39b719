package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Table writes one line for each cluster.
func (s Style) Table(w io.Writer, clusters []state.Cluster, now time.Time) error {
	var b strings.Builder
	b.WriteString("NAMESPACE\tNAME\tPHASE\tVERSION\tCONTROL PLANE\tWORKERS\tPINNED OR BEHIND\tAGE\n")
	for _, c := range clusters {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Namespace, c.Name, phase(c), c.ControlPlane.Version,
			serving(c.ControlPlane), serving(c.WorkerNodeGroups...), apart(c), age(c.Created, now))
	}
	return align(w, b.String(), 3)
}

// align writes lines in columns, which tabs separate, with some spaces between.
func align(w io.Writer, lines string, spaces int) error {
	table := tabwriter.NewWriter(w, 0, 0, spaces, ' ', 0)
	if _, err := io.WriteString(table, lines); err != nil {
		return err
	}
	return table.Flush()
}

// serving is how many machines of some parts serve, of those that are wanted, and how
// many of them are updated as long as not all are.
func serving(parts ...state.Part) string {
	running, wanted, updated, old := 0, 0, 0, 0
	for _, part := range parts {
		running, wanted = running+part.Serving(), wanted+part.Replicas
		updated, old = updated+part.Ready(), old+part.ToReplace()
	}
	text := fmt.Sprintf("%d/%d", min(running, wanted), wanted)
	if old > 0 {
		text += fmt.Sprintf(", %d updated", min(updated, wanted))
	}
	return text
}

// maxApart is how many groups the table names for each cluster.
const maxApart = 2

// apart names the groups of a cluster that are pinned, or not at the version of the
// control plane. Of more than a few it gives the range of their versions.
func apart(c state.Cluster) string {
	var names []string
	var versions []v1alpha1.Version
	pinned := 0
	for _, group := range c.WorkerNodeGroups {
		behind := !group.Version.IsZero() && !c.ControlPlane.Version.IsZero() && group.Version != c.ControlPlane.Version
		if !behind && !group.Detached {
			continue
		}
		text := group.Name + " " + group.Version.String()
		if why := stays(c, group); why != "" {
			text += " " + why
		}
		names, versions = append(names, text), append(versions, group.Version)
		if group.Detached {
			pinned++
		}
	}
	switch {
	case len(names) == 0:
		return "-"
	case len(names) <= maxApart:
		return strings.Join(names, ", ")
	}
	oldest, newest := slices.MinFunc(versions, v1alpha1.Version.Compare), slices.MaxFunc(versions, v1alpha1.Version.Compare)
	text := fmt.Sprintf("%d groups %s", len(names), oldest)
	if oldest != newest {
		text += " to " + newest.String()
	}
	if pinned > 0 {
		text += fmt.Sprintf(", %d pinned", pinned)
	}
	return text
}

// stays is why an upgrade of the cluster leaves a group where it is. Without a
// ClusterClass the objects do not say.
func stays(c state.Cluster, group state.Part) string {
	switch {
	case group.Detached:
		return "pinned"
	case c.Topology != nil:
		return c.Topology.Deferred()[group.Name]
	}
	return ""
}

// phase returns the phase of a cluster, with its pause.
func phase(c state.Cluster) string {
	switch {
	case c.Pause != nil:
		return c.Phase + ", paused to " + c.Pause.Why
	case c.Paused:
		return c.Phase + ", paused"
	}
	return c.Phase
}
