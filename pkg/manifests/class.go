package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// ProviderAnnotation of a ClusterClass of clusterctl-x has the name of its
// provider.
const ProviderAnnotation = "clusterctl-x.io/provider"

// Class says which ClusterClass to make.
type Class struct {
	Name, Namespace string
	Provider        providers.Provider
	// Releases that clusters of the class may have, oldest first: at least one.
	Releases []versionsbundle.Release
	// UpgradePlans names the handler of a runtime extension that Cluster API asks for
	// upgrade plans; where it is empty they are made from the list of versions.
	UpgradePlans string
}

// RenderClass returns a ClusterClass, after the templates that it names. They are
// rendered from an empty spec: what differs from cluster to cluster is a variable, and
// what differs from version to version a patch. Like everything immutable, the
// templates are named after their content.
func RenderClass(class Class) ([]templater.Object, error) {
	if len(class.Releases) == 0 {
		return nil, errors.New("a ClusterClass needs a version")
	}
	if len(class.Releases) > maxVersions {
		return nil, fmt.Errorf("%d releases are too many: Cluster API allows a ClusterClass %d; use bundles with fewer", len(class.Releases), maxVersions)
	}
	if machine := class.Provider.Spec.Machine.Kind; machine != "" {
		return nil, fmt.Errorf("provider %s has documents of kind %s that describe machines, which no class is generated for; name a ClusterClass of your own in spec.clusterClass instead of spec.datacenterRef", class.Provider.Name, machine)
	}
	m := classMaker{Class: class}
	if err := m.readDefinitions(); err != nil {
		return nil, err
	}
	for _, release := range class.Releases {
		rendered, err := m.render(release)
		if err != nil {
			return nil, fmt.Errorf("rendering %s: %w", release.Version, err)
		}
		m.rendered = append(m.rendered, rendered)
	}
	return m.objects()
}

// Ends of the names of templates, before the hash.
const (
	ofCluster      = ""
	ofControlPlane = "-" + v1alpha1.ControlPlaneName
	ofWorkers      = "-" + v1alpha1.DefaultWorkerClass
)

// classMaker puts a ClusterClass together.
type classMaker struct {
	Class
	// rendered is the cluster at each of the releases.
	rendered  []parts
	variables []clusterv1.ClusterClassVariable
	// patches that follow from the renderings come before those that are defined
	// for variables.
	patches, defined []clusterv1.ClusterClassPatch
}

// parts are the objects that a class has templates of.
type parts struct {
	infrastructure, controlPlane, controlPlaneMachine, bootstrap, machine *unstructured.Unstructured
	controlPlaneCheck, workerCheck                                        clusterv1.MachineHealthCheckSpec
}

// nameOfCluster is the placeholder for the name of each cluster of a class.
const nameOfCluster = "name-of-the-cluster"

// nothingSaid is a spec with no more than it must have.
const nothingSaid = `apiVersion: %s
kind: Cluster
metadata: {name: ` + nameOfCluster + `}
spec:
  kubernetesVersion: %s
  workerNodeGroupConfigurations: [{name: %s}]
  datacenterRef: {kind: %s, name: class}
  machineHealthCheck: {}
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
`

// render returns the parts of a cluster without a class, at a release.
func (m *classMaker) render(release versionsbundle.Release) (parts, error) {
	text := fmt.Sprintf(nothingSaid, v1alpha1.APIVersion, release.Version, v1alpha1.DefaultWorkerClass, m.Provider.Spec.Datacenter.Kind)
	config := (providers.Set{m.Provider.Name: m.Provider}).Decode("a spec that says nothing", []byte(text))
	if err := config.Problems.OrNil(); err != nil {
		return parts{}, err
	}
	versions := v1alpha1.ClusterVersions{ControlPlane: release.Version, WorkerNodeGroups: map[string]v1alpha1.Version{v1alpha1.DefaultWorkerClass: release.Version}}
	objects, err := Render(Input{Config: config, Provider: m.Provider, Versions: versions, Set: versionsbundle.Set{release.Version: release}, Namespace: m.Namespace})
	if err != nil {
		return parts{}, err
	}
	var p parts
	kinds := m.Provider.Spec.Infrastructure
	err = errors.Join(
		one(objects.Cluster, kinds.Cluster, &p.infrastructure), one(objects.ControlPlane, "KubeadmControlPlane", &p.controlPlane),
		one(objects.ControlPlane, kinds.MachineTemplate, &p.controlPlaneMachine), one(objects.Groups[0].Objects, "KubeadmConfigTemplate", &p.bootstrap),
		one(objects.Groups[0].Objects, kinds.MachineTemplate, &p.machine),
		check(objects.ControlPlane, &p.controlPlaneCheck), check(objects.Groups[0].Objects, &p.workerCheck),
	)
	return p, err
}

// one finds the object of a kind.
func one(objects []templater.Object, kind string, into **unstructured.Unstructured) (err error) {
	i := slices.IndexFunc(objects, func(o templater.Object) bool { return o.Kind.Kind == kind })
	if i < 0 {
		return fmt.Errorf("the templates render no %s", kind)
	}
	*into, err = objects[i].Unstructured()
	return err
}

func check(objects []templater.Object, into *clusterv1.MachineHealthCheckSpec) error {
	var object *unstructured.Unstructured
	if err := one(objects, "MachineHealthCheck", &object); err != nil {
		return err
	}
	data, err := json.Marshal(object.Object["spec"])
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// readDefinitions reads the variables of the class and the patches that depend
// on nothing else.
func (m *classMaker) readDefinitions() error {
	common, err := config.Classes.ReadFile("classes/kubeadm.yaml")
	if err != nil {
		return fmt.Errorf("reading the variables of a ClusterClass: %w", err)
	}
	own, err := fs.ReadFile(m.Provider.Files, providers.ClassFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have nothing of its own
		return fmt.Errorf("reading the variables of classes of provider %s: %w", m.Provider.Name, err)
	}
	for _, data := range [][]byte{common, own} {
		var definitions struct {
			Variables []clusterv1.ClusterClassVariable `json:"variables"`
			Patches   []clusterv1.ClusterClassPatch    `json:"patches"`
		}
		if err := yaml.UnmarshalStrict(data, &definitions); err != nil {
			return fmt.Errorf("reading the variables of a ClusterClass: %w", err)
		}
		m.variables = append(m.variables, definitions.Variables...)
		m.defined = append(m.defined, definitions.Patches...)
	}
	return nil
}

// objects are the templates and the class.
func (m *classMaker) objects() ([]templater.Object, error) {
	infrastructure, err := m.template(ofCluster, "Template", func(p parts) (map[string]any, error) { return templateOf(p.infrastructure) })
	if err != nil {
		return nil, err
	}
	controlPlane, err := m.template(ofControlPlane, "Template", controlPlaneTemplate)
	if err != nil {
		return nil, err
	}
	own := func(object func(parts) *unstructured.Unstructured) func(parts) (map[string]any, error) {
		return func(p parts) (map[string]any, error) { return object(p).Object, nil }
	}
	controlPlaneMachine, err := m.template(ofControlPlane, "", own(func(p parts) *unstructured.Unstructured { return p.controlPlaneMachine }))
	if err != nil {
		return nil, err
	}
	bootstrap, err := m.template(ofWorkers, "", own(func(p parts) *unstructured.Unstructured { return p.bootstrap }))
	if err != nil {
		return nil, err
	}
	machine, err := m.template(ofWorkers, "", own(func(p parts) *unstructured.Unstructured { return p.machine }))
	if err != nil {
		return nil, err
	}
	templates := []*unstructured.Unstructured{infrastructure, controlPlane, controlPlaneMachine, bootstrap, machine}
	class := m.class(infrastructure, controlPlane, controlPlaneMachine, bootstrap, machine)
	return encode(class, templates)
}

// class with references to its templates.
func (m *classMaker) class(infrastructure, controlPlane, controlPlaneMachine, bootstrap, machine *unstructured.Unstructured) *clusterv1.ClusterClass {
	last := m.rendered[len(m.rendered)-1]
	class := &clusterv1.ClusterClass{}
	class.APIVersion, class.Kind = clusterv1.GroupVersion.String(), "ClusterClass"
	class.Name, class.Namespace = m.Name, m.Namespace
	class.Annotations = map[string]string{ProviderAnnotation: m.Provider.Name}
	class.Spec.Infrastructure.TemplateRef = reference(infrastructure)
	class.Spec.ControlPlane.Metadata.Annotations = last.controlPlane.GetAnnotations()
	class.Spec.ControlPlane.TemplateRef = reference(controlPlane)
	class.Spec.ControlPlane.MachineInfrastructure.TemplateRef = reference(controlPlaneMachine)
	class.Spec.ControlPlane.HealthCheck = clusterv1.ControlPlaneClassHealthCheck{
		Checks: clusterv1.ControlPlaneClassHealthCheckChecks(last.controlPlaneCheck.Checks),
		Remediation: clusterv1.ControlPlaneClassHealthCheckRemediation{
			TriggerIf: clusterv1.ControlPlaneClassHealthCheckRemediationTriggerIf(last.controlPlaneCheck.Remediation.TriggerIf),
		},
	}
	workers := clusterv1.MachineDeploymentClass{Class: v1alpha1.DefaultWorkerClass}
	workers.Bootstrap.TemplateRef, workers.Infrastructure.TemplateRef = reference(bootstrap), reference(machine)
	workers.HealthCheck = clusterv1.MachineDeploymentClassHealthCheck{
		Checks: clusterv1.MachineDeploymentClassHealthCheckChecks(last.workerCheck.Checks),
		Remediation: clusterv1.MachineDeploymentClassHealthCheckRemediation{
			TriggerIf: clusterv1.MachineDeploymentClassHealthCheckRemediationTriggerIf(last.workerCheck.Remediation.TriggerIf),
		},
	}
	class.Spec.Workers.MachineDeployments = []clusterv1.MachineDeploymentClass{workers}
	class.Spec.Variables, class.Spec.Patches = m.variables, slices.Concat(m.patches, m.defined)
	class.Spec.Upgrade.External.GenerateUpgradePlanExtension = m.UpgradePlans
	for _, release := range m.Releases {
		if m.UpgradePlans == "" {
			class.Spec.KubernetesVersions = append(class.Spec.KubernetesVersions, release.Version.String())
		}
	}
	return class
}

func reference(template *unstructured.Unstructured) clusterv1.ClusterClassTemplateReference {
	return clusterv1.ClusterClassTemplateReference{APIVersion: template.GetAPIVersion(), Kind: template.GetKind(), Name: template.GetName()}
}

// templateOf makes a template of an object.
func templateOf(object *unstructured.Unstructured) (map[string]any, error) {
	return map[string]any{
		"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(),
		"spec": map[string]any{"template": map[string]any{"spec": object.Object["spec"]}},
	}, nil
}

// controlPlaneTemplate leaves out what the topology of a cluster says.
func controlPlaneTemplate(p parts) (map[string]any, error) {
	controlPlane := p.controlPlane.DeepCopy()
	for _, field := range []string{"replicas", "version", "machineTemplate"} {
		unstructured.RemoveNestedField(controlPlane.Object, "spec", field)
	}
	return templateOf(controlPlane)
}

// encode writes the templates and the class as they are applied.
func encode(class *clusterv1.ClusterClass, templates []*unstructured.Unstructured) ([]templater.Object, error) {
	var objects []templater.Object
	add := func(content any) error {
		data, err := json.Marshal(content)
		if err != nil {
			return err
		}
		var u unstructured.Unstructured
		if err := u.UnmarshalJSON(data); err != nil {
			return err
		}
		unstructured.RemoveNestedField(u.Object, "status")
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return err
		}
		data, err = u.MarshalJSON()
		objects = append(objects, templater.Object{Kind: u.GroupVersionKind(), Name: u.GetName(), YAML: text, JSON: data})
		return err
	}
	for _, template := range templates {
		if err := add(template); err != nil {
			return nil, fmt.Errorf("writing %s %s: %w", template.GetKind(), template.GetName(), err)
		}
	}
	if err := add(class); err != nil {
		return nil, fmt.Errorf("writing ClusterClass %s: %w", class.Name, err)
	}
	return objects, nil
}
