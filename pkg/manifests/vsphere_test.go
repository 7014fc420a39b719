package manifests

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestVSphere: what fields of the documents of EKS Anywhere make of the objects of vSphere,
// where it is more than the field itself.
func TestVSphere(t *testing.T) {
	t.Parallel()
	const (
		datacenter = "  network: machines\n"
		machine    = "  osFamily: ubuntu\n"
		thumbprint = datacenter + "  thumbprint: 1E:3B\n"
	)
	var (
		clusterSpec  = []string{"VSphereCluster", "spec"}
		machines     = []string{"VSphereMachineTemplate", "spec", "template", "spec"}
		controlPlane = []string{"KubeadmControlPlane", "spec", "kubeadmConfigSpec"}
		workers      = []string{"KubeadmConfigTemplate", "spec", "template", "spec"}
	)
	for name, test := range map[string]struct {
		before, after string
		of            []string
		want          string
	}{
		"thumbprint":          {datacenter, thumbprint, append(clusterSpec, "thumbprint"), "1E:3B\n"},
		"not of machines":     {datacenter, thumbprint, append(machines, "thumbprint"), "null\n"},
		"insecure":            {datacenter, thumbprint + "  insecure: true\n", append(clusterSpec, "thumbprint"), "null\n"},
		"Secret of EKS-A":     {"", "", append(clusterSpec, "identityRef"), "kind: Secret\nname: prod-vsphere-credentials\n"},
		"disk of a size":      {machine, machine + "  diskGiB: 25\n", append(machines, "cloneMode"), "fullClone\n"},
		"linked clone":        {machine, machine + "  diskGiB: 25\n  cloneMode: linkedClone\n", append(machines, "cloneMode"), "linkedClone\n"},
		"disk as it is":       {"", "", append(machines, "cloneMode"), "null\n"},
		"root folder":         {machine, machine + "  folder: ''\n", append(machines, "folder"), "null\n"},
		"network":             {"", "", append(machines, "network"), "devices:\n- dhcp4: true\n  networkName: machines\n"},
		"networks":            {machine, machine + "  networks: [a, b]\n", append(machines, "network"), "devices:\n- dhcp4: true\n  networkName: a\n- dhcp4: true\n  networkName: b\n"},
		"users":               {machine, machine + "  users: [{name: a, sshAuthorizedKeys: ['', ssh-rsa A me]}, {name: b, sshAuthorizedKeys: ['']}]\n", append(workers, "users"), "- name: a\n  sshAuthorizedKeys:\n  - ssh-rsa A me\n  sudo: ALL=(ALL) NOPASSWD:ALL\n- name: b\n  sudo: ALL=(ALL) NOPASSWD:ALL\n"},
		"users and no user":   {"", "", append(controlPlane, "users"), "null\n"},
		"time":                {machine, machine + "  hostOSConfiguration: {ntpConfiguration: {servers: [a]}}\n", append(workers, "ntp"), "enabled: true\nservers:\n- a\n"},
		"hostname of workers": {"", "", append(workers, "preKubeadmCommands"), "- hostnamectl set-hostname '{{ ds.meta_data.hostname }}'\n- echo '127.0.0.1 {{ ds.meta_data.hostname }}' >>/etc/hosts\n"},
		"node of workers":     {"", "", append(workers, "joinConfiguration", "nodeRegistration", "name"), "'{{ ds.meta_data.hostname }}'\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := strings.Replace(string(readFile(t, "testdata/vsphere-minimal/cluster.yaml")), test.before, test.after, 1)
			if diff := gocmp.Diff(test.want, fieldOf(t, spec, test.of...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", strings.Join(test.of, "."), diff)
			}
		})
	}
}

// fieldOf returns a field of the first object of a kind that is rendered of a spec.
func fieldOf(t *testing.T, spec string, path ...string) string {
	t.Helper()
	for _, object := range mustRender(t, resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml"))) {
		var fields map[string]any
		if err := yaml.Unmarshal(object.YAML, &fields); err != nil {
			t.Fatal(err)
		}
		if fields["kind"] != path[0] {
			continue
		}
		value, _, err := unstructured.NestedFieldNoCopy(fields, path[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	t.Fatalf("no %s was rendered", path[0])
	return ""
}

// TestVSphereReferences: credentials belong to one cluster, but for those of an identity that
// several may have.
func TestVSphereReferences(t *testing.T) {
	t.Parallel()
	secret := func(name string) []Reference {
		return []Reference{{Kind: "Secret", Name: name, Keys: []string{"username", "password"}, For: "access to vCenter", Exclusive: true}}
	}
	for name, test := range map[string]struct {
		identity string
		want     []Reference
	}{
		"none named":           {"", secret("prod-vsphere-credentials")},
		"a Secret":             {"  identityRef: {name: vcenter}\n", secret("vcenter")},
		"identity of clusters": {"  identityRef: {kind: VSphereClusterIdentity, name: vcenter}\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := strings.Replace(string(readFile(t, "testdata/vsphere-minimal/cluster.yaml")), "  network: machines\n", "  network: machines\n"+test.identity, 1)
			config := providers.BuiltIn().Decode("cluster.yaml", []byte(spec))
			got, err := References(config, providers.BuiltIn()["vsphere"])
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}
