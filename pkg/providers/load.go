package providers

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// Kind of the document in provider.yaml.
const Kind = "Provider"

// Names of files of a provider.
const (
	providerFile = "provider.yaml"
	// InfrastructureTemplate renders the infrastructure cluster. Its data are Name, Cluster,
	// Namespace, Datacenter, the fields of the provider's document, and LoadBalancerImage of
	// the versions bundles, with Repository and Tag. An endpoint of the
	// spec is put into it where Cluster API's contract has it.
	InfrastructureTemplate = "infrastructure-cluster.yaml.tmpl"
	// MachineTemplate renders the machine template of a part. Its data are those of
	// InfrastructureTemplate, ControlPlane, Machine, the fields of the document that
	// describes the machines, Named, whether Name is that of the document, NodeImage and PreLoadImages of the versions bundles, Image, the entry of
	// the document's list of images, and FailureDomain, the entry of the list of failure
	// domains, which is empty where the part has none.
	MachineTemplate = "machine-template.yaml.tmpl"
	// DatacenterSchema is the schema of the spec of the provider's document, in the form
	// of that of a CustomResourceDefinition.
	DatacenterSchema = "datacenter.schema.yaml"
	// MachineSchema is the same of the documents that describe machines.
	MachineSchema = "machine.schema.yaml"
	// KubeadmTemplate renders what the provider, or its documents, have kubeadm do on the
	// machines of a part: fields of a KubeadmConfigSpec. Its data are those of
	// MachineTemplate and Version. It may be missing.
	KubeadmTemplate = "kubeadm.yaml.tmpl"
	// AnnotationsTemplate renders annotations of the control plane object. Its data are
	// those of InfrastructureTemplate. It may be missing.
	AnnotationsTemplate = "control-plane-annotations.yaml.tmpl"
	// ResourcesTemplate renders further objects, separated by lines of three dashes. Its
	// data are those of InfrastructureTemplate. It may be missing.
	ResourcesTemplate = "resources.yaml.tmpl"
	// FailureDomainTemplate renders, as text in YAML, the name by which Cluster API knows a failure domain. Its
	// data are those of InfrastructureTemplate and FailureDomain, the entry of the list of
	// failure domains. Without it that is the name of the entry; where it renders nothing the
	// infrastructure chooses.
	FailureDomainTemplate = "failure-domain.yaml.tmpl"
	// ReferencesTemplate renders a list of the Secrets and ConfigMaps that a cluster needs
	// and the user makes: References of package manifests. Its data are those of
	// InfrastructureTemplate. It may be missing.
	ReferencesTemplate = "references.yaml.tmpl"
	// SampleTemplate renders the provider's documents in a file to start from, which names
	// the machines of the control plane "control-plane", and those of its group "workers".
	// Its data are Name and Version of the cluster.
	SampleTemplate = "sample.yaml.tmpl"
	// ClassFile has the variables and patches of classes.
	ClassFile = "class.yaml"
)

// document is the content of provider.yaml.
type document struct {
	APIVersion string        `json:"apiVersion"`
	Kind       string        `json:"kind"`
	Metadata   v1alpha1.Meta `json:"metadata"`
	Spec       Spec          `json:"spec"`
}

// Spec describes an infrastructure provider.
type Spec struct {
	// Datacenter is the document that datacenterRef names.
	Datacenter Document `json:"datacenter"`
	// Machine is the document that machineGroupRef names; without a kind there is none.
	Machine Document `json:"machine,omitzero"`
	// Infrastructure is left out where the documents say what the objects are.
	Infrastructure *Infrastructure `json:"infrastructure,omitempty"`
	// Resources are the kinds of the objects that resources.yaml.tmpl renders, for the roles of
	// users.
	Resources []Resource `json:"resources,omitempty"`
	// WithoutTemplate are kinds of infrastructure clusters of which there is no template kind,
	// so that no ClusterClass can have them.
	WithoutTemplate []string `json:"withoutTemplate,omitempty"`
	// Simulated is true of machines that run no programs, so that there is nothing that
	// would read most of their configuration, and nothing for a network plugin to do.
	Simulated bool `json:"simulated,omitempty"`
	// Kindnetd is true where kind's network plugin can be used.
	Kindnetd bool `json:"kindnetd,omitempty"`
	// NodeImages is true where machines are made from the node images that the versions
	// bundles have under the name of the provider.
	NodeImages bool `json:"nodeImages,omitempty"`
	// ContainerNetwork is the network of the container engine that machines, which are
	// containers, are attached to; empty where they are none.
	ContainerNetwork string `json:"containerNetwork,omitempty"`
	// BootstrapFailure is how a machine of the provider says that its bootstrap failed and is
	// not tried again; nil where it does not.
	BootstrapFailure *BootstrapFailure `json:"bootstrapFailure,omitempty"`
	// SelfManaged is what a cluster needs to manage itself; nil where it cannot.
	SelfManaged *SelfManaged `json:"selfManaged,omitempty"`
	// Endpoint says who decides where the API server is reached.
	Endpoint EndpointSource `json:"endpoint,omitempty"`
	// Images is the field of the documents that describe machines which lists, by
	// kubernetesVersion, what machines of a version are made from. Where a document has
	// no such list, its machines are the same for every version.
	Images string `json:"images,omitempty"`
	// Image is the field of these documents that has the same for the versions that the
	// spec asks for, so that the list need have the others only: those that an upgrade
	// passes.
	Image string `json:"image,omitempty"`
	// ImageName is how the name of an image tells its version; nil where it does not.
	ImageName *ImageName `json:"imageName,omitempty"`
	// FailureDomains is the field of the provider's document that lists failure domains,
	// each with a name; the machines of a group can be in these only.
	FailureDomains string `json:"failureDomains,omitempty"`
	// Objects is true where the documents carry fields and names of Cluster API's objects too:
	// the provider's document in cluster and controlPlane, those that describe machines in
	// machineTemplate, bootstrapTemplate, machineDeployment and kubeadmDefaults.
	Objects bool `json:"objects,omitempty"`
	// Spread is the field of a failure domain that names groups: each of them becomes one
	// group in each failure domain that names it, called GROUP-DOMAIN.
	Spread string   `json:"spread,omitempty"`
	Node   NodeSpec `json:"node,omitzero"`
}

// ImageName is where the name of an image is that contains the minor of Kubernetes.
type ImageName struct {
	// Path of the name below the field that Image names; empty where that is the name. An
	// image without the name is not checked.
	Path string `json:"path,omitempty"`
	// Mismatch says what a name without the minor is: an Error or a Warning.
	Mismatch Severity `json:"mismatch"`
}

// Severity of a finding.
type Severity string

// Severities of findings.
const (
	SeverityError   Severity = "Error"
	SeverityWarning Severity = "Warning"
)

// BootstrapFailure is a condition of machines of the provider.
type BootstrapFailure struct {
	// Kind of the machines, in the API version of the provider's other objects.
	Kind string `json:"kind"`
	// Condition is the type of the condition.
	Condition string `json:"condition"`
	// Reason with which it is false.
	Reason string `json:"reason"`
}

// EndpointSource says who decides where the API server of a cluster is reached.
type EndpointSource string

// Sources of endpoints.
const (
	// EndpointOfProvider is one that the infrastructure provider chooses.
	EndpointOfProvider EndpointSource = "Provider"
	// EndpointOfSpec is one that the spec must give.
	EndpointOfSpec EndpointSource = "Spec"
	// EndpointOfEither is one that the spec may give.
	EndpointOfEither EndpointSource = "Either"
)

// Document is a kind of document of the provider in a cluster spec. Its schema is in a file
// of the folder.
type Document struct {
	Kind string `json:"kind"`
	// Fields are answers to fields that the schema does not have.
	Fields []v1alpha1.FieldAnswer `json:"fields,omitempty"`
}

// validate returns what is wrong with the answers of a document at a path.
func (d Document) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, answer := range d.Fields {
		at := path.Child("fields").Index(i)
		if answer.Path == "" {
			errs = append(errs, field.Required(at.Child("path"), "the path of the field below spec, without the indices of lists"))
		}
		if (answer.Error == "") == (answer.Warning == "") {
			errs = append(errs, field.Invalid(at, answer.Path, "must have an error or a warning, and not both"))
		}
	}
	return errs
}

// Infrastructure are the kinds of the provider's objects.
type Infrastructure struct {
	// APIVersion of both kinds, as the templates have it.
	APIVersion string `json:"apiVersion"`
	// Cluster is the kind of the infrastructure cluster.
	Cluster string `json:"cluster"`
	// ClusterField is a field below spec of infrastructure clusters that those of the provider
	// have, where other providers have the same kind; empty where it is the provider's alone.
	ClusterField string `json:"clusterField,omitempty"`
	// MachineTemplate is the kind of the machine templates.
	MachineTemplate string `json:"machineTemplate"`
	// ImageFields are the fields of spec.template.spec of such a template that name an image of
	// one version of Kubernetes, such as ami.id. A template without them fits every version.
	ImageFields []string `json:"imageFields,omitempty"`
}

// Resource is a kind of further objects.
type Resource struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// NodeSpec is how kubeadm runs on the provider's machines: the fields of Node.
type NodeSpec struct {
	CertSANs         []string   `json:"certSANs,omitempty"`
	CRISocket        string     `json:"criSocket,omitempty"`
	KubeletExtraArgs []ArgSince `json:"kubeletExtraArgs,omitempty"`
	// OverriddenKubeletFields are fields of a kubelet's configuration that arguments of
	// the kubelet, which win, set on these machines.
	OverriddenKubeletFields []string `json:"overriddenKubeletFields,omitempty"`
	// FetchKubeadm is the file of the script.
	FetchKubeadm string `json:"fetchKubeadm,omitempty"`
}

// ArgSince is an argument that a program has from a minor on.
type ArgSince struct {
	// Name has no dashes before it.
	Name  string `json:"name"`
	Value string `json:"value"`
	// From is the first minor that gets the argument; left out, all get it.
	From v1alpha1.Minor `json:"from,omitzero"`
}

// Load reads the providers in the folders of a directory, which messages call dir. The
// error has everything that is wrong with them.
func Load(dir string, folders fs.FS) (Set, error) {
	set, err := read(dir, folders)
	errs := []error{err}
	for _, name := range set.Names() {
		for _, kind := range set[name].kinds() {
			_, err := set[name].schema(kind)
			errs = append(errs, err)
		}
		if set[name].Known() {
			if _, err := templater.Parse(set[name].Files, "*.tmpl"); err != nil && set[name].Has(InfrastructureTemplate) { // else it has none
				errs = append(errs, fmt.Errorf("%s: %w", path.Join(dir, name), err))
			}
		}
	}
	return set, errors.Join(errs...)
}

// read is Load without the schemas and the content of templates, which are read when they
// are used.
func read(dir string, folders fs.FS) (Set, error) {
	entries, err := fs.ReadDir(folders, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the providers in %s: %w", dir, err)
	}
	set, errs := Set{}, []error{}
	for _, entry := range entries {
		if !entry.IsDir() {
			errs = append(errs, fmt.Errorf("%s: is a file; a provider is a folder with a %s", path.Join(dir, entry.Name()), providerFile))
			continue
		}
		files, err := fs.Sub(folders, entry.Name())
		if err != nil {
			return nil, err
		}
		provider, err := load(path.Join(dir, entry.Name()), entry.Name(), files)
		for _, document := range []struct{ name, kind string }{{"datacenter", provider.Spec.Datacenter.Kind}, {"machine", provider.Spec.Machine.Kind}} {
			if other, twice := set.ofKind(document.kind); err == nil && twice {
				err = fmt.Errorf("%s: spec.%s.kind: %s is a kind of provider %s already; give each provider kinds of its own", path.Join(dir, entry.Name(), providerFile), document.name, document.kind, other.Name)
			}
		}
		set[entry.Name()], errs = provider, append(errs, err)
	}
	return set, errors.Join(errs...)
}

// load reads a provider from its folder.
func load(dir, name string, files fs.FS) (Provider, error) {
	file := path.Join(dir, providerFile)
	data, err := fs.ReadFile(files, providerFile)
	if err != nil {
		return Provider{}, fmt.Errorf("%s: %w; a provider is described in it", file, err)
	}
	var d document
	read, err := strictyaml.Decode(file, data, Kind, v1alpha1.APIVersion, &d)
	if d.Kind != Kind {
		return Provider{}, err // nothing of it was read
	}
	wrong := []error{err}
	provider := Provider{Name: name, Spec: d.Spec, Files: files}
	errs := d.validate(name)
	if script := d.Spec.Node.FetchKubeadm; script != "" {
		text, err := fs.ReadFile(files, script)
		if err != nil {
			errs = append(errs, field.Invalid(field.NewPath("spec", "node", "fetchKubeadm"), script, "must be a file in the folder of the provider"))
		}
		provider.fetchKubeadm = string(text)
	}
	wrong = append(wrong, read.Locate(read.OmitUnread(errs)).OrNil())
	schema := func(file string) func() (*strictyaml.Schema, error) {
		return sync.OnceValues(func() (*strictyaml.Schema, error) { return readSchema(files, file, path.Join(dir, file)) })
	}
	provider.datacenter, provider.machine = schema(DatacenterSchema), schema(MachineSchema)
	for _, template := range []string{InfrastructureTemplate, MachineTemplate, SampleTemplate} {
		if _, err := fs.Stat(files, template); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: a provider needs this template: %w", path.Join(dir, template), err))
		}
	}
	return provider, errors.Join(wrong...)
}

// validate returns what is wrong with a provider in the folder of a name.
func (d document) validate(name string) field.ErrorList {
	var errs field.ErrorList
	if d.Metadata.Name != name {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), d.Metadata.Name, fmt.Sprintf("must be %s, the name of the folder", name)))
	}
	spec := field.NewPath("spec")
	if d.Spec.Images != "" && d.Spec.Machine.Kind == "" {
		errs = append(errs, field.Forbidden(spec.Child("images"), "is a field of documents that describe machines, and spec.machine names no kind; name it, or remove this"))
	}
	errs = append(errs, d.Spec.Datacenter.validate(spec.Child("datacenter"))...)
	errs = append(errs, d.Spec.Machine.validate(spec.Child("machine"))...)
	if d.Spec.Spread != "" && d.Spec.FailureDomains == "" {
		errs = append(errs, field.Required(spec.Child("failureDomains"), "the field that lists failure domains, since spec.spread is given"))
	}
	errs = append(errs, d.Spec.validateImage(spec)...)
	if d.Spec.BootstrapFailure != nil && d.Spec.Infrastructure == nil {
		errs = append(errs, field.Required(spec.Child("infrastructure"), "the API version of the kind, since spec.bootstrapFailure is given"))
	}
	if sources := []EndpointSource{"", EndpointOfProvider, EndpointOfSpec, EndpointOfEither}; !slices.Contains(sources, d.Spec.Endpoint) {
		errs = append(errs, field.NotSupported(spec.Child("endpoint"), d.Spec.Endpoint, sources[1:]))
	}
	if d.Spec.Datacenter.Kind == "" {
		errs = append(errs, field.Required(spec.Child("datacenter", "kind"), "the kind of the provider's document, such as ExampleDatacenterConfig"))
	}
	if d.Spec.Infrastructure != nil {
		errs = append(errs, d.Spec.Infrastructure.validate(spec.Child("infrastructure"))...)
	}
	errs = append(errs, d.Spec.SelfManaged.validate(spec.Child("selfManaged"))...)
	args := spec.Child("node", "kubeletExtraArgs")
	for i, arg := range d.Spec.Node.KubeletExtraArgs {
		if reasons := validation.IsDNS1123Label(arg.Name); len(reasons) > 0 {
			errs = append(errs, field.Invalid(args.Index(i).Child("name"), arg.Name, "must be the name of an argument without dashes before it, such as node-ip"))
		}
	}
	return errs
}

// readSchema reads the schema of a document of a provider, in a file that messages call by
// its path.
func readSchema(files fs.FS, name, path string) (*strictyaml.Schema, error) {
	data, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; it describes the fields of the document", path, err)
	}
	var definition apiextensionsv1.JSONSchemaProps
	if err := yaml.UnmarshalStrict(data, &definition); err != nil {
		return nil, fmt.Errorf("%s: reading the schema: %w", path, err)
	}
	schema, err := strictyaml.NewSchema(definition, v1alpha1.InfrastructureFormats())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return schema, nil
}

func (i Infrastructure) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if version, err := schema.ParseGroupVersion(i.APIVersion); err != nil || version.Group == "" || version.Version == "" {
		errs = append(errs, field.Invalid(path.Child("apiVersion"), i.APIVersion, "must be a group and a version, such as infrastructure.cluster.x-k8s.io/v1beta2"))
	}
	if i.Cluster == "" {
		errs = append(errs, field.Required(path.Child("cluster"), "the kind of the infrastructure cluster, such as ExampleCluster"))
	}
	if i.MachineTemplate == "" {
		errs = append(errs, field.Required(path.Child("machineTemplate"), "the kind of the machine templates, such as ExampleMachineTemplate"))
	}
	for at, image := range i.ImageFields {
		if slices.Contains(strings.Split(image, "."), "") {
			errs = append(errs, field.Invalid(path.Child("imageFields").Index(at), image, "must be the path of a field below spec.template.spec of a machine template, such as ami.id"))
		}
	}
	return errs
}
