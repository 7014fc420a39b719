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
	// Documents is a valid cluster spec with the documents of the provider, where it has
	// such that describe machines. What it says of the cluster itself is not in the class,
	// but for the form of the endpoint.
	Documents *v1alpha1.Config
	// Releases that clusters of the class may have, oldest first: at least one.
	Releases []versionsbundle.Release
	// UpgradePlans names the handler of a runtime extension that Cluster API asks for
	// upgrade plans; where it is empty they are made from the list of versions.
	UpgradePlans string
}

// RenderClass returns a ClusterClass, after the templates that it names. They are
// rendered from an empty spec, with the documents that describe the machines: what differs
// from cluster to cluster is a variable, and what differs from version to version a patch. Like
// everything immutable, the templates are named after their content.
func RenderClass(class Class) ([]templater.Object, error) {
	if len(class.Releases) == 0 {
		return nil, errors.New("a ClusterClass needs a version")
	}
	if len(class.Releases) > maxVersions {
		return nil, fmt.Errorf("%d releases are too many: Cluster API allows a ClusterClass %d; use bundles with fewer", len(class.Releases), maxVersions)
	}
	if of := class.Provider.Spec.Infrastructure; of != nil {
		if err := (&classMaker{Class: class}).hasTemplate(of.Cluster); err != nil {
			return nil, err
		}
	}
	if machine := class.Provider.Spec.Machine.Kind; machine != "" && class.Documents == nil {
		return nil, fmt.Errorf("machines of provider %s are described by documents of kind %s, and a class needs them; give a cluster spec that has them with -f", class.Provider.Name, machine)
	}
	m := classMaker{Class: class, workers: workerRoles(class.Documents)}
	if err := m.readDefinitions(); err != nil {
		return nil, err
	}
	var err error
	if m.endpoint, err = m.readEndpoint(); err != nil {
		return nil, err
	}
	if err := m.readImages(); err != nil {
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

// classMaker puts a ClusterClass together.
type classMaker struct {
	Class
	// workers are the classes of workers.
	workers []role
	// endpoint of each cluster, with a placeholder; nil where the provider chooses it.
	endpoint *v1alpha1.Endpoint
	// images are the variables for the images of documents.
	images map[v1alpha1.Ref]imagesVariable
	// rendered is the cluster at each of the releases.
	rendered  []parts
	variables []clusterv1.ClusterClassVariable
	// patches that follow from the renderings come before those that are defined
	// for variables.
	patches, defined []clusterv1.ClusterClassPatch
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

// classTemplates are the templates that a class names.
type classTemplates struct {
	infrastructure, controlPlane, controlPlaneMachine *unstructured.Unstructured
	// bootstraps and machines are those of each class of workers.
	bootstraps, machines []*unstructured.Unstructured
}

// all are the templates in the order in which they are written.
func (t classTemplates) all() []*unstructured.Unstructured {
	all := []*unstructured.Unstructured{t.infrastructure, t.controlPlane, t.controlPlaneMachine}
	for i := range t.machines {
		all = append(all, t.bootstraps[i], t.machines[i])
	}
	return all
}

// objects are the templates and the class.
func (m *classMaker) objects() ([]templater.Object, error) {
	var all classTemplates
	var err error
	if all.infrastructure, err = m.template(ofCluster(), "Template", m.infrastructureTemplate); err != nil {
		return nil, err
	}
	controlPlane := m.ofControlPlane()
	if all.controlPlane, err = m.template(controlPlane, "Template", controlPlaneTemplate); err != nil {
		return nil, err
	}
	if all.controlPlaneMachine, err = m.template(controlPlane, "", func(p parts) (map[string]any, error) { return machineTemplateOf(p.controlPlaneMachine), nil }); err != nil {
		return nil, err
	}
	for i, role := range m.workers {
		bootstrap, err := m.template(role, "", func(p parts) (map[string]any, error) { return withoutMetadata(p.workers[i].bootstrap), nil })
		if err != nil {
			return nil, err
		}
		machine, err := m.template(role, "", func(p parts) (map[string]any, error) { return machineTemplateOf(p.workers[i].machine), nil })
		if err != nil {
			return nil, err
		}
		all.bootstraps, all.machines = append(all.bootstraps, bootstrap), append(all.machines, machine)
	}
	return encode(m.class(all), all.all())
}

// class with references to its templates.
func (m *classMaker) class(templates classTemplates) *clusterv1.ClusterClass {
	last := m.rendered[len(m.rendered)-1]
	class := &clusterv1.ClusterClass{}
	class.APIVersion, class.Kind = clusterv1.GroupVersion.String(), "ClusterClass"
	class.Name, class.Namespace = m.Name, m.Namespace
	class.Annotations = map[string]string{ProviderAnnotation: m.Provider.Name}
	class.Spec.Infrastructure.TemplateRef = reference(templates.infrastructure)
	class.Spec.ControlPlane.Metadata.Annotations = last.controlPlane.GetAnnotations()
	class.Spec.ControlPlane.TemplateRef = reference(templates.controlPlane)
	class.Spec.ControlPlane.MachineInfrastructure.TemplateRef = reference(templates.controlPlaneMachine)
	class.Spec.ControlPlane.HealthCheck = clusterv1.ControlPlaneClassHealthCheck{
		Checks: clusterv1.ControlPlaneClassHealthCheckChecks(last.controlPlaneCheck.Checks),
		Remediation: clusterv1.ControlPlaneClassHealthCheckRemediation{
			TriggerIf: clusterv1.ControlPlaneClassHealthCheckRemediationTriggerIf(last.controlPlaneCheck.Remediation.TriggerIf),
		},
	}
	for i, role := range m.workers {
		check := last.workers[i].check
		workers := clusterv1.MachineDeploymentClass{Class: role.workers}
		workers.Bootstrap.TemplateRef, workers.Infrastructure.TemplateRef = reference(templates.bootstraps[i]), reference(templates.machines[i])
		workers.HealthCheck = clusterv1.MachineDeploymentClassHealthCheck{
			Checks: clusterv1.MachineDeploymentClassHealthCheckChecks(check.Checks),
			Remediation: clusterv1.MachineDeploymentClassHealthCheckRemediation{
				TriggerIf: clusterv1.MachineDeploymentClassHealthCheckRemediationTriggerIf(check.Remediation.TriggerIf),
			},
		}
		class.Spec.Workers.MachineDeployments = append(class.Spec.Workers.MachineDeployments, workers)
	}
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

// infrastructureTemplate makes the template of the infrastructure cluster, with the labels
// and annotations that the documents give it.
func (m *classMaker) infrastructureTemplate(p parts) (map[string]any, error) {
	if err := m.hasTemplate(p.infrastructure.GetKind()); err != nil {
		return nil, err
	}
	if err := m.checkOwnObjects(); err != nil {
		return nil, err
	}
	template, err := templateOf(p.infrastructure)
	if own := ownMetadata(p.infrastructure); m.Documents != nil && len(own) > 0 {
		template["spec"].(map[string]any)["template"].(map[string]any)["metadata"] = own
	}
	return template, err
}

// hasTemplate refuses infrastructure clusters of a kind that a class cannot have.
func (m *classMaker) hasTemplate(kind string) error {
	if slices.Contains(m.Provider.Spec.WithoutTemplate, kind) {
		return fmt.Errorf("a ClusterClass needs a template of the infrastructure cluster, and the infrastructure provider of %s has no kind %[1]sTemplate; make clusters of it without a class", kind)
	}
	return nil
}

func withoutMetadata(template *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": template.GetAPIVersion(), "kind": template.GetKind(), "spec": template.Object["spec"]}
}

// machineTemplateOf is a machine template with the labels and annotations that its document
// gives it.
func machineTemplateOf(template *unstructured.Unstructured) map[string]any {
	content := withoutMetadata(template)
	if own := ownMetadata(template); len(own) > 0 {
		content["metadata"] = own
	}
	return content
}

// ownMetadata are the labels and annotations of an object but those that say which cluster
// it belongs to.
func ownMetadata(object *unstructured.Unstructured) map[string]any {
	own := map[string]any{}
	labels, _, _ := unstructured.NestedMap(object.Object, "metadata", "labels")
	delete(labels, clusterv1.ClusterNameLabel)
	delete(labels, v1alpha1.ClusterLabel)
	if len(labels) > 0 {
		own["labels"] = labels
	}
	if annotations, _, _ := unstructured.NestedMap(object.Object, "metadata", "annotations"); len(annotations) > 0 {
		own["annotations"] = annotations
	}
	return own
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
