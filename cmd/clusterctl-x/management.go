package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

func (a *app) managementCommand() *cobra.Command {
	return a.group("management", "Start, stop and look at the embedded management cluster",
		a.managementStartCommand(), a.managementStopCommand(), a.managementStatusCommand(), a.managementKubeconfigCommand())
}

func (a *app) managementStartCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "start",
		Short: "Start the embedded management cluster, unless it runs",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), startTimeout)
			defer cancel()
			instance, err := a.startEmbedded(ctx)
			if err != nil {
				return err
			}
			return a.result("embedded management cluster %q runs; its kubeconfig is %s", instance.Name, instance.Kubeconfig())
		},
	}
}

func (a *app) managementStopCommand() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the embedded management cluster; its clusters are there again after the next start",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), startTimeout)
			defer cancel()
			instance, err := a.instance()
			if err != nil {
				return err
			}
			if _, err := a.status(instance); err != nil {
				return err
			}
			if _, err := os.Stat(instance.Dir); errors.Is(err, os.ErrNotExist) {
				return a.result("embedded management cluster %q was never started; nothing to do", instance.Name)
			}
			ran, err := instance.Stop(ctx)
			if err != nil {
				return err
			}
			switch {
			case remove:
				if err := instance.Remove(); err != nil {
					return err
				}
				return a.result("embedded management cluster %q is removed, with all its clusters", instance.Name)
			case ran:
				return a.result("embedded management cluster %q is stopped", instance.Name)
			default:
				return a.result("embedded management cluster %q does not run; nothing to do", instance.Name)
			}
		},
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "remove everything that it keeps, its simulated clusters too")
	return cmd
}

func (a *app) managementKubeconfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "kubeconfig",
		Short: "Get the administrator's kubeconfig of the embedded management cluster",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			instance, err := a.instance()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(instance.Kubeconfig())
			if errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("embedded management cluster %q has no kubeconfig, since it was never started: start it with 'clusterctl-x management start --name %s'", instance.Name, instance.Name)
			}
			if err != nil {
				return fmt.Errorf("reading the kubeconfig of embedded management cluster %q: %w; %s", instance.Name, err, whichHome)
			}
			return a.writeSecret(file, data)
		},
	}
	cmd.Flags().StringVar(&file, "to", "", "file to write to, readable by its owner only; default: standard output")
	return cmd
}

// instanceStatus is the status of an instance for programs.
type instanceStatus struct {
	Name       string `json:"name"`
	Kubeconfig string `json:"kubeconfig"`
	Logs       string `json:"logs"`
	embedded.Status
}

func (a *app) managementStatusCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether the embedded management cluster runs, its processes and its ports",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			list := a.chosenInstance
			if all {
				list = allInstances
			}
			instances, err := list()
			if err != nil {
				return err
			}
			statuses := make([]instanceStatus, 0, len(instances))
			for _, instance := range instances {
				status, err := a.status(instance)
				if err != nil {
					return err
				}
				statuses = append(statuses, instanceStatus{Name: instance.Name, Kubeconfig: instance.Kubeconfig(), Logs: instance.LogsDir(), Status: status})
			}
			return a.print(document("EmbeddedManagementClusterList", statuses), func() error { return a.printStatuses(statuses) })
		},
	}
	cmd.Flags().BoolVarP(&all, "all", "A", false, "show all embedded management clusters of this user")
	return cmd
}

func (a *app) chosenInstance() ([]embedded.Instance, error) {
	instance, err := a.instance()
	return []embedded.Instance{instance}, err
}

func allInstances() ([]embedded.Instance, error) {
	home, err := embedded.DefaultHome()
	if err != nil {
		return nil, err
	}
	instances, err := embedded.List(home)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, whichHome)
	}
	return instances, err
}

func (a *app) printStatuses(statuses []instanceStatus) error {
	if len(statuses) == 0 {
		a.say("no embedded management clusters")
	}
	var b strings.Builder
	for _, s := range statuses {
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
	table := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(table, b.String()); err != nil {
		return err
	}
	return table.Flush()
}
