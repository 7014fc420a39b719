package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func (a *app) planClusterClassCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "clusterclass -f FILE",
		Short: "Show what applying a ClusterClass would make of the clusters that use it; nothing is changed",
		Long: `Show what applying a ClusterClass would make of the clusters that use it: for
each of them the fields that would change and the machines that would be
replaced. The file has the class, and its templates where they are new. What
the clusters cannot take is an error that names the rule. Nothing is changed.`,
		Example: `  clusterctl-x generate clusterclass --provider docker --keep-used > class.yaml
  clusterctl-x plan clusterclass -f class.yaml && kubectl apply -f class.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			p, err := a.planClusterClass(ctx, file)
			if err != nil {
				return err
			}
			return a.print(p, func() error { return a.style(a.out).ClassPlan(a.out, p) })
		},
	}
	addFile(cmd, &file, "file with the ClusterClass and its new templates; - is standard input")
	return cmd
}

// planClusterClass asks the management cluster what a class would make of its
// clusters.
func (a *app) planClusterClass(ctx context.Context, file string) (plan.ClassPlan, error) {
	f, err := a.readClass(file)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	if of := f.class.GetNamespace(); a.contradicts(of) != "" {
		wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.contradicts(of))
		return plan.ClassPlan{}, f.locate(changes.ObjectName(f.class), field.ErrorList{wrong})
	}
	connection, err := a.connect(ctx)
	if err != nil {
		return plan.ClassPlan{}, err
	}
	key := a.key(f.class.GetName(), f.class.GetNamespace(), connection)
	for _, object := range append(slices.Clone(f.templates), f.class) {
		object.SetNamespace(key.Namespace)
	}
	tried, err := connection.TryClass(ctx, f.class, f.templates)
	if err != nil {
		return plan.ClassPlan{}, f.located(err)
	}
	p := plan.ClassPlan{APIVersion: v1alpha1.APIVersion, Kind: plan.ClassDocumentKind, Metadata: plan.Metadata{Name: key.Name, Namespace: key.Namespace}, Clusters: []plan.Plan{}}
	templates, err := connection.Templates(ctx, tried, f.templates)
	if err != nil {
		return p, f.missing(err)
	}
	before, exists, err := connection.Class(ctx, key)
	if err != nil || !exists {
		return p, err
	}
	tried.Status = before.Status
	after := topology.Class{ClusterClass: topology.WithStatus(tried), Templates: templates}
	clusters, err := connection.ClustersOf(ctx, key)
	if err != nil {
		return p, err
	}
	var refused field.ErrorList
	for _, cluster := range clusters {
		one, errs, err := a.planOfCluster(ctx, connection, before, after, cluster)
		if err != nil {
			return p, err
		}
		refused = append(refused, errs...)
		p.Add(one)
	}
	if problems := f.locate(changes.ObjectName(f.class), refused); len(problems) > 0 {
		problems.Sort()
		return p, validations.Refused{Problems: problems}
	}
	return p, nil
}

// missing says where the class names a template that is nowhere.
func (f *classFile) missing(err error) error {
	var missing *topology.MissingError
	if !errors.As(err, &missing) {
		return err
	}
	kind, name, _ := strings.Cut(missing.Template, "/")
	var errs field.ErrorList
	for _, path := range referencesTo(f.class.Object["spec"], kind, name, field.NewPath("spec")) {
		errs = append(errs, field.NotFound(path, missing.Template))
		errs[len(errs)-1].Detail = "neither this file nor the management cluster has this template; add it to the file, or name another one"
	}
	return validations.Refused{Problems: f.locate(changes.ObjectName(f.class), errs)}
}

// referencesTo are the paths that name a template.
func referencesTo(value any, kind, name string, path *field.Path) []*field.Path {
	var paths []*field.Path
	switch value := value.(type) {
	case map[string]any:
		if value["kind"] == kind && value["name"] == name {
			return []*field.Path{path}
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			paths = append(paths, referencesTo(value[key], kind, name, path.Child(key))...)
		}
	case []any:
		for i, item := range value {
			paths = append(paths, referencesTo(item, kind, name, path.Index(i))...)
		}
	}
	return paths
}

// planOfCluster is what becomes of one cluster, or why it cannot become that.
func (a *app) planOfCluster(ctx context.Context, c *connection, before, after topology.Class, cluster state.Cluster) (plan.Plan, field.ErrorList, error) {
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}
	live, err := c.LiveCluster(ctx, key)
	if err != nil {
		return plan.Plan{}, nil, err
	}
	defaulted, wrong := topology.Default(ctx, after.ClusterClass, live, live)
	if len(wrong) > 0 {
		return plan.Plan{}, validations.ClassChange(live, after.ClusterClass, wrong), nil
	}
	sorted, made, err := classChanges(ctx, before, after, cluster, live, defaulted)
	if unable := (*topology.UnableError)(nil); errors.As(err, &unable) {
		path := field.NewPath("spec", "patches")
		if unable.Patch != "" {
			path = path.Key(unable.Patch)
		}
		return plan.Plan{}, field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("nothing can be made of cluster %s: %s; correct the patch", key, unable.Reason))}, nil
	}
	if err != nil {
		return plan.Plan{}, nil, err
	}
	wrong, err = refusedMade(ctx, c, before, after, key, made)
	if err != nil || len(wrong) > 0 {
		return plan.Plan{}, wrong, err
	}
	start := plan.StartOf(cluster)
	in := plan.Input{Metadata: plan.MetadataOf(cluster, ""), Start: start, Target: start.AsTarget(plan.Target{}), Changes: sorted, Chain: &plan.Chain{From: cluster.Topology.Version}}
	if len(sorted) > 0 {
		if err := goOn(ctx, &in, after, *cluster.Topology); err != nil {
			path := field.NewPath("spec", "kubernetesVersions")
			return plan.Plan{}, field.ErrorList{field.Invalid(path, field.OmitValueType{}, fmt.Sprintf("cluster %s is on its way to %s, which this class has no way to: %v; let it end first", key, cluster.Topology.Version, err))}, nil
		}
	}
	one, err := plan.Compute(in)
	return one, nil, err
}

// goOn has the parts that are not at the topology's version yet go there: Cluster
// API changes a group that waits for its version together with that.
func goOn(ctx context.Context, in *plan.Input, class topology.Class, asked state.Topology) error {
	if class.Spec.Upgrade.External.GenerateUpgradePlanExtension != "" {
		return nil // nobody else knows its plan
	}
	leg, err := topology.Upgrade(ctx, topology.Planner(class.Versions()), asked.Version, in.Start.ControlPlane.Version, in.OldestFollowing())
	if err != nil {
		return err
	}
	in.Start.Foreign = nil // Cluster API goes on without a look at them
	in.Chain = &plan.Chain{From: asked.Version, Legs: []plan.Leg{leg}, Deferred: asked.Deferred()}
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
func refusedMade(ctx context.Context, c *connection, before, after topology.Class, cluster client.ObjectKey, made []*unstructured.Unstructured) (field.ErrorList, error) {
	for _, object := range made {
		object.SetNamespace(cluster.Namespace)
	}
	reasons, err := c.TryMade(ctx, made)
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

// classChanges are what two classes make differently of a cluster, and the objects made
// of templates in which they differ. Where runtime extensions patch the cluster, all its
// machines may be replaced, and the objects are not known.
func classChanges(ctx context.Context, before, after topology.Class, cluster state.Cluster, live, defaulted *clusterv1.Cluster) (map[string]plan.Changes, []*unstructured.Unstructured, error) {
	m := managedOrigin{class: before, cluster: live, generate: generatorOf(ctx), defaults: defaultsOf(ctx)}
	was, is, err := m.both(after, defaulted)
	var external externalError
	if errors.As(err, &external) {
		sorted := map[string]plan.Changes{v1alpha1.ControlPlaneName: {Rolling: []string{external.Error()}}}
		for _, group := range live.Spec.Topology.Workers.MachineDeployments {
			sorted[group.Name] = plan.Changes{Rolling: []string{external.Error()}}
		}
		return sorted, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	made := is.OtherThan(was)
	sorted, _, err := partChanges(was, is, nil, origin{before: &v1alpha1.Config{}, names: liveNames(cluster, live)})
	return sorted, made, err
}
