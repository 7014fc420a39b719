package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
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

// covers tells whether the upgrade is about a part.
func (s scope) covers(part string) bool {
	switch {
	case s.controlPlaneOnly:
		return part == v1alpha1.ControlPlaneName
	case len(s.groups) > 0:
		return slices.Contains(s.groups, part)
	default:
		return true
	}
}

// cut sets the groups aside that the upgrade is not about, and leaves out what
// else it is not about.
func (s scope) cut(objects rollout.Objects) rollout.Objects {
	if s.whole() {
		return objects
	}
	kept := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{}, Others: map[string][]*unstructured.Unstructured{}}
	if s.controlPlaneOnly {
		kept.Cluster = objects.Cluster
	}
	for name, part := range objects.Parts {
		switch {
		case s.covers(name):
			kept.Parts[name] = part
		case name != v1alpha1.ControlPlaneName:
			kept.Others[name] = part
		}
	}
	return kept
}
