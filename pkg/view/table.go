package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/liggitt/tabwriter"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Listed is a cluster in a list.
type Listed struct {
	state.Cluster
	// Gone is true where the cluster no longer exists; the rest is its last state.
	Gone bool `json:"gone,omitempty"`
}

// ListedOf returns clusters that exist as those of a list.
func ListedOf(clusters []state.Cluster) []Listed {
	all := make([]Listed, len(clusters))
	for i, cluster := range clusters {
		all[i] = Listed{Cluster: cluster}
	}
	return all
}

// Columns are the columns of a table of clusters.
type Columns string

// Columns of tables.
const (
	FewColumns Columns = "few"
	AllColumns Columns = "all" // also what a fleet is compared by
)

// ClusterTable writes clusters as rows of a table, and later on those that changed as
// further rows, as 'kubectl get --watch' does.
type ClusterTable struct {
	table   *tabwriter.Writer
	columns Columns
	headed  bool
	// last has the last row of each cluster without its age.
	last map[string]string
}

// NewClusterTable returns a table without rows.
func NewClusterTable(w io.Writer, columns Columns) *ClusterTable {
	return &ClusterTable{table: tabwriter.NewWriter(w, 0, 0, columnSpacing, ' ', tabwriter.RememberWidths), columns: columns, last: map[string]string{}}
}

// Write adds rows. A cluster whose row would be the last one again gets none.
func (t *ClusterTable) Write(clusters []Listed, now time.Time) error {
	var rows strings.Builder
	for _, cluster := range clusters {
		key := cluster.Namespace + "/" + cluster.Name
		row := t.row(cluster, "")
		if last, shown := t.last[key]; shown && last == row {
			continue
		}
		t.last[key] = row
		if cluster.Gone {
			delete(t.last, key)
		}
		rows.WriteString(t.row(cluster, age(cluster.Created, now)))
	}
	if rows.Len() > 0 && !t.headed {
		t.headed = true
		if _, err := io.WriteString(t.table, t.header()); err != nil {
			return err
		}
	}
	if _, err := io.WriteString(t.table, rows.String()); err != nil {
		return err
	}
	return t.table.Flush()
}

// Names writes clusters as kubectl does with -o name.
func Names(w io.Writer, clusters []Listed) error {
	var lines strings.Builder
	for _, cluster := range clusters {
		lines.WriteString("cluster/" + cluster.Name + "\n")
	}
	_, err := io.WriteString(w, lines.String())
	return err
}

func (t *ClusterTable) header() string {
	header := "NAMESPACE\tNAME\tPHASE\tVERSION\tCONTROL PLANE\tWORKERS\tPINNED OR BEHIND\tAGE"
	if t.columns == AllColumns {
		header += "\tOLDEST WORKER\tCLASS\tOWNER\tWAITING FOR"
	}
	return header + "\n"
}

func (t *ClusterTable) row(c Listed, age string) string {
	cells := []string{c.Namespace, c.Name, phase(c), c.ControlPlane.Version.String(), serving(c.ControlPlane), serving(c.WorkerNodeGroups...), apart(c.Cluster), age}
	if t.columns == AllColumns {
		cells = append(cells, oldestWorker(c.Cluster), class(c.Cluster), owner(c.Cluster), waiting(c))
	}
	return strings.Join(cells, "\t") + "\n"
}

// none is written where there is no value.
const none = "-"

// oldestWorker is the oldest version that a machine or node of a worker node group has.
func oldestWorker(c state.Cluster) string {
	var versions []v1alpha1.Version
	for _, group := range c.WorkerNodeGroups {
		if oldest := group.Oldest(); !oldest.IsZero() {
			versions = append(versions, oldest)
		}
	}
	if len(versions) == 0 {
		return none
	}
	return slices.MinFunc(versions, v1alpha1.Version.Compare).String()
}

// class is the ClusterClass of a cluster, with its namespace where that is another one.
func class(c state.Cluster) string {
	if c.Topology == nil {
		return none
	}
	return strings.TrimPrefix(c.Topology.Class, c.Namespace+"/")
}

// owner is who writes a cluster.
func owner(c state.Cluster) string {
	if c.Owner == nil {
		return none
	}
	return c.Owner.String()
}

func waiting(c Listed) string {
	if c.Gone {
		return none
	}
	return cmp.Or(c.Waiting(), none)
}

// columnSpacing is the number of spaces between columns, as in kubectl.
const columnSpacing = 3

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
		return none
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
func phase(c Listed) string {
	switch {
	case c.Gone:
		return "Gone"
	case c.Pause != nil:
		return phaseOf(c.Cluster) + ", paused to " + c.Pause.Why
	case c.Paused:
		return phaseOf(c.Cluster) + ", paused"
	}
	return phaseOf(c.Cluster)
}

// phaseOf returns the phase of a cluster, which Cluster API has yet to write of a new one.
func phaseOf(c state.Cluster) string { return cmp.Or(c.Phase, "Pending") }
