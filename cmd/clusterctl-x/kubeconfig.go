package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

func (a *app) getKubeconfigCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:               "kubeconfig NAME",
		Short:             "Get the administrator's kubeconfig of a cluster",
		Args:              oneName,
		ValidArgsFunction: a.completeClusters,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			connection, err := a.connect(ctx)
			if err != nil {
				return err
			}
			kubeconfig, err := connection.Kubeconfig(ctx, a.serviceOf(connection, nil).Key(args[0], ""))
			if err != nil {
				return err
			}
			return a.writeSecret(file, kubeconfig)
		},
	}
	cmd.Flags().StringVar(&file, "to", "", "file to write to, readable by its owner only; default: standard output")
	return cmd
}

// writeSecret writes credentials to standard output, or to a file that only
// its owner may read.
func (a *app) writeSecret(file string, data []byte) error {
	if file == "" {
		_, err := a.out.Write(data)
		return err
	}
	if err := embedded.WriteFile(file, data); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	a.say("kubeconfig written to %s", file)
	return nil
}
