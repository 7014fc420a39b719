package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// scope is the part of a cluster that an upgrade is about.
type scope struct {
	controlPlaneOnly bool
	groups           []string
}

func (s scope) whole() bool { return !s.controlPlaneOnly && len(s.groups) == 0 }

// check refuses what the command line alone proves wrong.
func (s scope) check() error {
	if s.controlPlaneOnly && len(s.groups) > 0 {
		return usageError{errors.New("--control-plane-only and --worker-node-groups exclude each other: leave both out for the control plane and all groups")}
	}
	return nil
}

// checkGroups refuses groups that the file does not have.
func (s scope) checkGroups(config *v1alpha1.Config) error {
	var there []string
	for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		there = append(there, group.Name)
	}
	var errs []error
	for _, name := range s.groups {
		if !slices.Contains(there, name) {
			errs = append(errs, fmt.Errorf("--worker-node-groups: the file has no group %q; it has %s", name, cmp.Or(strings.Join(there, ", "), "none")))
		}
	}
	if len(errs) > 0 {
		return usageError{errors.Join(errs...)}
	}
	return nil
}

func (s scope) plan() plan.Scope {
	return plan.Scope{ControlPlaneOnly: s.controlPlaneOnly, Groups: s.groups}
}

// effective is the spec with what lies outside of the scope as it was before;
// where that is not known it is as the spec says, and the upgrade leaves it
// alone.
func (s scope) effective(wanted, before *v1alpha1.Config) *v1alpha1.Config {
	if s.whole() || before == nil {
		return wanted
	}
	if s.controlPlaneOnly {
		return withGroups(wanted, before.Cluster.Spec.WorkerNodeGroupConfigurations)
	}
	groups := slices.Clone(before.Cluster.Spec.WorkerNodeGroupConfigurations)
	for _, group := range wanted.Cluster.Spec.WorkerNodeGroupConfigurations {
		if !slices.Contains(s.groups, group.Name) {
			continue
		}
		i := slices.IndexFunc(groups, func(g v1alpha1.WorkerNodeGroupConfiguration) bool { return g.Name == group.Name })
		if i < 0 {
			groups = append(groups, group)
		} else {
			groups[i] = group
		}
	}
	return withGroups(before, groups)
}

// withGroups is the config with other worker node groups.
func withGroups(config *v1alpha1.Config, groups []v1alpha1.WorkerNodeGroupConfiguration) *v1alpha1.Config {
	cluster := *config.Cluster
	cluster.Spec.WorkerNodeGroupConfigurations = groups
	changed := *config
	changed.Cluster = &cluster
	return &changed
}
