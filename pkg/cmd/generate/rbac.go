package generate

import (
	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
)

type rolesOptions struct {
	*cli.App
	files    []string
	readOnly bool
}

func roles(a *cli.App) *cobra.Command {
	o := rolesOptions{App: a}
	cmd := commandline.New("rbac", "Write the ClusterRoles that users need in a management cluster", func(*cobra.Command, []string) error { return o.run() })
	cli.AddFiles(cmd, &o.files)
	cmd.Flags().BoolVar(&o.readOnly, "read-only", false, "write the ClusterRoles of users who change nothing and read no Secrets")
	return cmd
}

func (o *rolesOptions) run() error {
	kinds, err := o.ReadObjectKinds(o.files, o.NamespaceOffline())
	if err != nil {
		return err
	}
	write := rbac.Roles
	if o.readOnly {
		write = rbac.ReadOnlyRoles
	}
	text, err := write(kinds)
	if err != nil {
		return err
	}
	return o.Write(string(text))
}
