package providers_test

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestBuiltIn: those that clusterctl-x brings along can be read.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff([]string{"aws", "cloudstack", "clusterapi", "docker", "gcp", "inmemory", "nutanix", "openstack", "vsphere"}, providers.BuiltIn().Names()); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	folders, err := fs.Sub(config.Providers, "providers")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := providers.Load("config/providers", folders); err != nil {
		t.Error(err)
	}
}

const whole = `apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata:
  name: foo
spec:
  datacenter:
    kind: FooDatacenterConfig
  infrastructure:
    apiVersion: foo.example.org/v1
    cluster: FooCluster
    machineTemplate: FooMachineTemplate
`

// TestLoad reads folders with a mistake, and says everything that is wrong with them.
func TestLoad(t *testing.T) {
	t.Parallel()
	folder := func(name, text string) fstest.MapFS {
		return fstest.MapFS{
			name + "/provider.yaml":                    {Data: []byte(text)},
			name + "/datacenter.schema.yaml":           {Data: []byte("type: object\n")},
			name + "/infrastructure-cluster.yaml.tmpl": {},
			name + "/machine-template.yaml.tmpl":       {},
			name + "/sample.yaml.tmpl":                 {},
		}
	}
	for name, test := range map[string]struct {
		files fstest.MapFS
		want  string
	}{
		"a provider":           {folder("foo", whole), ""},
		"no directory":         {fstest.MapFS{}, ""},
		"a file":               {fstest.MapFS{"foo.yaml": {}}, "dir/foo.yaml: is a file; a provider is a folder with a provider.yaml"},
		"no provider.yaml":     {fstest.MapFS{"foo/class.yaml": {}}, "dir/foo/provider.yaml: open provider.yaml: file does not exist; a provider is described in it"},
		"another kind":         {folder("foo", "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\n"), `dir/foo/provider.yaml:2: kind: Unsupported value: "Cluster": supported values: "Provider"`},
		"the name of another":  {folder("bar", whole), `dir/bar/provider.yaml:4: metadata.name: Invalid value: "foo": must be bar, the name of the folder`},
		"two of the same kind": {merged(folder("foo", whole), folder("goo", strings.Replace(whole, "name: foo", "name: goo", 1))), "dir/goo/provider.yaml: spec.datacenter.kind: FooDatacenterConfig is a kind of provider foo already; give each provider kinds of its own"},
		"several mistakes": {folder("foo", `apiVersion: clusterctl-x.io/v1alpha1
kind: Provider
metadata: {name: foo}
spec:
  datacenter: {kind: ""}
  infrastructure: {apiVersion: v1, cluster: FooCluster}
  node:
    kubeletExtraArgs: [{name: --node-ip, value: "::"}]
    fetchKubeadm: gone.sh
`), `dir/foo/provider.yaml:5: spec.datacenter.kind: Required value: the kind of the provider's document, such as ExampleDatacenterConfig
dir/foo/provider.yaml:6: spec.infrastructure.apiVersion: Invalid value: "v1": must be a group and a version, such as infrastructure.cluster.x-k8s.io/v1beta2
dir/foo/provider.yaml:6: spec.infrastructure.machineTemplate: Required value: the kind of the machine templates, such as ExampleMachineTemplate
dir/foo/provider.yaml:8: spec.node.kubeletExtraArgs[0].name: Invalid value: "--node-ip": must be the name of an argument without dashes before it, such as node-ip
dir/foo/provider.yaml:9: spec.node.fetchKubeadm: Invalid value: "gone.sh": must be a file in the folder of the provider`},
		"what cannot be read, and what is missing": {folder("foo", strings.Replace(whole, "cluster: FooCluster", "clusters: FooCluster", 1)), "dir/foo/provider.yaml:10: spec.infrastructure.clusters: Forbidden: unknown field; did you mean cluster?"},
		"no templates": {fstest.MapFS{"foo/provider.yaml": {Data: []byte(whole)}}, "dir/foo/infrastructure-cluster.yaml.tmpl: a provider needs this template: open infrastructure-cluster.yaml.tmpl: file does not exist\ndir/foo/machine-template.yaml.tmpl: a provider needs this template: open machine-template.yaml.tmpl: file does not exist\ndir/foo/sample.yaml.tmpl: a provider needs this template: open sample.yaml.tmpl: file does not exist\ndir/foo/datacenter.schema.yaml: open datacenter.schema.yaml: file does not exist; it describes the fields of the document"},
		"no field": {
			folder("foo", whole+"    imageFields: [ami.id, \"\", a..b]\n"),
			"dir/foo/provider.yaml:12: spec.infrastructure.imageFields[1]: Invalid value: \"\": must be the path of a field below spec.template.spec of a machine template, such as ami.id\n" +
				"dir/foo/provider.yaml:12: spec.infrastructure.imageFields[2]: Invalid value: \"a..b\": must be the path of a field below spec.template.spec of a machine template, such as ami.id",
		},
		"a field of old": {folder("foo", whole+"  nodeImage: true\n"), "dir/foo/provider.yaml:12: spec.nodeImage: Forbidden: unknown field; did you mean nodeImages?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if _, err := providers.Load("dir", test.files); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func merged(all ...fstest.MapFS) fstest.MapFS {
	files := fstest.MapFS{}
	for _, some := range all {
		maps.Copy(files, some)
	}
	return files
}
