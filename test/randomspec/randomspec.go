// Package randomspec makes random cluster specs for the infrastructure providers: documents
// that follow from the schemas in their folders, and a small cluster around them.
package randomspec

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// cluster is the name of the cluster and of its documents.
const cluster = "random"

// Generator makes specs for one provider.
type Generator struct {
	provider providers.Provider
	kinds    v1alpha1.InfrastructureKinds
	rules    map[string]*strictyaml.Schema
}

// New returns what makes specs for a provider. It may not be used by several goroutines.
func New(provider providers.Provider) *Generator {
	return &Generator{provider: provider, kinds: providers.Set{provider.Name: provider}.Kinds(), rules: map[string]*strictyaml.Schema{}}
}

// Spec is a cluster and the documents of its provider.
type Spec struct {
	// Version is the minor of Kubernetes.
	Version string
	// Endpoint is where the API server is reached; empty where the provider says that.
	Endpoint string
	// Datacenter and Machine are the specs of the documents; without a kind of documents
	// that describe machines there is no Machine.
	Datacenter, Machine map[string]any

	provider providers.Provider
}

// Spec returns a spec that keeps the schemas. The same seed gives the same.
func (g *Generator) Spec(seed uint64) (Spec, error) {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 0)), rules: g.rules}
	spec := Spec{Version: fmt.Sprintf("1.%d", 31+d.IntN(6)), provider: g.provider}
	if source := g.provider.Spec.Endpoint; source == providers.EndpointOfSpec || source == providers.EndpointOfEither && d.chance() {
		spec.Endpoint = "10.0.0.5"
	}
	var err error
	if spec.Datacenter, err = g.document(d, g.provider.Spec.Datacenter.Kind); err != nil || g.provider.Spec.Machine.Kind == "" {
		return spec, err
	}
	if spec.Machine, err = g.document(d, g.provider.Spec.Machine.Kind); err == nil {
		spec.nameImages(d)
	}
	return spec, err
}

// document draws the spec of a document.
func (g *Generator) document(d *draw, kind string) (map[string]any, error) {
	value, err := d.value(g.kinds[kind].Schema().Definition(), kind+".spec")
	if err != nil {
		return nil, err
	}
	fields, _ := value.(map[string]any)
	return fields, nil
}

// nameImages has one image of the list be for the version of the cluster, unless the document
// has one for that besides, and names images after the versions that they are for.
func (s Spec) nameImages(d *draw) {
	of := s.provider.Spec
	_, besides := s.Machine[of.Image]
	images, _ := s.Machine[of.Images].([]any)
	for i, entry := range images {
		image := entry.(map[string]any)
		switch {
		case i == 0 && !(besides && d.chance()):
			image[versionField] = s.Version
		case image[versionField] == s.Version:
			image[versionField] = "1.99" // a list has each version once
		}
		version, _ := image[versionField].(string)
		s.nameImage(image, version)
	}
	s.nameImage(s.Machine, s.Version)
}

// versionField of an entry of a list of images is the version that it is for.
const versionField = "kubernetesVersion"

// nameImage adds the minor of a version to the name of the image in some fields, where the
// name tells it.
func (s Spec) nameImage(fields map[string]any, version string) {
	of := s.provider.Spec
	asked, err := v1alpha1.ParseKubernetesVersion(version)
	if of.ImageName == nil || err != nil {
		return
	}
	at := of.Image
	if of.ImageName.Path != "" {
		fields, _ = fields[at].(map[string]any)
		at = of.ImageName.Path
	}
	if name, is := fields[at].(string); is {
		fields[at] = name + "-" + asked.Minor().String()
	}
}

// YAML returns the file of the spec.
func (s Spec) YAML() ([]byte, error) {
	part := map[string]any{"count": 1}
	if s.Endpoint != "" {
		part["endpoint"] = map[string]any{"host": s.Endpoint}
	}
	documents := []map[string]any{nil, document(s.provider.Spec.Datacenter.Kind, s.Datacenter)}
	if kind := s.provider.Spec.Machine.Kind; kind != "" {
		ref := map[string]any{"kind": kind, "name": cluster}
		part["machineGroupRef"] = ref
		documents = append(documents, document(kind, s.Machine))
	}
	documents[0] = document(v1alpha1.ClusterKind, map[string]any{
		"kubernetesVersion":             s.Version,
		"controlPlaneConfiguration":     part,
		"workerNodeGroupConfigurations": s.groups(part["machineGroupRef"]),
		"clusterNetwork": map[string]any{
			"pods":     map[string]any{"cidrBlocks": []any{"192.168.0.0/16"}},
			"services": map[string]any{"cidrBlocks": []any{"10.96.0.0/12"}},
		},
		"datacenterRef": map[string]any{"kind": s.provider.Spec.Datacenter.Kind, "name": cluster},
	})
	texts := make([][]byte, len(documents))
	for i, document := range documents {
		text, err := yaml.Marshal(document)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return bytes.Join(texts, []byte("---\n")), nil
}

// groups are a group, and one in each failure domain that the provider's document lists, unless
// that says which groups are in it.
func (s Spec) groups(machines any) []any {
	names := []string{""}
	of := s.provider.Spec
	domains, _ := s.Datacenter[of.FailureDomains].([]any)
	for _, entry := range domains {
		if name, is := entry.(map[string]any)["name"].(string); is && of.Spread == "" {
			names = append(names, name)
		}
	}
	var groups []any
	for i, name := range names {
		group := map[string]any{"count": 1, "name": fmt.Sprintf("md-%d", i)}
		if machines != nil {
			group["machineGroupRef"] = machines
		}
		if name != "" {
			group["failureDomains"] = []any{name}
		}
		groups = append(groups, group)
	}
	return groups
}

func document(kind string, spec map[string]any) map[string]any {
	return map[string]any{"apiVersion": v1alpha1.APIVersion, "kind": kind, "metadata": map[string]any{"name": cluster}, "spec": spec}
}

// Rendered is a valid spec with its objects.
type Rendered struct {
	validations.Resolved
	Objects []templater.Object
}

// Render returns what 'generate manifests' makes of the spec, or why it is refused.
func (s Spec) Render(bundles *versionsbundle.Bundles, namespace string) (of Rendered, refusal, err error) {
	text, err := s.YAML()
	if err != nil {
		return Rendered{}, nil, err
	}
	known := providers.Set{s.provider.Name: s.provider}
	resolved, refusal := validations.Create(known.Decode("cluster.yaml", text), known, bundles, v1alpha1.ClusterVersions{})
	if refusal != nil {
		return Rendered{}, refusal, nil
	}
	objects, err := manifests.Render(manifests.Input{
		Config: resolved.Config, Provider: resolved.Provider, Versions: resolved.Versions, Set: resolved.Set, Namespace: namespace, Downloads: bundles.Releases(),
	})
	return Rendered{resolved, objects.All()}, nil, err
}
