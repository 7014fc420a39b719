package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// scope is the part of a cluster that an upgrade is about.
type scope struct{ plan.Scope }

// UnknownGroupError says that an upgrade is about a worker node group that there is not.
type UnknownGroupError struct {
	Group string
	// In is what does not have it: the file, or the cluster where there is none.
	In string
	// Known are the groups that it has.
	Known []string
}

func (e *UnknownGroupError) Error() string {
	return fmt.Sprintf("--worker-node-groups: %s has no group %q; it has %s", e.In, e.Group, cmp.Or(strings.Join(e.Known, ", "), "none"))
}

// check refuses groups that the spec does not have, and parts of a cluster from a
// ClusterClass that Cluster API upgrades together with the rest.
func (s scope) check(spec Spec) []error {
	in, known := "the file", []string(nil)
	if spec.change != nil {
		in = "the cluster"
	}
	for _, group := range spec.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
		known = append(known, group.Name)
	}
	var errs []error
	for _, name := range s.Groups {
		if !slices.Contains(known, name) {
			errs = append(errs, &UnknownGroupError{Group: name, In: in, Known: known})
		}
	}
	if err := s.checkTopology(spec); err != nil {
		errs = append(errs, err)
	}
	return errs
}

// checkTopology refuses to upgrade a part of a cluster from a ClusterClass that Cluster
// API upgrades together with the rest.
func (s scope) checkTopology(of Spec) error {
	if s.Whole() || !of.managed() {
		return nil
	}
	if s.ControlPlaneOnly {
		return of.wrong("--control-plane-only: Cluster API upgrades control plane and worker node groups of a cluster from a ClusterClass in its own order; leave --control-plane-only out; deferUpgrade holds a group back")
	}
	following := slices.DeleteFunc(slices.Clone(s.Groups), func(name string) bool { return pins(of.Config)[name] })
	if len(following) == 0 {
		return nil
	}
	return of.wrong(fmt.Sprintf("--worker-node-groups: %s has no kubernetesVersion of its own, so Cluster API upgrades it with the rest of the cluster; leave %s out of --worker-node-groups, or give it a kubernetesVersion first", strings.Join(following, ", "), strings.Join(following, ", ")))
}

// checkDetached refuses to upgrade groups alone that are not, or not quite, out of the
// topology of their cluster: taking them out changes the Cluster.
func (s scope) checkDetached(live state.Cluster, topologyVersions bool) error {
	refused := func(reason string) error {
		return &management.RefusedError{Check: "not-detached", Reason: fmt.Sprintf("--worker-node-groups: %s; run 'upgrade cluster' without --worker-node-groups", reason)}
	}
	switch {
	case live.Topology == nil || len(s.Groups) == 0:
		return nil
	case topologyVersions:
		return refused(fmt.Sprintf("the versions of worker node groups are fields of the Cluster %s, which is upgraded as a whole", live.Name))
	case live.Pause != nil:
		return refused(live.Pause.String())
	}
	for _, name := range s.Groups {
		if part, exists := live.Group(name); exists && (!part.Detached || live.InTopology(name)) {
			return refused(fmt.Sprintf("worker node group %s is still in the topology of cluster %s, and an upgrade of the whole cluster takes it out", name, live.Name))
		}
	}
	return nil
}

// covers reports whether the upgrade is about a part.
func (s scope) covers(part string) bool {
	switch {
	case s.ControlPlaneOnly:
		return part == v1alpha1.ControlPlaneName
	case len(s.Groups) > 0:
		return slices.Contains(s.Groups, part)
	default:
		return true
	}
}

// cut sets the groups aside that the upgrade is not about, and leaves out what
// else it is not about.
func (s scope) cut(objects engine.Objects) engine.Objects {
	if s.Whole() {
		return objects
	}
	kept := engine.Objects{Parts: map[string][]*unstructured.Unstructured{}, Others: map[string][]*unstructured.Unstructured{}}
	if s.ControlPlaneOnly {
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
