package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

func noVersions() v1alpha1.ClusterVersions { return v1alpha1.ClusterVersions{} }

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

// key is the place of a cluster that a document of this namespace describes, or
// that is named on the command line.
func (a *app) key(name, fileNamespace string, c *connection) client.ObjectKey {
	return client.ObjectKey{Namespace: a.namespace(fileNamespace, c.namespace), Name: name}
}

// namespace is that of the flag or of the document, which must agree where both
// have one; else that of the environment or the configuration file, else the last one.
func (a *app) namespace(ofDocument, otherwise string) string {
	return cmp.Or(a.options.Namespace, ofDocument, a.options.DefaultNamespace, otherwise)
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
			l, err := a.find(ctx, args[0])
			if err != nil {
				return err
			}
			asked, err := a.lastAsked(ctx, l.connection, l.key)
			if err != nil {
				return err
			}
			described := view.Described{Cluster: l.state, Lags: asked.lags(l.state), Frozen: l.state.Frozen()}
			if err := describeClass(ctx, l, &described); err != nil {
				a.warning("its ClusterClass cannot be told: %v", err)
			}
			return a.print(document("Cluster", described), func() error { return a.style(a.out).Tree(a.out, described, time.Now()) })
		},
	}
}

// describeClass adds what the class of a cluster says about it. Without its class
// there is nothing to say.
func describeClass(ctx context.Context, l live, described *view.Described) error {
	if l.state.Topology == nil {
		return nil
	}
	cluster, err := l.LiveCluster(ctx, l.key)
	if err != nil {
		return err
	}
	class, exists, err := l.ClassAlone(ctx, cluster.GetClassKey())
	if err != nil || !exists {
		return err
	}
	for _, variable := range topology.Variables(class.ClusterClass, cluster) {
		described.Variables = append(described.Variables, view.Variable(variable))
	}
	content, err := class.Content()
	for _, group := range l.state.WorkerNodeGroups {
		if group.Detached && group.MadeFrom != content {
			described.Unreached = append(described.Unreached, group.Name)
		}
	}
	return err
}

// find looks at the cluster of a name. It is an error where there is none.
func (a *app) find(ctx context.Context, name string) (live, error) {
	connection, err := a.connect(ctx)
	if err != nil {
		return live{}, err
	}
	l := live{connection: connection, key: a.key(name, "", connection)}
	cluster, exists, err := l.Observe(ctx, l.key)
	if err == nil && !exists {
		err = fmt.Errorf("cluster %s: %w; 'clusterctl-x get clusters -A' lists the ones there are", l.key, management.ErrNotFound)
	}
	l.state = cluster
	return l, err
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
			namespace := a.key("", "", connection).Namespace
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
				if err := s.config.Problems.OrNil(); err != nil {
					return err
				}
				meta = s.config.Cluster.Metadata
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
	connection, err := a.connect(ctx)
	if err != nil {
		return err
	}
	key := a.key(meta.Name, meta.Namespace, connection)
	began := time.Now()
	progress := a.progress()
	deletion.Waiting, deletion.Progress = a.sayWaiting, progress.Show
	existed, err := connection.DeleteCluster(ctx, key, deletion)
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
	clusters, err := connection.Clusters(ctx, a.key("", "", connection).Namespace)
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
