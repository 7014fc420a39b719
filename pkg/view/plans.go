package view

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// Plans writes plans as a table, one line for each cluster.
func Plans(w io.Writer, plans []plan.Plan) error {
	table := tabwriter.NewWriter(w, 0, 0, columnSpacing, ' ', 0)
	fmt.Fprintln(table, "NAMESPACE\tNAME\tFROM\tTO\tSTEPS\tCONTROL PLANE MACHINES REPLACED\tWORKER MACHINES REPLACED") //nolint:errcheck // Flush returns it
	for _, p := range plans {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\n", //nolint:errcheck // Flush returns it
			p.Metadata.Namespace, p.Metadata.Name, p.From.ControlPlane, p.To.ControlPlane, len(p.Steps), p.MachinesReplaced.ControlPlane, p.MachinesReplaced.Workers)
	}
	return table.Flush()
}
