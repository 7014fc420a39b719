// Package topology computes what Cluster API generates for a cluster from a
// ClusterClass, with Cluster API's own functions: the objects of its parts, the values
// of its variables, and the steps of an upgrade. It writes nothing.
package topology

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/exp/topology/scope"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Class is a ClusterClass with the templates that it names.
type Class struct {
	*clusterv1.ClusterClass
	Templates []*unstructured.Unstructured
}

// Versions that clusters of the class may have, in the order of the class; none
// where it does not say.
func (c Class) Versions() []v1alpha1.Version {
	var versions []v1alpha1.Version
	for _, text := range c.Spec.KubernetesVersions {
		if version, err := v1alpha1.ParseVersion(text); err == nil {
			versions = append(versions, version)
		}
	}
	return versions
}

// Content is a hash of all that clusters of the class are made from: its templates
// are never changed, and it names them.
func (c Class) Content() (string, error) {
	text, err := json.Marshal(c.Spec)
	return changes.ContentHash(text), err
}

// References are to the templates that a class names.
func References(class *clusterv1.ClusterClass) []clusterv1.ClusterClassTemplateReference {
	references := []clusterv1.ClusterClassTemplateReference{class.Spec.Infrastructure.TemplateRef, class.Spec.ControlPlane.TemplateRef}
	if machine := class.Spec.ControlPlane.MachineInfrastructure.TemplateRef; machine.IsDefined() {
		references = append(references, machine)
	}
	for _, workers := range class.Spec.Workers.MachineDeployments {
		references = append(references, workers.Bootstrap.TemplateRef, workers.Infrastructure.TemplateRef)
	}
	for _, pools := range class.Spec.Workers.MachinePools {
		references = append(references, pools.Bootstrap.TemplateRef, pools.Infrastructure.TemplateRef)
	}
	return references
}

// MissingError reports that a class names a template that does not exist.
type MissingError struct {
	Class    string
	Template string // Kind/name
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("ClusterClass %s names %s, which does not exist; apply it, or name another one", e.Class, e.Template)
}

// GenerateError reports that Cluster API cannot generate the objects of a cluster from
// its class.
type GenerateError struct {
	Class, Cluster string
	// Patch that fails; empty where it is none.
	Patch  string
	Reason string
}

func (e *GenerateError) Error() string {
	return fmt.Sprintf("ClusterClass %s can make nothing of cluster %s: %s", e.Class, e.Cluster, e.Reason)
}

var failedPatch = regexp.MustCompile(`for patch "([^"]*)": (.*)$`)

// failedOnPurpose is an error of a template that calls fail, with its author's words.
var failedOnPurpose = regexp.MustCompile(`error calling fail: (.*)$`)

// newGenerateError reduces an error of Cluster API's generator to its innermost message.
func newGenerateError(class, cluster string, err error) error {
	e := &GenerateError{Class: class, Cluster: cluster, Reason: err.Error()}
	if m := failedPatch.FindStringSubmatch(e.Reason); m != nil {
		innermost := m[2]
		if said := failedOnPurpose.FindStringSubmatch(innermost); said != nil {
			innermost = said[1]
		}
		e.Patch, e.Reason = m[1], fmt.Sprintf("its patch %s fails: %s", m[1], innermost)
	}
	return e
}

// template returns a copy of the template that a reference names.
func (c Class) template(reference clusterv1.ClusterClassTemplateReference) (*unstructured.Unstructured, error) {
	for _, template := range c.Templates {
		if template.GetKind() == reference.Kind && template.GetName() == reference.Name {
			return template.DeepCopy(), nil
		}
	}
	return nil, &MissingError{Class: c.Name, Template: reference.Kind + "/" + reference.Name}
}

// blueprint is the class as Cluster API's functions take it.
func (c Class) blueprint(cluster *clusterv1.Cluster) (*scope.ClusterBlueprint, error) {
	b := &scope.ClusterBlueprint{
		Topology: cluster.Spec.Topology, ClusterClass: c.ClusterClass, ControlPlane: &scope.ControlPlaneBlueprint{},
		MachineDeployments: map[string]*scope.MachineDeploymentBlueprint{}, MachinePools: map[string]*scope.MachinePoolBlueprint{},
	}
	var err error
	if b.InfrastructureClusterTemplate, err = c.template(c.Spec.Infrastructure.TemplateRef); err != nil {
		return nil, err
	}
	if b.ControlPlane.Template, err = c.template(c.Spec.ControlPlane.TemplateRef); err != nil {
		return nil, err
	}
	if b.HasControlPlaneInfrastructureMachine() {
		if b.ControlPlane.InfrastructureMachineTemplate, err = c.template(c.Spec.ControlPlane.MachineInfrastructure.TemplateRef); err != nil {
			return nil, err
		}
	}
	if b.HasControlPlaneMachineHealthCheck() {
		b.ControlPlane.HealthCheck = c.Spec.ControlPlane.HealthCheck
	}
	for _, workers := range c.Spec.Workers.MachineDeployments {
		own := &scope.MachineDeploymentBlueprint{Metadata: workers.Metadata, HealthCheck: workers.HealthCheck}
		if own.BootstrapTemplate, err = c.template(workers.Bootstrap.TemplateRef); err != nil {
			return nil, err
		}
		if own.InfrastructureMachineTemplate, err = c.template(workers.Infrastructure.TemplateRef); err != nil {
			return nil, err
		}
		b.MachineDeployments[workers.Class] = own
	}
	return b, nil
}

// WithStatus is a class that Cluster API has not seen yet, with the definitions
// of variables that it would read from its spec. Those of runtime extensions
// stay as they were.
func WithStatus(class *clusterv1.ClusterClass) *clusterv1.ClusterClass {
	class = class.DeepCopy()
	var definitions []clusterv1.ClusterClassStatusVariable
	inline := map[string]bool{}
	for _, variable := range class.Spec.Variables {
		inline[variable.Name] = true
		definitions = append(definitions, clusterv1.ClusterClassStatusVariable{
			Name: variable.Name,
			Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{
				From: clusterv1.VariableDefinitionFromInline, Required: variable.Required, Schema: variable.Schema,
			}},
		})
	}
	for _, variable := range class.Status.Variables {
		external := len(variable.Definitions) > 0 && variable.Definitions[0].From != clusterv1.VariableDefinitionFromInline
		if external && !inline[variable.Name] {
			definitions = append(definitions, variable)
		}
	}
	class.Status.Variables = definitions
	return class
}

// External reports whether patches of the class come from runtime extensions, which
// only Cluster API calls.
func (c Class) External() bool {
	for _, patch := range c.Spec.Patches {
		if patch.External != nil {
			return true
		}
	}
	return false
}

// Provider of the machines of the class: what an annotation says, or the backend
// of Cluster API's provider for development. It is empty where neither is known.
func (c Class) Provider(annotation string) string {
	if provider := c.Annotations[annotation]; provider != "" {
		return provider
	}
	template, err := c.template(c.Spec.Infrastructure.TemplateRef)
	if err != nil {
		return ""
	}
	backend, _, err := unstructured.NestedMap(template.Object, "spec", "template", "spec", "backend")
	if err != nil || len(backend) != 1 {
		return ""
	}
	for name := range backend {
		return strings.ToLower(name)
	}
	return ""
}
