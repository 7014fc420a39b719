package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// PlanClusterClass plans what applying a ClusterClass would make of the clusters that use
// it. Nothing is written.
func (s *Service) PlanClusterClass(ctx context.Context, f clusterclass.File) (plan.ClassPlan, error) {
	key := s.Key(f.Class.GetName(), f.Class.GetNamespace())
	for _, object := range append(slices.Clone(f.Templates), f.Class) {
		object.SetNamespace(key.Namespace)
	}
	tried, err := s.client.TryClass(ctx, f.Class, f.Templates)
	if err != nil {
		return plan.ClassPlan{}, f.Refused(err)
	}
	p := plan.ClassPlan{APIVersion: v1alpha1.APIVersion, Kind: plan.ClassDocumentKind, Metadata: plan.Metadata{Name: key.Name, Namespace: key.Namespace}, Clusters: []plan.Plan{}}
	templates, err := s.client.Templates(ctx, tried, f.Templates)
	if err != nil {
		return p, f.Missing(err)
	}
	before, exists, err := s.client.Class(ctx, key)
	if err != nil || !exists {
		return p, err
	}
	tried.Status = before.Status
	after := topology.Class{ClusterClass: topology.WithStatus(tried), Templates: templates}
	clusters, err := s.client.ClustersOf(ctx, key)
	if err != nil {
		return p, err
	}
	var refused field.ErrorList
	for _, cluster := range clusters {
		one, errs, err := s.planOfCluster(ctx, before, after, cluster)
		if err != nil {
			return p, err
		}
		refused = append(refused, errs...)
		p.Add(one)
	}
	if problems := f.Locate(refused); len(problems) > 0 {
		problems.Sort()
		return p, validations.Refused{Problems: problems}
	}
	return p, nil
}

// planOfCluster returns the plan for one cluster, or why there is none.
func (s *Service) planOfCluster(ctx context.Context, before, after topology.Class, cluster state.Cluster) (plan.Plan, field.ErrorList, error) {
	key := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name}
	live, err := s.client.LiveCluster(ctx, key)
	if err != nil {
		return plan.Plan{}, nil, err
	}
	defaulted, wrong := topology.Default(ctx, after.ClusterClass, live, live)
	if len(wrong) > 0 {
		return plan.Plan{}, validations.ClassChange(live, after.ClusterClass, wrong), nil
	}
	sorted, made, err := classChanges(ctx, before, after, cluster, live, defaulted)
	if unable := (*topology.GenerateError)(nil); errors.As(err, &unable) {
		path := field.NewPath("spec", "patches")
		if unable.Patch != "" {
			path = path.Key(unable.Patch)
		}
		return plan.Plan{}, field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("Cluster API cannot generate cluster %s: %s; correct the patch", key, unable.Reason))}, nil
	}
	if err != nil {
		return plan.Plan{}, nil, err
	}
	wrong, err = s.refusedMade(ctx, before, after, key, made)
	if err != nil || len(wrong) > 0 {
		return plan.Plan{}, wrong, err
	}
	start := plan.StartOf(cluster)
	in := plan.Input{Metadata: plan.MetadataOf(cluster, ""), Start: start, Target: start.AsTarget(plan.Target{}), Changes: sorted, TopologyPath: &plan.TopologyPath{From: cluster.Topology.Version}}
	if len(sorted) > 0 {
		if err := extendToTopologyVersion(ctx, &in, after, *cluster.Topology); err != nil {
			path := field.NewPath("spec", "kubernetesVersions")
			return plan.Plan{}, field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("cluster %s is being upgraded to %s, and this class has no upgrade path there: %v; let the upgrade finish first", key, cluster.Topology.Version, err))}, nil
		}
	}
	one, err := plan.Compute(in)
	return one, nil, err
}

// extendToTopologyVersion adds the rest of an upgrade under way to a plan: Cluster
// API changes a group that waits for its version together with that.
func extendToTopologyVersion(ctx context.Context, in *plan.Input, class topology.Class, asked state.Topology) error {
	if class.Spec.Upgrade.External.GenerateUpgradePlanExtension != "" {
		return nil // only the extension knows its plan
	}
	segment, err := topology.Upgrade(ctx, topology.Planner(class.Versions()), asked.Version, in.Start.ControlPlane.Version, in.Membership().OldestFollowing())
	if err != nil {
		return err
	}
	in.Start.Unmanaged = nil // Cluster API does not look at them
	in.TopologyPath = &plan.TopologyPath{From: asked.Version, Segments: []plan.Segment{segment}, Deferred: asked.Deferred()}
	in.Target.ControlPlane = asked.Version
	for i := range in.Target.WorkerNodeGroups {
		if in.Target.WorkerNodeGroups[i].Pinned {
			continue
		}
		in.Target.WorkerNodeGroups[i].Version = asked.Version
	}
	return nil
}

// refusedMade are the objects of a cluster that the API server would not take from
// Cluster API, as errors of the class that makes them.
func (s *Service) refusedMade(ctx context.Context, before, after topology.Class, cluster types.NamespacedName, made []*unstructured.Unstructured) (field.ErrorList, error) {
	for _, object := range made {
		object.SetNamespace(cluster.Namespace)
	}
	reasons, err := s.client.TryMade(ctx, made)
	if err != nil {
		return nil, err
	}
	var errs field.ErrorList
	for _, reason := range reasons {
		kind, _, _ := strings.Cut(reason.Object, "/")
		path, patch := after.Writer(before, kind, reason.Cause.Field)
		remedy := "correct the patch or the template of the class that writes this"
		if patch != "" {
			remedy = fmt.Sprintf("correct the patch %s", patch)
		}
		detail := validations.OfCause(reason.Cause).Detail
		if reason.Cause.Field != "" {
			detail = reason.Cause.Field + ": " + detail
		}
		wrong := field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("the management cluster refuses the %s of cluster %s: %s; %s", kind, cluster, detail, remedy))
		if !slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Error() == wrong.Error() }) {
			errs = append(errs, wrong) // once for all groups that it is of
		}
	}
	return errs, nil
}

// classChanges returns the differences between two classes for a cluster, and the
// objects made of templates in which they differ. If runtime extensions patch the
// cluster, all its machines may be replaced, and the objects are not known.
func classChanges(ctx context.Context, before, after topology.Class, cluster state.Cluster, live, defaulted *clusterv1.Cluster) (map[string]plan.Changes, []*unstructured.Unstructured, error) {
	was, is, err := generated(ctx, currentTopology{class: before, cluster: live}, after, defaulted)
	var unknown *unknownError
	if errors.As(err, &unknown) {
		of := plan.Changes{Unknown: &unknown.Unknown}
		sorted := map[string]plan.Changes{v1alpha1.ControlPlaneName: of}
		for _, group := range live.Spec.Topology.Workers.MachineDeployments {
			sorted[group.Name] = of
		}
		return sorted, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	made := is.OtherThan(was)
	parts, err := compareParts(was, is, liveNames(cluster, live))
	return parts.byPart, made, err
}
