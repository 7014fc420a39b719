package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	caplabels "sigs.k8s.io/cluster-api/util/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// topology returns the spec of a cluster from a ClusterClass.
func (c *cluster) topology() ([]byte, error) {
	topology, _, _ := unstructured.NestedMap(c.spec(c.object), "topology")
	class, _ := topology["classRef"].(map[string]any)
	if class == nil {
		return nil, c.refuse("its spec.topology has no classRef")
	}
	variables, err := c.variables(topology, "spec.topology.variables", "variables")
	if err != nil {
		return nil, err
	}
	controlPlane, err := c.topologyControlPlane(topology)
	if err != nil {
		return nil, err
	}
	groups, err := c.topologyGroups(topology)
	if err != nil {
		return nil, err
	}
	var policy ordered
	if concurrency, has := c.object.GetAnnotations()[clusterv1.ClusterTopologyUpgradeConcurrencyAnnotation]; has && concurrency != "1" {
		policy = ordered{{"maxConcurrentWorkerGroups", number(concurrency)}}
	}
	c.leftOver(topology)
	c.generated()
	return write([]ordered{document(v1alpha1.ClusterKind, c.name, c.object.GetNamespace(), ordered{
		{"kubernetesVersion", withV(text(topology, "version"))},
		{"clusterClass", ordered{{"name", class["name"]}, {"namespace", class["namespace"]}, {"variables", variables}}},
		{"controlPlaneConfiguration", controlPlane}, {"workerNodeGroupConfigurations", groups}, {"clusterNetwork", c.topologyNetwork()}, {"upgradePolicy", policy},
	})})
}

// topologyNetwork returns the networks of the Cluster.
func (c *cluster) topologyNetwork() ordered {
	blocks := func(name string) ordered {
		all, _, _ := unstructured.NestedSlice(c.object.Object, "spec", "clusterNetwork", name, "cidrBlocks")
		return ordered{{"cidrBlocks", all}}
	}
	return ordered{{"pods", blocks("pods")}, {"services", blocks("services")}}
}

// variables returns a list of variables as a map.
func (c *cluster) variables(from map[string]any, where string, path ...string) (map[string]any, error) {
	list, _, err := unstructured.NestedSlice(from, path...)
	if err != nil {
		return nil, c.refuse("%s is no list: %v", where, err)
	}
	all := map[string]any{}
	for _, item := range list {
		variable, _ := item.(map[string]any)
		if variable["definitionFrom"] != nil {
			return nil, c.refuse("variable %s in %s has a definitionFrom, and a spec has no field for it", text(variable, "name"), where)
		}
		all[text(variable, "name")] = variable["value"]
	}
	return all, nil
}

func (c *cluster) topologyControlPlane(topology map[string]any) (ordered, error) {
	own, _, _ := unstructured.NestedMap(topology, "controlPlane")
	if own["replicas"] == nil {
		return nil, c.refuse("its spec.topology.controlPlane.replicas is not set, as in clusters with a managed control plane, and a spec counts the machines of control planes; set it if there are machines, or upgrade without a file: 'clusterctl-x upgrade cluster %s --kubernetes-version VERSION'", c.name)
	}
	variables, err := c.variables(own, "spec.topology.controlPlane.variables", "variables", "overrides")
	labels, annotations := c.topologyMetadata(own, "spec.topology.controlPlane")
	c.notCarried(own, "spec.topology.controlPlane", "metadata", "replicas", "deletion", "variables")
	return ordered{
		{"count", own["replicas"]}, {"labels", labels}, {"machineDeletion", deletion(own)}, {"annotations", annotations}, {"variables", variables},
	}, err
}

func (c *cluster) topologyGroups(topology map[string]any) ([]ordered, error) {
	list, _, _ := unstructured.NestedSlice(topology, "workers", "machineDeployments")
	var groups []ordered
	for _, item := range list {
		own, _ := item.(map[string]any)
		where := fmt.Sprintf("spec.topology.workers.machineDeployments[%s]", text(own, "name"))
		variables, err := c.variables(own, where, "variables", "overrides")
		if err != nil {
			return nil, err
		}
		labels, annotations := c.topologyMetadata(own, where)
		count, bounds := scale(&unstructured.Unstructured{Object: map[string]any{"metadata": own["metadata"], "spec": own}}, annotations)
		deferred, held := present(annotations, clusterv1.ClusterTopologyDeferUpgradeAnnotation), present(annotations, clusterv1.ClusterTopologyHoldUpgradeSequenceAnnotation)
		class := text(own, "class")
		if class == v1alpha1.DefaultWorkerClass {
			class = ""
		}
		c.notCarried(own, where, "metadata", "replicas", "deletion", "variables", "class", "name", "failureDomain", "rollout")
		groups = append(groups, ordered{
			{"name", own["name"]}, {"class", class}, {"count", count}, {"autoscalingConfiguration", bounds}, {"labels", labels}, {"failureDomains", domains(own)},
			{"upgradeRolloutStrategy", c.strategy(own, where)}, {"machineDeletion", deletion(own)}, {"annotations", annotations}, {"variables", variables},
			{"deferUpgrade", deferred}, {"holdUpgradeSequence", held},
		})
	}
	return groups, nil
}

// topologyMetadata returns the labels that a spec can have, and the annotations.
func (c *cluster) topologyMetadata(own map[string]any, where string) (labels, annotations map[string]any) {
	all, _, _ := unstructured.NestedStringMap(own, "metadata", "labels")
	labels, annotations = map[string]any{}, map[string]any{}
	managed := caplabels.GetManagedLabels(all)
	for name, value := range all {
		switch _, is := managed[name]; {
		case is:
			labels[name] = value
		case !system(name):
			c.note("label "+name+" in "+where+".metadata", c.object, "a spec with a class of your own has labels of nodes only; it stays as it is")
		}
	}
	notes, _, _ := unstructured.NestedStringMap(own, "metadata", "annotations")
	for name, value := range notes {
		annotations[name] = value
	}
	return labels, annotations
}

// notCarried notes what of a part has no field in a spec.
func (c *cluster) notCarried(own map[string]any, where string, carried ...string) {
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !slices.Contains(carried, name) {
			c.note(where+"."+name, c.object, "a spec has no field for it; it stays as it is")
		}
	}
}

// leftOver notes what of the Cluster has no field in a spec.
func (c *cluster) leftOver(topology map[string]any) {
	workers, _, _ := unstructured.NestedMap(topology, "workers")
	c.notCarried(workers, "spec.topology.workers", "machineDeployments")
	c.notCarried(topology, "spec.topology", "classRef", "version", "controlPlane", "workers", "variables")
	spec := c.spec(c.object)
	network, _, _ := unstructured.NestedMap(spec, "clusterNetwork")
	c.notCarried(network, "spec.clusterNetwork", "pods", "services")
	c.notCarried(spec, "spec", "clusterNetwork", "topology", "controlPlaneRef", "infrastructureRef")
	labels, annotations := c.metadata(c.object)
	for _, all := range []map[string]any{labels, annotations} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c.note(name+" in metadata", c.object, "a spec with a clusterClass has no field for it; it stays as it is")
		}
	}
}

// generated marks the objects that Cluster API makes of the topology, and notes others.
func (c *cluster) generated() {
	for _, kind := range []string{"MachineDeployment", "MachinePool", "MachineHealthCheck"} {
		for _, object := range c.ofCluster(kind) {
			if _, owned := object.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]; !owned {
				c.note("all", object, "the topology does not have it; it stays as it is")
			}
		}
	}
	for _, object := range c.objects {
		_, owned := object.GetLabels()[clusterv1.ClusterTopologyOwnedLabel]
		if owned && object.GetLabels()[clusterv1.ClusterNameLabel] == c.name && sameNamespace(object, c.object) {
			c.used[object] = true
		}
	}
}

func deletion(own map[string]any) ordered {
	var all ordered
	for _, name := range []string{"nodeDrainTimeout", "nodeVolumeDetachTimeout", "nodeDeletionTimeout"} {
		if seconds, has, _ := unstructured.NestedFieldNoCopy(own, "deletion", name+"Seconds"); has {
			all = append(all, entry{name, fmt.Sprintf("%vs", seconds)})
		}
	}
	return all
}

// strategy is how machines of a group are replaced.
func (c *cluster) strategy(own map[string]any, where string) ordered {
	parameters, found, _ := unstructured.NestedMap(own, "rollout", "strategy", "rollingUpdate")
	rollout, _, _ := unstructured.NestedMap(own, "rollout")
	c.notCarried(rollout, where+".rollout", "strategy")
	kind, _, _ := unstructured.NestedString(own, "rollout", "strategy", "type")
	if !found && kind == "" {
		return nil
	}
	for _, of := range parameters {
		if _, isText := of.(string); isText {
			c.note(where+".rollout.strategy", c.object, "a spec has whole numbers of machines; it stays as it is")
			return nil
		}
	}
	if kind != "" && kind != v1alpha1.RollingUpdate {
		c.note(where+".rollout.strategy", c.object, "a spec has RollingUpdate only; it stays as it is")
		return nil
	}
	return ordered{{"rollingUpdate", ordered{{"maxSurge", parameters["maxSurge"]}, {"maxUnavailable", parameters["maxUnavailable"]}}}}
}

func domains(own map[string]any) []any {
	if name := text(own, "failureDomain"); name != "" {
		return []any{name}
	}
	return nil
}

// present is true for an annotation that is there, and nothing for one that is not.
func present(annotations map[string]any, name string) any {
	if _, has := annotations[name]; !has {
		return nil
	}
	delete(annotations, name)
	return true
}

// number is that of a text; the text where it is none, so that the rules of a spec refuse it.
func number(of string) any {
	var value int
	if _, err := fmt.Sscanf(strings.TrimSpace(of), "%d", &value); err != nil {
		return of
	}
	return value
}
