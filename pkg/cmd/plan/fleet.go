package plan

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// fleet are the flags that choose several clusters.
type fleet struct {
	all       bool
	selection input.Selection
}

func (f *fleet) addTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, "all", false, "without a file: plan for all clusters of the namespace")
	f.selection.AddTo(cmd.Flags(), "with --all: plan for")
}

// runFleet shows the plans for several clusters. Those that cannot be planned for are
// errors, after the others.
func (o *upgradeOptions) runFleet(ctx context.Context) (changes bool, err error) {
	change, err := o.ReadVersionChange(o.Versions)
	if err != nil {
		return false, err
	}
	of, err := o.selection.Read()
	if err != nil {
		return false, err
	}
	service, err := o.ServiceWithBundles(ctx)
	if err != nil {
		return false, err
	}
	planned, err := service.PlanVersionChanges(ctx, of, change)
	errs, plans := []error{err}, []plan.Plan{}
	for _, p := range planned {
		if errs = append(errs, p.Err); p.Err == nil {
			plans, changes = append(plans, p.Plan), changes || !p.Plan.Empty()
		}
	}
	errs = append(errs, o.Print(output.Document("UpgradePlanList", plans), func() error { return view.Plans(o.Out, plans) }))
	return changes, errors.Join(errs...)
}

// checkFleet refuses what has no meaning for several clusters.
func (o *upgradeOptions) checkFleet(args []string) error {
	switch {
	case !o.all && o.selection.Given():
		return usage.Errorf("--all-namespaces and --selector choose among --all")
	case o.all && (len(args) > 0 || len(o.files) > 0):
		return usage.Errorf("--all plans for all clusters: leave the name and -f out")
	case o.all && (o.out != "" || o.From != "" || !o.Scope.Whole()):
		return usage.Errorf("--out, --from, --control-plane-only and --worker-node-groups are for one cluster: leave --all out")
	}
	return nil
}
