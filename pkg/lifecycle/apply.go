package lifecycle

import "context"

// Applied is what takes a cluster to its spec: the creation of one that does not exist, or
// the upgrade of one that does. The other one is nil.
type Applied struct {
	Creation *Creation
	Upgrade  *Upgrade
}

// PlanApply plans to create the cluster that a spec describes, or to upgrade it. Nothing is
// written.
func (s *Service) PlanApply(ctx context.Context, spec Spec) (Applied, error) {
	exists, err := s.exists(ctx, spec)
	if err != nil {
		return Applied{}, err
	}
	if exists {
		u, err := s.PlanUpgrade(ctx, spec, UpgradeOptions{})
		return Applied{Upgrade: &u}, err
	}
	n, err := s.PlanCreation(ctx, spec)
	return Applied{Creation: &n}, err
}
