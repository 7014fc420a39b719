package generate

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
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
	cmd := &cobra.Command{
		Use:   "rbac",
		Short: "Write the ClusterRoles that users need in a management cluster",
		Long: `Write the ClusterRoles that users need in a management cluster.

They name the kinds of the infrastructure providers that clusterctl-x knows, with those of
--providers. With -f, also the kinds of the objects that these files carry; but none of
Kubernetes' core API group, such as Namespace.

clusterctl-x is for users and CI jobs that create, plan, upgrade, watch or delete clusters.
Bind it by a RoleBinding in each namespace that has clusters. 'get clusters -A', and
'delete cluster', which looks for clusters that the deleted one manages, also list clusters
in all namespaces: bind it by a ClusterRoleBinding for users who run these, or whose files
carry objects that are in no namespace.

clusterctl-x-runtime-extensions is for users who also plan or upgrade clusters whose
ClusterClass gets its upgrade plans from a runtime extension, or hold clusters from a
ClusterClass. Bind it by a ClusterRoleBinding.

With --read-only, these are written instead, for users and CI jobs that change nothing
and must not read Secrets, which have the kubeconfigs of clusters:

clusterctl-x-read-only is for 'get clusters', 'describe', 'watch' and 'history'.

clusterctl-x-plan is for users who also run 'plan' and 'diff'. These make dry runs, for
which Kubernetes demands the privilege to write. A ValidatingAdmissionPolicy (Kubernetes
1.30 or newer) denies all other writes to users of this ClusterRole; do not bind it where
the policy is not installed.

Only an administrator of the management cluster can apply them. The user of an embedded
management cluster is its administrator, and needs none of them.`,
		Example: `  clusterctl-x generate rbac | kubectl apply -f -
  clusterctl-x generate rbac -f clusters/ | kubectl apply -f -
  kubectl create rolebinding clusterctl-x -n team-a --clusterrole clusterctl-x --user jane
  clusterctl-x generate rbac --read-only | kubectl apply -f -
  kubectl create rolebinding ci-reads -n team-a --clusterrole clusterctl-x-read-only --serviceaccount team-a:ci
  kubectl create rolebinding ci-plans -n team-a --clusterrole clusterctl-x-plan --serviceaccount team-a:ci`,
		Args: cli.NoArgs,
		RunE: func(*cobra.Command, []string) error { return o.run() },
	}
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
	files, err := cli.Files(o.files)
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
