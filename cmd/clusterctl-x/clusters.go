package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("'%s' takes no argument, and got %q", cmd.CommandPath(), args[0])}
	}
	return nil
}

func oneName(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usageError{fmt.Errorf("'%s' takes one argument, the name of the cluster", cmd.CommandPath())}
	}
	return nil
}

// namespaceOffline is where clusters are that nothing else names a namespace for, when
// no management cluster is asked.
func (a *app) namespaceOffline() string { return a.namespaceOr("default") }

// namespaceOr is the namespace of the flag, else that of the environment or the
// configuration file, else the last one.
func (a *app) namespaceOr(otherwise string) string {
	return cmp.Or(a.options.Namespace, a.options.DefaultNamespace, otherwise)
}

// contradicts says that the flag names another namespace than a document; it is
// empty where it does not.
func (a *app) contradicts(ofDocument string) string {
	if a.options.Namespace == "" || ofDocument == "" || a.options.Namespace == ofDocument {
		return ""
	}
	return fmt.Sprintf("does not match the namespace of the flag, --namespace %s; leave the flag out, or change the file", a.options.Namespace)
}

func (a *app) describeClusterCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "cluster NAME",
		Short:             "Show control plane, worker node groups and machines of a cluster, with the reason for whatever is not ready",
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			service, err := a.serviceWithBundles(ctx)
			if err != nil {
				return err
			}
			d, err := service.Describe(ctx, service.Key(args[0], ""))
			if err != nil {
				return err
			}
			described := view.Described{Cluster: d.Cluster, Lags: d.Lags, Frozen: d.Frozen, Unreached: d.Unreached}
			for _, variable := range d.Variables {
				described.Variables = append(described.Variables, view.Variable(variable))
			}
			return a.print(document("Cluster", described), func() error { return a.style(a.out).Tree(a.out, described, time.Now()) })
		},
	}
}

func (a *app) getClustersCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "clusters",
		Short: "List the clusters of a namespace",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			connection, err := a.connect(ctx)
			if err != nil {
				return err
			}
			namespace := a.namespaceOr(connection.namespace)
			if all {
				namespace = ""
			}
			clusters, err := connection.Clusters(ctx, namespace)
			if err != nil {
				return err
			}
			return a.print(document("ClusterList", clusters), func() error {
				if len(clusters) == 0 {
					a.say("no clusters in %s", cmp.Or(namespace, "any namespace"))
					return nil
				}
				return a.style(a.out).Table(a.out, clusters, time.Now())
			})
		},
	}
	cmd.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the clusters of all namespaces")
	return cmd
}

func (a *app) deleteClusterCommand() *cobra.Command {
	var file string
	var wait, takeOver bool
	cmd := &cobra.Command{
		Use:               "cluster NAME | -f FILE",
		Short:             "Delete a cluster with everything that belongs to it and wait until it is gone",
		ValidArgsFunction: a.completeClusters,
		Args: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (file != "") || len(args) > 1 || len(args) == 1 && args[0] == "" {
				return usageError{fmt.Errorf("'%s' takes either the name of a cluster or -f FILE", cmd.CommandPath())}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), deleteTimeout)
			defer cancel()
			var meta v1alpha1.Meta
			if file != "" {
				s, err := a.readSpec(file)
				if err != nil {
					return err
				}
				if err := s.Config.Problems.OrNil(); err != nil {
					return err
				}
				meta = s.Config.Cluster.Metadata
			} else {
				meta.Name = args[0]
			}
			return a.deleteCluster(ctx, meta, management.Deletion{Wait: wait, TakeOver: takeOver})
		},
	}
	addFile(cmd, &file, "file that describes the cluster; - is standard input")
	cmd.Flags().BoolVar(&wait, "wait", true, "wait until everything of the cluster is gone")
	addTakeOver(cmd, &takeOver)
	return cmd
}

func (a *app) deleteCluster(ctx context.Context, meta v1alpha1.Meta, deletion management.Deletion) error {
	service, err := a.service(ctx)
	if err != nil {
		return err
	}
	key := service.Key(meta.Name, meta.Namespace)
	began := time.Now()
	progress := a.progress()
	deletion.Progress = progress.Show
	existed, err := service.Delete(ctx, key, deletion)
	progress.Close()
	switch {
	case errors.Is(err, management.ErrTimeout):
		return fmt.Errorf("waiting until cluster %s is gone: %w; its deletion goes on: run the same command again to go on waiting", key, err)
	case errors.Is(err, context.Canceled):
		return interruptedError(fmt.Sprintf("the deletion of cluster %s goes on: run the same command again to go on waiting", key))
	case err != nil:
		return err
	case !existed:
		return a.result("cluster %s does not exist; nothing to do", key)
	case !deletion.Wait:
		return a.result("cluster %s is being deleted", key)
	default:
		return a.result("cluster %s is gone after %s", key, time.Since(began).Round(time.Second))
	}
}

// document wraps data for programs.
func document(kind string, data any) any {
	return struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Data       any    `json:"data"`
	}{v1alpha1.APIVersion, kind, data}
}

// completeClusters offers the names of clusters to the shell. It starts nothing.
func (a *app) completeClusters(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if err := a.complete(cmd); err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	if a.usesEmbedded(a.loadingRules()) && !a.embeddedRuns() {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.options.Quiet = true
	ctx, cancel := context.WithTimeout(cmd.Context(), 3*time.Second)
	defer cancel()
	connection, err := a.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	clusters, err := connection.Clusters(ctx, a.namespaceOr(connection.namespace))
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, cluster := range clusters {
		names = append(names, cluster.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) embeddedRuns() bool {
	instance, err := a.instance()
	if err != nil {
		return false
	}
	status, err := instance.Status()
	return err == nil && status.Ready
}
