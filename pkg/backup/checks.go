package backup

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// source is what is to be saved.
type source struct {
	clusters []client.ObjectKey
	// kinds are those that the clusters are made of.
	kinds []schema.GroupKind
	// pausable are the Clusters and ClusterClasses, which are paused meanwhile.
	pausable []*unstructured.Unstructured
}

// check reads the clusters of a namespace, or of all. It refuses, all at once, what cannot be
// saved or moved as it is now, and writes nothing. A pause for own may be there.
func (s *Service) check(ctx context.Context, namespace string, own state.PauseFor) (source, error) {
	clusters, err := s.management.Clusters(ctx, management.Filter{Namespace: namespace})
	if err != nil {
		return source{}, err
	}
	found := &refusals{}
	if len(clusters) == 0 {
		where := "the management cluster"
		if namespace != "" {
			where = "namespace " + namespace
		}
		found.add(&management.RefusedError{Check: checkNoClusters, Reason: fmt.Sprintf("%s has no clusters, so there is nothing to save; 'clusterctl-x get clusters -A' lists those that there are", where)})
		return source{}, found.err()
	}
	from := source{}
	for _, cluster := range clusters {
		from.clusters = append(from.clusters, client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name})
		found.judge(cluster, own)
	}
	if from.kinds, err = s.unready(ctx, namespace, found); err != nil {
		return source{}, s.management.Explain(ctx, err)
	}
	if from.pausable, err = s.pausable(ctx, namespace, own, found); err != nil {
		return source{}, s.management.Explain(ctx, err)
	}
	if err := s.checkKinds(ctx, namespace, from.kinds, []string{"get", "list"}, found); err != nil {
		return source{}, err
	}
	return from, found.err()
}

// judge refuses a cluster that is changing, or paused by a user; a pause for own may be there.
func (r *refusals) judge(cluster state.Cluster, own state.PauseFor) {
	name := cluster.Namespace + "/" + cluster.Name
	watch := fmt.Sprintf("wait for its end with 'clusterctl-x watch cluster %s -n %s'", cluster.Name, cluster.Namespace)
	switch {
	case cluster.Pause != nil && cluster.Pause.For != own:
		r.add(&management.RefusedError{Check: checkPaused, Reason: fmt.Sprintf("cluster %s: %s", name, cluster.Pause)})
	case cluster.Paused && cluster.Pause == nil:
		r.add(&management.RefusedError{Check: checkPaused, Reason: fmt.Sprintf("cluster %s is paused by a user, and clusterctl would end that pause; set its spec.paused to false", name)})
	case cluster.Deleting:
		r.add(&management.RefusedError{Check: checkUnderWay, Reason: fmt.Sprintf("cluster %s is being deleted; wait until it is gone", name)})
	case cluster.Held != nil:
		r.add(&management.RefusedError{Check: checkUnderWay, Reason: fmt.Sprintf("an upgrade of cluster %s is under way, and waits %s; lift the hold, and %s", name, cluster.Held, watch)})
	default:
		if why := underWay(cluster); why != "" {
			r.add(&management.RefusedError{Check: checkUnderWay, Reason: fmt.Sprintf("cluster %s is being changed: %s; %s", name, why, watch)})
		}
	}
}

// underWay says which change of a cluster is not finished; empty where there is none.
func underWay(cluster state.Cluster) string {
	for _, part := range cluster.Parts() {
		goes := slices.ContainsFunc(part.Machines, func(m state.Machine) bool { return m.Deleting })
		switch count := part.ToReplace(); {
		case count > 0:
			return fmt.Sprintf("%d machines of %s are to be replaced", count, part.Name)
		case goes:
			return "machines of " + part.Name + " are being deleted"
		}
	}
	if cluster.Topology != nil && cluster.Topology.Upgrading {
		return "Cluster API has not ended the upgrade"
	}
	return ""
}

// unready refuses clusters that clusterctl does not save yet, with what they lack. It returns
// the kinds that the clusters are made of.
func (s *Service) unready(ctx context.Context, namespace string, found *refusals) ([]schema.GroupKind, error) {
	var clusters clusterv1.ClusterList
	var machines clusterv1.MachineList
	for _, list := range []client.ObjectList{&clusters, &machines} {
		if err := s.objects.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
	}
	kinds := map[schema.GroupKind]bool{clusterv1.GroupVersion.WithKind(clusterv1.ClusterKind).GroupKind(): true}
	add := func(ref clusterv1.ContractVersionedObjectReference) {
		if ref.IsDefined() {
			kinds[schema.GroupKind{Group: ref.APIGroup, Kind: ref.Kind}] = true
		}
	}
	for _, cluster := range clusters.Items {
		add(cluster.Spec.InfrastructureRef)
		add(cluster.Spec.ControlPlaneRef)
		initialized := meta.IsStatusConditionTrue(cluster.Status.Conditions, clusterv1.ClusterControlPlaneInitializedCondition) &&
			(!cluster.Spec.ControlPlaneRef.IsDefined() || ptr.Deref(cluster.Status.Initialization.ControlPlaneInitialized, false))
		switch key := client.ObjectKeyFromObject(&cluster); {
		case !ptr.Deref(cluster.Status.Initialization.InfrastructureProvisioned, false):
			found.add(&management.RefusedError{Check: checkUnready, Reason: fmt.Sprintf("cluster %s has no infrastructure yet; wait for it with 'clusterctl-x watch cluster %s -n %s', or delete the cluster", key, key.Name, key.Namespace)})
		case !initialized:
			found.add(&management.RefusedError{Check: checkUnready, Reason: fmt.Sprintf("the control plane of cluster %s is not initialized yet; wait for it with 'clusterctl-x watch cluster %s -n %s', or delete the cluster", key, key.Name, key.Namespace)})
		}
	}
	for _, machine := range machines.Items {
		add(machine.Spec.InfrastructureRef)
		if !machine.Status.NodeRef.IsDefined() {
			found.add(&management.RefusedError{Check: checkUnready, Reason: fmt.Sprintf("machine %s of cluster %s/%s has no node yet; wait for it with 'clusterctl-x watch cluster %s -n %s'",
				machine.Name, machine.Namespace, machine.Spec.ClusterName, machine.Spec.ClusterName, machine.Namespace)})
		}
	}
	return slices.Collect(maps.Keys(kinds)), nil
}

// pausable returns the Clusters, and the ClusterClasses that are saved with them. It refuses
// classes that a user paused: clusterctl would end that pause. A pause for own may be there.
func (s *Service) pausable(ctx context.Context, namespace string, own state.PauseFor, found *refusals) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	used := map[client.ObjectKey]bool{}
	for _, kind := range []string{clusterv1.ClusterKind, clusterv1.ClusterClassKind} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(kind + "List"))
		options := []client.ListOption{}
		if kind == clusterv1.ClusterKind {
			options = append(options, client.InNamespace(namespace))
		}
		if err := s.objects.List(ctx, list, options...); err != nil {
			return nil, err
		}
		for i := range list.Items {
			object := &list.Items[i]
			if isCluster(object) {
				used[classOf(object)] = true
			} else {
				key := client.ObjectKeyFromObject(object)
				if namespace != "" && key.Namespace != namespace && !used[key] {
					continue
				}
				if mark := pauseOf(object); isPaused(object) && mark != own {
					found.add(&management.RefusedError{Check: checkPaused, Reason: fmt.Sprintf("ClusterClass %s is paused, and would not be afterwards; remove its annotation %s", key, clusterv1.PausedAnnotation)})
				}
			}
			all = append(all, object)
		}
	}
	return all, nil
}

// classOf returns the ClusterClass of a Cluster, which may be empty.
func classOf(object *unstructured.Unstructured) client.ObjectKey {
	name, _, _ := unstructured.NestedString(object.Object, "spec", "topology", "classRef", "name")
	namespace, given, _ := unstructured.NestedString(object.Object, "spec", "topology", "classRef", "namespace")
	if !given {
		namespace = object.GetNamespace()
	}
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// checkKinds refuses kinds that clusterctl would not find, because their
// CustomResourceDefinitions lack its label, and privileges that the user lacks.
func (s *Service) checkKinds(ctx context.Context, namespace string, kinds []schema.GroupKind, verbs []string, found *refusals) error {
	var labelled apiextensionsv1.CustomResourceDefinitionList
	if err := s.objects.List(ctx, &labelled, client.HasLabels{clusterctlv1.ClusterctlLabel}); err != nil {
		return s.management.Explain(ctx, err)
	}
	known := map[schema.GroupKind]bool{}
	privileges := []management.Privilege{
		{Group: clusterv1.GroupVersion.Group, Resource: "clusters", Verbs: []string{"patch"}},
		{Group: clusterv1.GroupVersion.Group, Resource: "clusterclasses", Verbs: []string{"patch"}},
		{Group: "coordination.k8s.io", Resource: "leases", Verbs: []string{"get", "list", "create", "update"}},
		{Resource: "secrets", Verbs: verbs},
		{Resource: "configmaps", Verbs: verbs},
	}
	for _, crd := range labelled.Items {
		known[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = true
		privileges = append(privileges, management.Privilege{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural, Verbs: verbs})
	}
	for _, kind := range slices.SortedFunc(slices.Values(kinds), func(a, b schema.GroupKind) int {
		return slices.Compare([]string{a.Kind, a.Group}, []string{b.Kind, b.Group})
	}) {
		if !known[kind] {
			found.add(&management.RefusedError{Check: checkUnlabelled, Reason: fmt.Sprintf("the CustomResourceDefinition of %s lacks the label %s, by which clusterctl finds what belongs to clusters; add it with 'kubectl label crd NAME %s='", kind, clusterctlv1.ClusterctlLabel, clusterctlv1.ClusterctlLabel)})
		}
	}
	missing, err := s.management.MissingPrivileges(ctx, namespace, privileges)
	for _, reason := range missing {
		found.add(&management.RefusedError{Check: checkPrivileges, Reason: reason})
	}
	return err
}
