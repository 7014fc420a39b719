package view

import (
	"cmp"
	"fmt"
	"io"

	"github.com/liggitt/tabwriter"
)

// Component is one of the components of a management cluster in a plan.
type Component struct {
	Name, Namespace string
	// From is empty where the component is not installed yet, and To is From where it stays.
	From, To string
}

// Components writes a plan for the components of a management cluster.
func Components(w io.Writer, components []Component) error {
	table := tabwriter.NewWriter(w, 0, 0, columnSpacing, ' ', 0)
	fmt.Fprintln(table, "COMPONENT\tNAMESPACE\tFROM\tTO") //nolint:errcheck // Flush returns it
	for _, c := range components {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", c.Name, c.Namespace, cmp.Or(c.From, "none"), c.To) //nolint:errcheck // Flush returns it
	}
	return table.Flush()
}
