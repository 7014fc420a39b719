package generate

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
)

type rolesOptions struct {
	*cli.App
	files    []string
	readOnly bool
}

func roles(a *cli.App) *cobra.Command {
	o := rolesOptions{App: a}
	cmd := cli.Command("rbac", "Write the ClusterRoles that users need in a management cluster", func(*cobra.Command, []string) error { return o.run() })
	cli.AddFiles(cmd, &o.files)
	cmd.Flags().BoolVar(&o.readOnly, "read-only", false, "write the ClusterRoles of users who change nothing and read no Secrets")
	return cmd
}

func (o *rolesOptions) run() error {
	kinds, err := o.kinds()
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

// kinds are those of the infrastructure providers, and of the objects in the files.
func (o *rolesOptions) kinds() (rbac.Kinds, error) {
	known, err := o.ReadProviders()
	if err != nil {
		return rbac.Kinds{}, err
	}
	kinds := lifecycle.ObjectKinds(known)
	if len(o.files) == 0 {
		return kinds, nil
	}
	files, err := input.Files(o.files)
	if err != nil {
		return rbac.Kinds{}, err
	}
	var errs []error
	for _, file := range files {
		of, err := o.kindsOf(file)
		kinds, errs = kinds.With(of), append(errs, err)
	}
	return kinds, errors.Join(errs...)
}

// kindsOf are those of the objects of a valid file. What it would be warned of is no matter
// of rights.
func (o *rolesOptions) kindsOf(file string) (rbac.Kinds, error) {
	spec, err := o.ReadSpec(file)
	if err != nil {
		return rbac.Kinds{}, err
	}
	return spec.ObjectKinds(o.NamespaceOffline())
}
