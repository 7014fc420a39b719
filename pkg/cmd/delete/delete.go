// Package delete deletes clusters.
package delete

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/failure"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// defaultTimeout is the default of --timeout.
const defaultTimeout = 30 * time.Minute

type options struct {
	*cli.App
	file           string
	wait, takeOver bool
}

// New returns the command delete.
func New(a *cli.App) *cobra.Command {
	o := options{App: a}
	cmd := &cobra.Command{
		Use:               "cluster NAME | -f FILE",
		Short:             "Delete a cluster with everything that belongs to it and wait until it is gone",
		ValidArgsFunction: a.CompleteClusters,
		Args: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.file != "") || len(args) > 1 || len(args) == 1 && args[0] == "" {
				return usage.Errorf("'%s' takes either the name of a cluster or -f FILE", cmd.CommandPath())
			}
			return nil
		},
		RunE: a.Within(defaultTimeout, o.run),
	}
	commandline.AddFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	commandline.AddWait(cmd, &o.wait, "wait until all objects of the cluster are gone")
	cli.AddTakeOver(cmd, &o.takeOver)
	return commandline.Group("delete", "Delete a cluster", cli.Starts(cmd))
}

func (o *options) run(ctx context.Context, args []string) error {
	var cluster v1alpha1.Meta
	var err error
	if o.file != "" {
		cluster, err = o.ReadMetadata(o.file)
	} else {
		cluster.Name = args[0]
	}
	if err != nil {
		return err
	}
	began := time.Now()
	key, existed, err := o.deletion(cluster).Run(ctx)
	switch {
	case err != nil:
		left := fmt.Sprintf("the deletion of cluster %s continues: run the same command again to keep waiting", key)
		return failure.Ended(err, " waiting until the cluster is gone; "+left, left)
	case !existed:
		return o.Result("cluster %s does not exist; nothing to do", key)
	case !o.wait:
		return o.Result("cluster %s is being deleted", key)
	default:
		return o.Result("cluster %s is gone after %s", key, time.Since(began).Round(time.Second))
	}
}

func (o *options) deletion(cluster v1alpha1.Meta) selfmanaged.Deletion {
	return selfmanaged.Deletion{
		Cluster: o.SelfManaged(cluster, o.Management, o.takeOver), Wait: o.wait,
		Delete: func(ctx context.Context, key types.NamespacedName, from selfmanaged.ManagementCluster) (bool, error) {
			progress := o.Progress()
			defer progress.Close()
			return from.Clusters.Delete(ctx, key, management.Deletion{Wait: o.wait, TakeOver: o.takeOver, Progress: progress.Show})
		},
	}
}
