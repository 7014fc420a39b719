package providers

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Kind of the document in provider.yaml.
const Kind = "Provider"

// Names of files of a provider.
const (
	providerFile = "provider.yaml"
	// InfrastructureTemplate renders the infrastructure cluster. Its data are Name, Cluster
	// and Namespace.
	InfrastructureTemplate = "infrastructure-cluster.yaml.tmpl"
	// MachineTemplate renders the machine template of a part. Its data are those of
	// InfrastructureTemplate, ControlPlane, Image and Datacenter, the fields of the
	// provider's document.
	MachineTemplate = "machine-template.yaml.tmpl"
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
	Datacenter     Datacenter     `json:"datacenter"`
	Infrastructure Infrastructure `json:"infrastructure"`
	// NodeImages is true where machines are made from the node images that the versions
	// bundles have under the name of the provider.
	NodeImages bool     `json:"nodeImages,omitempty"`
	Node       NodeSpec `json:"node,omitzero"`
}

// Datacenter is the provider's document in a cluster spec.
type Datacenter struct {
	// Kind that datacenterRef names.
	Kind string `json:"kind"`
	// Defaults of fields of its spec.
	Defaults map[string]string `json:"defaults,omitempty"`
}

// Infrastructure are the kinds of the provider's objects.
type Infrastructure struct {
	// APIVersion of both kinds, as the templates have it.
	APIVersion string `json:"apiVersion"`
	// Cluster is the kind of the infrastructure cluster.
	Cluster string `json:"cluster"`
	// MachineTemplate is the kind of the machine templates.
	MachineTemplate string `json:"machineTemplate"`
}

// Group is the API group of both kinds.
func (i Infrastructure) Group() string {
	return schema.FromAPIVersionAndKind(i.APIVersion, i.Cluster).Group
}

// NodeSpec is how kubeadm runs on the provider's machines: the fields of Node.
type NodeSpec struct {
	CertSANs         []string   `json:"certSANs,omitempty"`
	CRISocket        string     `json:"criSocket,omitempty"`
	KubeletExtraArgs []ArgSince `json:"kubeletExtraArgs,omitempty"`
	SimulatedCoreDNS bool       `json:"simulatedCoreDNS,omitempty"`
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

// Load reads the providers in the folders of the directory "providers" of parent, which
// messages call by its name. The error has everything that is wrong with them.
func Load(name string, parent fs.FS) (Set, error) {
	dir := path.Join(name, "providers")
	folders, err := fs.Sub(parent, "providers")
	if err != nil {
		return nil, err
	}
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
		if other, twice := set.Of(provider.Spec.Datacenter.Kind); err == nil && twice {
			err = fmt.Errorf("%s: spec.datacenter.kind: %s is the kind of provider %s already; give each provider a kind of its own", path.Join(dir, entry.Name(), providerFile), other.Spec.Datacenter.Kind, other.Name)
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
	for _, template := range []string{InfrastructureTemplate, MachineTemplate} {
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
	kinds := spec.Child("infrastructure")
	for _, required := range []struct {
		path  *field.Path
		value string
		form  string
	}{
		{spec.Child("datacenter", "kind"), d.Spec.Datacenter.Kind, "the kind of the provider's document, such as DockerDatacenterConfig"},
		{kinds.Child("cluster"), d.Spec.Infrastructure.Cluster, "the kind of the infrastructure cluster, such as DevCluster"},
		{kinds.Child("machineTemplate"), d.Spec.Infrastructure.MachineTemplate, "the kind of the machine templates, such as DevMachineTemplate"},
	} {
		if required.value == "" {
			errs = append(errs, field.Required(required.path, required.form))
		}
	}
	if version, err := schema.ParseGroupVersion(d.Spec.Infrastructure.APIVersion); err != nil || version.Group == "" || version.Version == "" {
		errs = append(errs, field.Invalid(kinds.Child("apiVersion"), d.Spec.Infrastructure.APIVersion, "must be a group and a version, such as infrastructure.cluster.x-k8s.io/v1beta2"))
	}
	args := spec.Child("node", "kubeletExtraArgs")
	for i, arg := range d.Spec.Node.KubeletExtraArgs {
		if reasons := validation.IsDNS1123Label(arg.Name); len(reasons) > 0 {
			errs = append(errs, field.Invalid(args.Index(i).Child("name"), arg.Name, "must be the name of an argument without dashes before it, such as node-ip"))
		}
	}
	return errs
}
