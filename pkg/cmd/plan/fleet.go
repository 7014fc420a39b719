package plan

import (
	"context"
	"errors"

	"github.com/clusterctl-x/clusterctl-x/pkg/output"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/view"
)

// runFleet shows the plans for several clusters. Those that cannot be planned for are
// errors, after the others.
func (o *upgradeOptions) runFleet(ctx context.Context) (changes bool, err error) {
	change, err := o.ReadVersionChange(o.Versions)
	if err != nil {
		return false, err
	}
	of, err := o.fleet.Selection.Read()
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
