package manifests

import (
	"bytes"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// infrastructureData is the data of the templates of a provider.
type infrastructureData struct {
	owner
	// Datacenter are the fields of the provider's document.
	Datacenter map[string]any
	// LoadBalancerImage is that of the versions bundles; empty where they have none.
	LoadBalancerImage versionsbundle.Image
}

func (r renderer) infrastructure(name string) infrastructureData {
	return infrastructureData{r.owner(name), r.Config.Datacenter.Complete, r.Provider.LoadBalancerImage(r.Set[r.Versions.ControlPlane])}
}

// infrastructureObjects returns the infrastructure cluster, and the further objects of the
// provider.
func (r renderer) infrastructureObjects() (templater.Object, []templater.Object, error) {
	cluster, err := r.infrastructureCluster()
	if err != nil || !r.Provider.Has(providers.ResourcesTemplate) {
		return cluster, nil, err
	}
	text, err := r.templates.Render(providers.ResourcesTemplate, r.infrastructure(""))
	if err != nil {
		return cluster, nil, err
	}
	var resources []templater.Object
	for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
		if document = bytes.TrimSpace(document); len(document) == 0 {
			continue
		}
		resource, err := r.checker.Decode(append(bytes.TrimPrefix(document, []byte("---\n")), '\n'))
		if err != nil {
			return cluster, nil, fmt.Errorf("%s: %w", providers.ResourcesTemplate, err)
		}
		resources = append(resources, resource)
	}
	return cluster, resources, nil
}

// infrastructureCluster returns the infrastructure cluster, with the endpoint of the spec
// where Cluster API's contract has it.
func (r renderer) infrastructureCluster() (templater.Object, error) {
	text, err := r.templates.Render(providers.InfrastructureTemplate, r.infrastructure(r.cluster()))
	if err != nil {
		return templater.Object{}, err
	}
	if text, err = r.withEndpoint(text); err != nil {
		return templater.Object{}, err
	}
	object, err := r.checker.Decode(text)
	if err != nil {
		return templater.Object{}, fmt.Errorf("%s: %w", providers.InfrastructureTemplate, err)
	}
	return object, nil
}

// controlPlaneAnnotations returns annotations of the control plane object.
func (r renderer) controlPlaneAnnotations() (map[string]string, error) {
	if !r.Provider.Has(providers.AnnotationsTemplate) {
		return nil, nil
	}
	text, err := r.templates.Render(providers.AnnotationsTemplate, r.infrastructure(""))
	if err != nil {
		return nil, err
	}
	var annotations map[string]string
	if err := yaml.UnmarshalStrict(text, &annotations); err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.AnnotationsTemplate, err)
	}
	return annotations, nil
}

// machineData is the data of the templates of a provider for the machines of a part.
type machineData struct {
	infrastructureData
	ControlPlane bool
	// Named is true where the document has the name of the template.
	Named bool
	// Version of Kubernetes, such as v1.34.2.
	Version string
	// Machine are the fields of the document that describes the machines.
	Machine map[string]any
	// NodeImage is that of the versions bundles; empty where they have none.
	NodeImage string
	// PreLoadImages are those of the versions bundles.
	PreLoadImages []versionsbundle.Image
	// Image is the entry of the document's list of images for the version.
	Image map[string]any
	// FailureDomain is the entry of the list of failure domains; empty where there is none.
	FailureDomain map[string]any
}

// machinePart is what the templates of a provider need to know of a part.
type machinePart struct {
	controlPlane bool
	// ref names the document that describes the machines.
	ref *v1alpha1.Ref
	// failureDomain is the name of the one that the machines are in.
	failureDomain string
}

func (r renderer) machineData(name string, of machinePart, release versionsbundle.Release) machineData {
	m := machineData{
		infrastructureData: r.infrastructure(name), ControlPlane: of.controlPlane, Version: release.Version.String(),
		Machine: map[string]any{}, NodeImage: r.Provider.NodeImage(release), PreLoadImages: r.Provider.PreLoadImages(release), Image: map[string]any{},
		FailureDomain: r.Provider.FailureDomain(r.Config.Datacenter, of.failureDomain),
	}
	if of.ref == nil {
		return m
	}
	document := r.Config.Machines[*of.ref]
	m.Machine = document.Complete
	m.Image, _ = r.Provider.Image(document, release.Version) // validations and plans refuse what lacks one
	return m
}

// machineTemplate renders the machine template of a part.
func (r renderer) machineTemplate(ownerName string, of machinePart, release versionsbundle.Release) (templater.Object, error) {
	data := r.machineData(templater.Unnamed, of, release)
	template := r.machineFieldsOf(of.ref, machineTemplateField)
	if kept := r.keptName(template, template.text("kind")); kept != "" && len(data.Image) == 0 {
		data.Name, data.Named = kept, true
	}
	return r.immutable(ownerName, providers.MachineTemplate, data)
}

// failureDomain returns the name by which Cluster API knows the failure domain of a group;
// empty where the infrastructure is to choose.
func (r renderer) failureDomain(group v1alpha1.WorkerNodeGroupConfiguration) (string, error) {
	name := failureDomain(group)
	if name == "" || !r.Provider.Has(providers.FailureDomainTemplate) {
		return name, nil
	}
	text, err := r.templates.Render(providers.FailureDomainTemplate, struct {
		infrastructureData
		FailureDomain map[string]any
	}{r.infrastructure(""), r.Provider.FailureDomain(r.Config.Datacenter, name)})
	if err != nil {
		return "", err
	}
	var known string
	if err := yaml.UnmarshalStrict(text, &known); err != nil {
		return "", fmt.Errorf("decoding what %s renders: %w", providers.FailureDomainTemplate, err)
	}
	return known, nil
}
