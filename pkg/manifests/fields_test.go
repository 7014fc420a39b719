package manifests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// outsideManifests are the fields whose value does not enter the manifests by
// itself, with the reason.
func outsideManifests() map[string]string {
	outside := map[string]string{
		"Cluster.spec.datacenterRef.kind":                                        "chooses the provider",
		"Cluster.spec.datacenterRef.name":                                        "must be the name of the document",
		"Cluster.spec.identityProviderRefs.kind":                                 "chooses the document",
		"Cluster.spec.identityProviderRefs.name":                                 "must be the name of the document",
		"Cluster.spec.controlPlaneConfiguration.upgradeRolloutStrategy.type":     "has one value, the default",
		"Cluster.spec.workerNodeGroupConfigurations.upgradeRolloutStrategy.type": "has one value, the default",
		"OIDCConfig.metadata.name":                                               "must be the name of the reference",
		"AWSIamConfig.metadata.name":                                             "must be the name of the reference",
		"OIDCConfig.metadata.namespace":                                          "must be the cluster's",
		"AWSIamConfig.metadata.namespace":                                        "must be the cluster's",
		"Cluster.spec.externalEtcdConfiguration.count":                           "is checked; that it does nothing is a warning",
		"Cluster.spec.clusterNetwork.cniConfig.kindnetd":                         "has no fields, and there is no other plugin in its place",
		"Cluster.spec.upgradePolicy.maxConcurrentWorkerGroups":                   "orders the steps of an upgrade, each of which is rendered alike",
		"Cluster.spec.upgradePolicy.maxWorkerVersionSkew":                        "decides which versions are valid, and the steps of an upgrade",
		"GCPMachineConfig.spec.rootDiskEncryptionKey.keyType":                    "has one value",
		"GCPMachineConfig.spec.additionalDisks.encryptionKey.keyType":            "has one value",
		"VSphereMachineConfig.spec.osFamily":                                     "is refused where it is bottlerocket; kubeadm runs alike on the others",
		"NutanixDatacenterConfig.spec.credentialRef.kind":                        "has one value",
		"NutanixMachineConfig.spec.osFamily":                                     "is that of the image; what there is no way to make is an error",
		"Cluster.spec.controlPlaneConfiguration.machineGroupRef.kind":            "there is one kind with this datacenter",
		"Cluster.spec.workerNodeGroupConfigurations.machineGroupRef.kind":        "there is one kind with this datacenter",
	}
	for _, identifier := range []string{
		"NutanixDatacenterConfig.spec.failureDomains.cluster", "NutanixDatacenterConfig.spec.failureDomains.subnets", "NutanixMachineConfig.spec.image",
		"NutanixMachineConfig.spec.images.image", "NutanixMachineConfig.spec.cluster", "NutanixMachineConfig.spec.subnet", "NutanixMachineConfig.spec.project", "NutanixMachineConfig.spec.gpus",
	} {
		outside[identifier+".type"] = "says which of the fields beside it is given"
	}
	for kind := range providers.BuiltIn().Kinds() {
		outside[kind+".metadata.name"] = "must be the name of the reference"
		outside[kind+".metadata.namespace"] = "must be the cluster's"
	}
	return outside
}

// TestEveryFieldActs changes and removes each value of the golden specs: what is
// rendered, or warned of, must be something else each time.
func TestEveryFieldActs(t *testing.T) {
	t.Parallel()
	acts := map[string]bool{}
	for _, c := range goldenCases(t) {
		spec, bundles := readFile(t, c.spec), readFile(t, c.bundles)
		before, ok := outcome(t, spec, bundles)
		if !ok {
			t.Fatalf("%s: %s", c.name, before)
		}
		for _, v := range valuesOf(t, spec) {
			acts[v.path] = acts[v.path] || slices.ContainsFunc(v.variants, func(variant []byte) bool {
				after, ok := outcome(t, variant, bundles)
				return ok && after != before
			})
		}
	}
	want := map[string]bool{}
	for _, path := range schemaFields(t) {
		_, otherwise := outsideManifests()[path]
		want[path] = !otherwise
	}
	maps.DeleteFunc(want, func(path string, _ bool) bool { _, otherwise := outsideManifests()[path]; return otherwise })
	maps.DeleteFunc(acts, func(path string, _ bool) bool { _, otherwise := outsideManifests()[path]; return otherwise })
	if diff := gocmp.Diff(want, acts); diff != "" {
		t.Errorf("fields that act (-want +got; false: its value changes nothing; missing: no golden spec has it):\n%s", diff)
	}
}

// outcome is what a spec is rendered to, with its warnings, or the errors.
func outcome(t *testing.T, spec, release []byte) (string, bool) {
	t.Helper()
	bundles, err := versionsbundle.Parse("bundles.yaml", release)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := validations.Create(providers.BuiltIn().Decode("cluster.yaml", spec), providers.BuiltIn(), bundles, v1alpha1.ClusterVersions{})
	if err != nil {
		return err.Error(), false
	}
	objects := mustRender(t, Input{
		Config: resolved.Config, Provider: resolved.Provider, Versions: resolved.Versions, Set: resolved.Set,
		Namespace: "namespace-" + resolved.Config.Cluster.Metadata.Namespace, Downloads: bundles.Releases(),
	})
	var warnings strings.Builder
	for _, warning := range resolved.Warnings {
		fmt.Fprintln(&warnings, warning.Path, warning.Text)
	}
	return string(text(objects)) + warnings.String(), true
}

// value is a place of a spec with the specs that have something else there.
type value struct {
	path     string // with the kind in front, without indices
	variants [][]byte
}

var listIndex = regexp.MustCompile(`\[[0-9]+\]`)

// valuesOf are the values of a file that are no mappings with fields of ours.
func valuesOf(t *testing.T, file []byte) []value {
	t.Helper()
	var documents []*yaml.Node
	for decoder := yaml.NewDecoder(bytes.NewReader(file)); ; {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, &document)
	}
	fields := schemaFields(t)
	var values []value
	for _, document := range documents {
		root := document.Content[0]
		kind := ""
		for i := 0; i < len(root.Content); i += 2 {
			if root.Content[i].Value == "kind" {
				kind = root.Content[i+1].Value
			}
		}
		visit(root, kind, func(path string, mapping *yaml.Node, i int) bool {
			path = listIndex.ReplaceAllString(path, "")
			if !slices.Contains(fields, path) {
				return true
			}
			values = append(values, value{path: path, variants: variants(t, documents, mapping, i)})
			return false
		})
	}
	return values
}

// visit calls a function with each key of the mappings in a document, at the
// i-th place of its mapping, and goes on below where that returns true.
func visit(node *yaml.Node, path string, do func(path string, mapping *yaml.Node, i int) bool) {
	for i := range node.Content {
		switch {
		case node.Kind == yaml.SequenceNode:
			visit(node.Content[i], fmt.Sprintf("%s[%d]", path, i), do)
		case i%2 == 0:
			if at := path + "." + node.Content[i].Value; do(at, node, i) {
				visit(node.Content[i+1], at, do)
			}
		}
	}
}

// variants of a file without a key of a mapping, and with other values of it.
func variants(t *testing.T, documents []*yaml.Node, mapping *yaml.Node, i int) [][]byte {
	t.Helper()
	all := mapping.Content
	mapping.Content = slices.Delete(slices.Clone(all), i, i+2)
	texts := [][]byte{write(t, documents)}
	mapping.Content = all
	old := all[i+1]
	for _, other := range others(old) {
		all[i+1] = other
		texts = append(texts, write(t, documents))
	}
	all[i+1] = old
	return texts
}

// others are other values of a field: of a list those with another first item.
func others(node *yaml.Node) []*yaml.Node {
	var nodes []*yaml.Node
	switch {
	case node.Kind == yaml.SequenceNode && len(node.Content) > 0:
		for _, first := range others(node.Content[0]) {
			list := *node
			list.Content = append([]*yaml.Node{first}, node.Content[1:]...)
			nodes = append(nodes, &list)
		}
	case node.Kind == yaml.MappingNode:
		nodes = append(nodes, &yaml.Node{Kind: yaml.MappingNode})
	case node.Kind == yaml.ScalarNode:
		for _, text := range otherTexts(node.Value) {
			scalar := *node
			scalar.Value = text
			nodes = append(nodes, &scalar)
		}
	}
	return nodes
}

// otherTexts has something that is valid at each place.
func otherTexts(text string) []string {
	others := []string{
		text + "x", "x" + text, "true", "false", "other", "1.32", "1m", "10.0.0.0/8", "10.0.0.0/9", "fd00:1::/53", "fd00:3::/112", "unix:///run/other/socket",
		"http://other.example.org:80", "https://10.0.0.99:2379", "us-east-1", "aws-cn", "CRD", "NoExecute", "Reconcile", "ConfigMap", "Secret", "OtherTemplate", "v1.33.3", "small", "large",
		"AWSClusterStaticIdentity", "tcp", "udp", "TCP", "UDP", "egress", "Volume", "00000000-0000-4000-8000-00000000000a", "96Gi",
	}
	if number, err := strconv.Atoi(text); err == nil {
		others = append(others, strconv.Itoa(number+1), strconv.Itoa(number+2), strconv.Itoa(max(0, number-1)))
	}
	return others
}

func write(t *testing.T, documents []*yaml.Node) []byte {
	t.Helper()
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	for _, document := range documents {
		if err := encoder.Encode(document); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// fieldSchema is what is read here of a JSON Schema.
type fieldSchema struct {
	Ref        string                 `json:"$ref"`
	Defs       map[string]fieldSchema `json:"$defs"`
	Properties map[string]fieldSchema `json:"properties"`
	Items      *fieldSchema           `json:"items"`
	Deprecated bool                   `json:"deprecated"`
}

// schemaFields are the paths of all fields without fields of their own, with
// the kind in front.
func schemaFields(t *testing.T) []string {
	t.Helper()
	var root fieldSchema
	if err := json.Unmarshal(config.SpecSchema, &root); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for name, kind := range root.Defs {
		if _, isKind := kind.Properties["kind"]; isKind && len(kind.Properties["metadata"].Ref) > 0 {
			paths = append(paths, root.leaves(kind, name)...)
		}
	}
	slices.Sort(paths)
	return paths
}

func (s fieldSchema) leaves(of fieldSchema, path string) []string {
	for of.Ref != "" || of.Items != nil {
		if of.Ref != "" {
			of = s.Defs[strings.TrimPrefix(of.Ref, "#/$defs/")]
		} else {
			of = *of.Items
		}
	}
	var paths []string
	for name, property := range of.Properties {
		isHeader := !strings.Contains(path, ".") && (name == "apiVersion" || name == "kind")
		if !property.Deprecated && !isHeader {
			paths = append(paths, s.leaves(property, path+"."+name)...)
		}
	}
	if len(paths) == 0 {
		return []string{path}
	}
	return paths
}
