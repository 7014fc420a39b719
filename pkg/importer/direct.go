package importer

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// maxGroupName is the length of the longest name of a group.
const maxGroupName = 48

// defaultServices is the network that kubeadm takes.
const defaultServices = "10.96.0.0/12"

// direct returns the spec of a cluster without a ClusterClass.
func (c *cluster) direct() ([]byte, error) {
	infrastructure, err := c.find(c.object, "spec", "infrastructureRef")
	if err != nil {
		return nil, err
	}
	controlPlane, version, documents, err := c.controlPlane()
	if err != nil {
		return nil, err
	}
	groups, machines, err := c.groups(version)
	if err != nil {
		return nil, err
	}
	network, ownCluster := c.clusterFields()
	datacenter := ordered{
		{"infrastructureCluster", c.infrastructureCluster(infrastructure)},
		{"resources", c.healthChecks()}, {"cluster", ownCluster}, {"controlPlane", documents.ofDatacenter},
	}
	spec := ordered{
		{"kubernetesVersion", version}, {"controlPlaneConfiguration", controlPlane}, {"workerNodeGroupConfigurations", groups},
		{"clusterNetwork", network}, {"datacenterRef", ordered{{"kind", c.kinds.Datacenter}, {"name", c.name}}},
	}
	c.pools()
	all := []ordered{
		document(v1alpha1.ClusterKind, c.name, c.object.GetNamespace(), spec), document(c.kinds.Datacenter, c.name, "", datacenter), document(c.kinds.Machine, v1alpha1.ControlPlaneName, "", documents.machine),
	}
	return write(append(all, machines...))
}

// pools notes the MachinePools, with what they refer to.
func (c *cluster) pools() {
	for _, pool := range c.ofCluster("MachinePool") {
		c.note("all", pool, "a cluster spec has no MachinePools; it stays as it is with what it refers to, and 'upgrade cluster' without a file moves it")
		for _, path := range [][]string{{"infrastructureRef"}, {"bootstrap", "configRef"}} {
			if object, err := c.find(pool, append([]string{"spec", "template", "spec"}, path...)...); err == nil {
				c.note("all", object, title(pool)+" has it; it stays as it is")
			}
		}
	}
}

// infrastructureCluster describes the infrastructure cluster.
func (c *cluster) infrastructureCluster(object *unstructured.Unstructured) ordered {
	labels, annotations := c.metadata(object)
	name := object.GetName()
	if name == c.name {
		name = ""
	}
	return ordered{{"apiVersion", object.GetAPIVersion()}, {"kind", object.GetKind()}, {"name", name}, {"labels", labels}, {"annotations", annotations}, {"spec", c.spec(object)}}
}

// clusterFields returns the networks of the spec, and what else the Cluster says.
func (c *cluster) clusterFields() (network, own ordered) {
	labels, annotations := c.metadata(c.object)
	spec := c.spec(c.object)
	without(spec, nil, "controlPlaneRef")
	without(spec, nil, "infrastructureRef")
	if paused, _ := take(spec, "paused").(bool); paused {
		c.note("spec.paused", c.object, "the cluster stays paused until the field is changed")
	}
	given, _, _ := unstructured.NestedMap(spec, "clusterNetwork")
	first := func(name, otherwise string) (string, bool) {
		blocks, _, _ := unstructured.NestedStringSlice(given, name, "cidrBlocks")
		if len(blocks) == 0 {
			return otherwise, false
		}
		return blocks[0], len(blocks) == 1
	}
	pods, onePods := first("pods", "192.168.0.0/16")
	services, oneServices := first("services", defaultServices)
	if onePods && oneServices && len(given) == 2 {
		delete(spec, "clusterNetwork") // the fields of the spec say all of it
	}
	blocks := func(block string) ordered { return ordered{{"cidrBlocks", []any{block}}} }
	return ordered{{"pods", blocks(pods)}, {"services", blocks(services)}}, ordered{{"labels", labels}, {"annotations", annotations}, {"spec", spec}}
}

// ofControlPlane is what documents say about a control plane.
type ofControlPlane struct{ ofDatacenter, machine ordered }

// controlPlane describes the control plane, with its version.
func (c *cluster) controlPlane() (spec ordered, version string, documents ofControlPlane, err error) {
	object, err := c.find(c.object, "spec", "controlPlaneRef")
	if err != nil {
		return nil, "", documents, err
	}
	if object.GetKind() != "KubeadmControlPlane" {
		return nil, "", documents, c.refuse("its control plane is of kind %s, and a spec describes those of kubeadm; 'clusterctl-x upgrade cluster %s --kubernetes-version VERSION' upgrades it without a file", object.GetKind(), c.name)
	}
	template, err := c.find(object, "spec", "machineTemplate", "spec", "infrastructureRef")
	if err != nil {
		return nil, "", documents, err
	}
	kubeadm, _, _ := unstructured.NestedMap(object.Object, "spec", "kubeadmConfigSpec")
	version, _, _ = unstructured.NestedString(object.Object, "spec", "version")
	own := c.spec(object)
	count := replicas(object)
	for _, path := range [][]string{{"replicas"}, {"version"}, {"kubeadmConfigSpec"}, {"machineTemplate", "spec", "infrastructureRef"}} {
		without(own, nil, path...)
	}
	without(own, rollingUpdate(map[string]any{"maxSurge": int64(1)}), "rollout", "strategy")
	labels, annotations := c.metadata(object)
	documents.ofDatacenter = ordered{{"labels", labels}, {"annotations", annotations}, {"spec", own}}
	documents.machine = c.machines(template, kubeadm)
	name := object.GetName()
	if name == c.name {
		name = ""
	}
	return ordered{{"count", count}, {"resourceName", name}, {"machineGroupRef", c.machineRef(v1alpha1.ControlPlaneName)}}, withV(version), documents, nil
}

// machines describe a machine template with what kubeadm does.
func (c *cluster) machines(template *unstructured.Unstructured, kubeadm map[string]any) ordered {
	labels, annotations := c.metadata(template)
	spec, _, _ := unstructured.NestedMap(template.Object, "spec", "template", "spec")
	if _, has, _ := unstructured.NestedMap(template.Object, "spec", "template", "metadata"); has {
		c.note("spec.template.metadata", template, "a document has no place for it; the template of this name keeps it, and one that takes its place has none")
	}
	c.noteImages(template)
	return ordered{
		{"machineTemplate", ordered{{"apiVersion", template.GetAPIVersion()}, {"kind", template.GetKind()}, {"name", template.GetName()}, {"labels", labels}, {"annotations", annotations}, {"spec", spec}}},
		{"kubeadmDefaults", "None"}, {"kubeadmConfigSpec", kubeadm},
	}
}

// noteImages notes the images of a machine template that are of one version.
func (c *cluster) noteImages(template *unstructured.Unstructured) {
	if c.kinds.ImageFields == nil {
		return
	}
	for _, path := range c.kinds.ImageFields(template.GroupVersionKind().GroupKind()) {
		field := append([]string{"spec", "template", "spec"}, strings.Split(path, ".")...)
		if _, has, _ := unstructured.NestedFieldNoCopy(template.Object, field...); has {
			c.note(path, template, "an image of one version, which machines of all versions get; before an upgrade, give spec.images of the document an entry for each version of it")
		}
	}
}

// groups describe the MachineDeployments, with a document for each.
func (c *cluster) groups(version string) (groups, documents []ordered, err error) {
	names := map[string]bool{v1alpha1.ControlPlaneName: true}
	for _, deployment := range c.ofCluster("MachineDeployment") {
		name, err := c.groupName(deployment, names)
		if err != nil {
			return nil, nil, err
		}
		names[name] = true
		group, machines, err := c.group(name, version, deployment)
		if err != nil {
			return nil, nil, err
		}
		groups, documents = append(groups, group), append(documents, document(c.kinds.Machine, name, "", machines))
	}
	return groups, documents, nil
}

// groupName is the name of the group of a MachineDeployment: that of its label, its own without
// the one of the cluster, or as it is where that is taken.
func (c *cluster) groupName(deployment *unstructured.Unstructured, taken map[string]bool) (string, error) {
	own := strings.ReplaceAll(deployment.GetName(), ".", "-")
	for _, name := range []string{deployment.GetLabels()[v1alpha1.WorkerNodeGroupLabel], strings.TrimPrefix(own, c.name+"-"), own} {
		if name != "" && len(name) <= maxGroupName && !taken[name] && len(utilvalidation.IsDNS1123Label(name)) == 0 {
			return name, nil
		}
	}
	return "", c.refuse("%s cannot be a worker node group: its name has more than %d characters, or another group has it; label it %s=NAME", title(deployment), maxGroupName, v1alpha1.WorkerNodeGroupLabel)
}

func (c *cluster) group(name, version string, object *unstructured.Unstructured) (group, documents ordered, err error) {
	if object.GetDeletionTimestamp() != nil {
		return nil, nil, c.refuse("%s is being deleted; import the cluster once it is gone", title(object))
	}
	template, err := c.find(object, "spec", "template", "spec", "infrastructureRef")
	if err != nil {
		return nil, nil, err
	}
	bootstrap, err := c.find(object, "spec", "template", "spec", "bootstrap", "configRef")
	if err != nil {
		return nil, nil, err
	}
	if bootstrap.GetKind() != "KubeadmConfigTemplate" {
		return nil, nil, c.refuse("%s is bootstrapped by kind %s, and a spec describes kubeadm; 'clusterctl-x upgrade cluster %s --kubernetes-version VERSION' upgrades it without a file", title(object), bootstrap.GetKind(), c.name)
	}
	of, _, _ := unstructured.NestedString(object.Object, "spec", "template", "spec", "version")
	if of == "" {
		return nil, nil, c.refuse("%s has no spec.template.spec.version; set it", title(object))
	}
	if of = withV(of); of == version {
		of = ""
	}
	labels, annotations := c.metadata(object)
	count, bounds := scale(object, annotations)
	objectName := object.GetName()
	if objectName == c.name+"-"+name {
		objectName = ""
	}
	kubeadm, _, _ := unstructured.NestedMap(bootstrap.Object, "spec", "template", "spec")
	documents = append(c.machines(template, kubeadm),
		entry{"bootstrapTemplate", c.bootstrapTemplate(bootstrap)},
		entry{"machineDeployment", ordered{{"labels", labels}, {"annotations", annotations}, {"spec", c.deploymentSpec(object)}}},
	)
	return ordered{
		{"name", name}, {"count", count}, {"autoscalingConfiguration", bounds}, {"kubernetesVersion", of}, {"resourceName", objectName}, {"machineGroupRef", c.machineRef(name)},
	}, documents, nil
}

func (c *cluster) bootstrapTemplate(object *unstructured.Unstructured) ordered {
	labels, annotations := c.metadata(object)
	if _, has, _ := unstructured.NestedMap(object.Object, "spec", "template", "metadata"); has {
		c.note("spec.template.metadata", object, "a document has no place for it; the template of this name keeps it, and one that takes its place has none")
	}
	return ordered{{"name", object.GetName()}, {"labels", labels}, {"annotations", annotations}}
}

// deploymentSpec is what of a MachineDeployment no field of the Cluster says.
func (c *cluster) deploymentSpec(object *unstructured.Unstructured) map[string]any {
	spec := c.spec(object)
	for _, path := range [][]string{
		{"clusterName"}, {"replicas"}, {"template", "spec", "clusterName"}, {"template", "spec", "version"}, {"template", "spec", "bootstrap"}, {"template", "spec", "infrastructureRef"},
		{"template", "metadata", "labels", clusterv1.ClusterNameLabel}, {"template", "metadata", "labels", v1alpha1.WorkerNodeGroupLabel}, {"selector", "matchLabels", clusterv1.ClusterNameLabel},
	} {
		without(spec, nil, path...)
	}
	without(spec, rollingUpdate(map[string]any{"maxSurge": int64(1), "maxUnavailable": int64(0)}), "rollout", "strategy")
	for _, path := range [][]string{{"selector", "matchLabels", clusterv1.MachineDeploymentNameLabel}, {"template", "metadata", "labels", clusterv1.MachineDeploymentNameLabel}} {
		without(spec, object.GetName(), path...)
	}
	if selector, has := spec["selector"].(map[string]any); has && len(selector) == 0 {
		delete(spec, "selector")
	}
	if selected, _, _ := unstructured.NestedStringMap(object.Object, "spec", "selector", "matchLabels"); len(selected) == 1 && selected[clusterv1.ClusterNameLabel] != "" {
		spec["selector"] = map[string]any{"matchLabels": map[string]any{clusterv1.ClusterNameLabel: c.name}} // no webhook adds the name to it
	}
	return spec
}

// healthChecks describe the MachineHealthChecks, as further objects.
func (c *cluster) healthChecks() []ordered {
	var resources []ordered
	for _, check := range c.ofCluster("MachineHealthCheck") {
		labels, annotations := c.metadata(check)
		spec := c.spec(check)
		resources = append(resources, ordered{
			{"apiVersion", check.GetAPIVersion()}, {"kind", check.GetKind()}, {"name", check.GetName()}, {"labels", labels}, {"annotations", annotations}, {"spec", spec},
		})
	}
	return resources
}

func rollingUpdate(parameters map[string]any) map[string]any {
	return map[string]any{"type": "RollingUpdate", "rollingUpdate": parameters}
}

func (c *cluster) machineRef(name string) ordered {
	return ordered{{"kind", c.kinds.Machine}, {"name", name}}
}

// replicas are the machines that an object asks for.
func replicas(object *unstructured.Unstructured) any {
	count, found, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas")
	if !found {
		return nil
	}
	return count
}

// scale is the number of machines of a group, or the bounds that the autoscaler has. The
// annotations that have these become fields.
func scale(object *unstructured.Unstructured, annotations map[string]any) (count any, bounds ordered) {
	number := func(name string) (int, bool) {
		value, err := strconv.Atoi(object.GetAnnotations()[name])
		return value, err == nil
	}
	least, has := number(clusterv1.AutoscalerMinSizeAnnotation)
	most, both := number(clusterv1.AutoscalerMaxSizeAnnotation)
	if !has || !both {
		return replicas(object), nil
	}
	delete(annotations, clusterv1.AutoscalerMinSizeAnnotation)
	delete(annotations, clusterv1.AutoscalerMaxSizeAnnotation)
	return nil, ordered{{"minCount", least}, {"maxCount", most}}
}

// withV is a version as Cluster API writes it.
func withV(version string) string {
	if version == "" {
		return ""
	}
	return "v" + strings.TrimPrefix(version, "v")
}
