package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
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
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file with the ClusterClass and its new templates; - is standard input")
	return cmd
}

// classFile is a ClusterClass with templates, as a file has them.
type classFile struct {
	class     *unstructured.Unstructured
	templates []*unstructured.Unstructured
}

// readClass reads the file of -f.
func (a *app) readClass(file string) (classFile, error) {
	if file == "" {
		return classFile{}, usageError{errors.New("-f FILE is required: the file with the ClusterClass")}
	}
	data, err := a.readFile("the ClusterClass", "-f names the file with the ClusterClass and its templates, and - is standard input", file)
	if err != nil {
		return classFile{}, err
	}
	var f classFile
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for number := 1; ; number++ {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF):
			if f.class == nil {
				return f, usageError{fmt.Errorf("%s has no ClusterClass (apiVersion %s)", fileName(file), clusterv1.GroupVersion)}
			}
			return f, nil
		case err != nil:
			return f, usageError{fmt.Errorf("%s: document %d: %w", fileName(file), number, err)}
		case len(object.Object) == 0: // nothing but comments
		case object.GetKind() == "ClusterClass" && f.class == nil:
			f.class = object
		case changes.IsTemplate(object.GetKind()):
			f.templates = append(f.templates, object)
		default:
			return f, usageError{fmt.Errorf("%s: document %d is %s %s; the file may have one ClusterClass and templates", fileName(file), number, cmp.Or(object.GetKind(), "of no kind"), object.GetName())}
		}
	}
}

// planClusterClass asks the management cluster what a class would make of its
// clusters.
func (a *app) planClusterClass(ctx context.Context, file string) (plan.ClassPlan, error) {
	f, err := a.readClass(file)
	if err != nil {
		return plan.ClassPlan{}, err
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
		return plan.ClassPlan{}, err
	}
	p := plan.ClassPlan{APIVersion: v1alpha1.APIVersion, Kind: plan.ClassDocumentKind, Metadata: plan.Metadata{Name: key.Name, Namespace: key.Namespace}, Clusters: []plan.Plan{}}
	before, exists, err := connection.Class(ctx, key)
	if err != nil || !exists {
		return p, err
	}
	templates, err := connection.Templates(ctx, tried, f.templates)
	if err != nil {
		return p, err
	}
	tried.Status = before.Status
	after := topology.Class{ClusterClass: topology.WithStatus(tried), Templates: templates}
	clusters, err := connection.ClustersOf(ctx, key)
	if err != nil {
		return p, err
	}
	refused := &management.ClassError{Class: key.String()}
	for _, cluster := range clusters {
		one, err := a.planOfCluster(ctx, connection, before, after, cluster, refused)
		if err != nil {
			return p, err
		}
		p.Add(one)
	}
	if len(refused.Reasons) > 0 {
		return p, refused
	}
	return p, nil
}

// planOfCluster is what becomes of one cluster.
func (a *app) planOfCluster(ctx context.Context, c *connection, before, after topology.Class, cluster state.Cluster, refused *management.ClassError) (plan.Plan, error) {
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}
	live, err := c.LiveCluster(ctx, key)
	if err != nil {
		return plan.Plan{}, err
	}
	defaulted, wrong := topology.Default(ctx, after.ClusterClass, live, live)
	for _, err := range wrong {
		refused.Reasons = append(refused.Reasons, fmt.Sprintf("cluster %s: %v; change the cluster first, or let the class go on taking what it has", key, err))
	}
	if len(wrong) > 0 {
		return plan.Plan{}, nil
	}
	sorted, err := classChanges(ctx, before, after, live, defaulted)
	if err != nil {
		return plan.Plan{}, err
	}
	start := plan.StartOf(cluster)
	return plan.Compute(plan.Input{
		Metadata: plan.MetadataOf(cluster, ""), Start: start, Target: start.AsTarget(plan.Target{}), Changes: sorted, Chain: &plan.Chain{},
	})
}

// classChanges are what two classes make otherwise of a cluster. Where runtime
// extensions patch it, all its machines may be.
func classChanges(ctx context.Context, before, after topology.Class, live, defaulted *clusterv1.Cluster) (map[string]plan.Changes, error) {
	m := managedOrigin{class: before, cluster: live, generate: func(class topology.Class, cluster *clusterv1.Cluster) (topology.Parts, error) {
		return topology.Generate(ctx, class, cluster)
	}}
	was, is, err := m.both(after, defaulted)
	var external externalError
	if errors.As(err, &external) {
		sorted := map[string]plan.Changes{v1alpha1.ControlPlaneName: {Rolling: []string{external.Error()}}}
		for _, group := range live.Spec.Topology.Workers.MachineDeployments {
			sorted[group.Name] = plan.Changes{Rolling: []string{external.Error()}}
		}
		return sorted, nil
	}
	if err != nil {
		return nil, err
	}
	return partChanges(was, is, nil, origin{before: &v1alpha1.Config{}})
}
