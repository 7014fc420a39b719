package view

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

// Instance is an embedded management cluster.
type Instance struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"`
	Logs       string `json:"logs"`
	embedded.Status
}

// InstanceOf returns an embedded management cluster and how it is.
func InstanceOf(instance embedded.Instance, status embedded.Status) Instance {
	return Instance{Name: instance.Name, Kubeconfig: instance.Kubeconfig(), Logs: instance.LogsDir(), Status: status}
}

// Instances writes the state of embedded management clusters.
func Instances(w io.Writer, instances []Instance) error {
	var b strings.Builder
	for _, s := range instances {
		state := "not running"
		switch {
		case !s.Created:
			state = "never started"
		case s.Ready:
			state = "ready since " + s.ReadyAt.Format("2006-01-02 15:04:05")
		case s.Running:
			state = "starting"
		}
		fmt.Fprintf(&b, "name\t%s\nstate\t%s\n", s.Name, state)
		if !s.Created {
			continue
		}
		fmt.Fprintf(&b, "kubeconfig\t%s\nlogs\t%s\n", s.Kubeconfig, s.Logs)
		for _, process := range slices.Sorted(maps.Keys(s.Processes)) {
			fmt.Fprintf(&b, "process\t%s (%d)\n", process, s.Processes[process])
		}
		p := s.Ports
		fmt.Fprintf(&b, "API server\thttps://127.0.0.1:%d\n", p.APIServer)
		fmt.Fprintf(&b, "ports on 127.0.0.1\t%d to %d, %d to %d\n", p.APIServer, p.EtcdPeer, p.CoreHealth, p.ProvidersHealth)
		fmt.Fprintf(&b, "ports on all addresses\t%d (core webhook), %d (simulator debug), %d to %d (simulated clusters)\n", p.CoreWebhook, p.SimulatorDebug, p.FirstCluster, p.LastCluster)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, b.String()); err != nil {
		return err
	}
	return table.Flush()
}
