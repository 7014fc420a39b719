package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Valid is a file that describes a valid cluster.
type Valid struct {
	// File and From are what people call the file, and that of the cluster to be upgraded
	// from, if there is one, in so many Steps.
	File, From string
	Steps      int
	Cluster    *v1alpha1.Cluster
	Versions   v1alpha1.ClusterVersions
}

// Write writes on one line what was found.
func (v Valid) Write(w io.Writer) error {
	var line strings.Builder
	fmt.Fprintf(&line, "%s: cluster %s is valid: control plane %s", v.File, v.Cluster.Metadata.Name, v.Versions.ControlPlane)
	for _, group := range v.Cluster.Spec.WorkerNodeGroupConfigurations {
		fmt.Fprintf(&line, ", %s %s", group.Name, v.Versions.WorkerNodeGroups[group.Name])
	}
	if v.From != "" {
		fmt.Fprintf(&line, "; steps from %s: %d", v.From, v.Steps)
	}
	if class := v.Cluster.Spec.ClusterClass; class != nil {
		fmt.Fprintf(&line, "; not checked against ClusterClass %s", class.Name)
	}
	_, err := fmt.Fprintln(w, line.String())
	return err
}
