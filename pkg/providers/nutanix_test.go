package providers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestNutanixRules: fields of Nutanix's documents that exclude or need each other.
func TestNutanixRules(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile("../manifests/testdata/nutanix-minimal/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const (
		uuid     = "00000000-0000-4000-8000-000000000001"
		endpoint = "endpoint: prism.example.com"
		domain   = endpoint + "\n  failureDomains:\n  - {name: east, cluster: {type: name, name: a}, subnets: "
		image    = "image: {type: name, name: ubuntu-2404-kube-v1.34}"
		either   = "Invalid value: give name with type name, or uuid with type uuid, and not both"
		system   = "Forbidden: machines with Bottlerocket need EKS Anywhere's fork of Cluster API; use osFamily ubuntu or redhat with an image of that"
	)
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing wrong":                {"", "", ""},
		"endpoint with a scheme":       {endpoint, "endpoint: https://prism.example.com", `22: spec.endpoint: Invalid value: must be a DNS name or an IP address, one of version 6 in brackets; remove the scheme, and give the port in port`},
		"endpoint of version 6":        {endpoint, "endpoint: '[fd00::1]'", ""},
		"no certificates":              {endpoint, endpoint + "\n  additionalTrustBundle: ca.crt", `23: spec.additionalTrustBundle: Invalid value: "ca.crt": should match '-----BEGIN [A-Z ]+-----'`},
		"credentials in a ConfigMap":   {endpoint, endpoint + "\n  credentialRef: {kind: ConfigMap}", `23: spec.credentialRef.kind: Unsupported value: "ConfigMap": supported values: "Secret"`},
		"name and uuid":                {image, "image: {type: name, name: a-1.34, uuid: " + uuid + "}", "32: spec.image: " + either},
		"a name in place of a uuid":    {image, "image: {type: uuid, name: a-1.34}", "32: spec.image: " + either},
		"no UUID":                      {image, "image: {type: uuid, uuid: '00000000000040008000000000000001'}", `32: spec.image.uuid: Invalid value: "00000000000040008000000000000001": should be at least 36 chars long`},
		"images of versions":           {image, "images: [{kubernetesVersion: '1.34', " + image + "}]", ""},
		"no image":                     {image, "", "27: spec: Invalid value: give image, what the machines are made from, or images, the same by version"},
		"too little memory":            {"memorySize: 8Gi", "memorySize: 2047Mi", "30: spec.memorySize: Invalid value: machines need a memory of at least 2Gi"},
		"memory as a number":           {"memorySize: 8Gi", "memorySize: 8589934592", `30: spec.memorySize: Invalid value: "8589934592": must be text; put it in quotes`},
		"too small a disk":             {"systemDiskSize: 40Gi", "systemDiskSize: 20G", "31: spec.systemDiskSize: Invalid value: machines need a disk of at least 20Gi"},
		"a GPU by two things":          {image, image + "\n  gpus: [{type: deviceID, deviceID: 8757, name: a}]", "33: spec.gpus[0]: Invalid value: give name with type name, or deviceID with type deviceID, and not both"},
		"a subnet twice":               {endpoint, domain + "[{type: name, name: a}, {type: uuid, uuid: " + uuid + "}, {type: name, name: a}]}", "24: spec.failureDomains[0]: Invalid value: a subnet is there twice; give each once"},
		"two failure domains the same": {endpoint, domain + "[{type: name, name: a}]}\n  - {name: east, cluster: {type: name, name: b}, subnets: [{type: name, name: b}]}", `25: spec.failureDomains[1]: Duplicate value: {"name":"east"}`},
		"Bottlerocket, twice": {
			image, image + "\n  osFamily: bottlerocket\n  cluster: {type: name, name: a}\n  subnet: {type: name, name: a}\n---\napiVersion: clusterctl-x.io/v1alpha1\nkind: NutanixMachineConfig\nmetadata: {name: others}\nspec:\n  vcpuSockets: 2\n  vcpusPerSocket: 1\n  memorySize: 8Gi\n  systemDiskSize: 40Gi\n  osFamily: bottlerocket\n  " + image,
			"33: spec.osFamily: " + system + " (also on line 45)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := "", ""
			config := providers.BuiltIn().Decode("cluster.yaml", []byte(strings.Replace(string(spec), test.before, test.after, 1)))
			if err := config.Problems.OrNil(); err != nil {
				got = err.Error()
			}
			if test.want != "" {
				want = "cluster.yaml:" + test.want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNutanixFieldsThatDoNothing: a file of EKS Anywhere writes the name in any case.
func TestNutanixFieldsThatDoNothing(t *testing.T) {
	t.Parallel()
	const file = "apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: NutanixDatacenterConfig\nmetadata: {name: prod}\nspec: {endpoint: a, ccmExcludeNodeIps: [10.0.0.5]}\n"
	config := providers.BuiltIn().Decode("cluster.yaml", []byte(file))
	var got []string
	for _, warning := range config.Warnings {
		got = append(got, warning.Path+" "+warning.Text)
	}
	want := []string{"spec.ccmExcludeNodeIps is for the cloud controller manager, which clusterctl-x does not install; have the addresses, and that of the endpoint, in ignoredNodeIPs of its configuration"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}
