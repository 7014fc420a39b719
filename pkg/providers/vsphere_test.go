package providers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestVSphereRules: fields of vSphere's documents that need others, and those that need EKS
// Anywhere's fork of Cluster API, which are reported first, and once.
func TestVSphereRules(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile("../manifests/testdata/vsphere-minimal/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const (
		bottlerocket = "Forbidden: machines with Bottlerocket need EKS Anywhere's fork of Cluster API; use osFamily ubuntu or redhat with a template of that, and remove what configures Bottlerocket (EKS Anywhere takes a document without an osFamily for one of Bottlerocket)"
		place        = "28: spec.failureDomains[0]: Invalid value: give computeCluster, resourcePool, datastore, folder and network, or none of them if name is that of a VSphereDeploymentZone which is there already"
		system       = "osFamily: ubuntu"
		template     = "template: ubuntu-kube-v1.34"
		network      = "network: machines"
	)
	for name, test := range map[string]struct{ before, after, want, warning string }{
		"nothing wrong":          {},
		"Bottlerocket":           {before: system, after: "osFamily: bottlerocket", want: "34: spec.osFamily: " + bottlerocket},
		"Bottlerocket unsaid":    {before: system, after: "numCPUs: 2", want: "32: spec.osFamily: " + bottlerocket},
		"told once":              {before: system, after: "osFamily: bottlerocket\n  hostOSConfiguration:\n    bottlerocketConfiguration: {kernel: {}}\n    certBundles: []", want: "34: spec.osFamily: " + bottlerocket + " (also on line 36, 37)"},
		"told first":             {before: template + "\n  " + system, after: "hostOSConfiguration: {certBundles: []}", want: "32: spec.osFamily: " + bottlerocket + " (also on line 33)\ncluster.yaml:32: spec: Invalid value: give template, what the machines are made from, or images, the same by version"},
		"no template":            {before: template, after: "numCPUs: 2", want: "32: spec: Invalid value: give template, what the machines are made from, or images, the same by version"},
		"templates by version":   {before: template, after: "images: [{kubernetesVersion: '1.34', template: a-1.34}]"},
		"a place that is there":  {before: network, after: network + "\n  failureDomains: [{name: rack-1}]"},
		"a place with one field": {before: network, after: network + "\n  failureDomains: [{name: rack-1, network: a}]", want: place},
		"a place without one":    {before: network, after: network + "\n  failureDomains: [{name: rack-1, computeCluster: a, resourcePool: a, datastore: a, folder: a}]", want: place},
		"two places of a name":   {before: network, after: network + "\n  failureDomains: [{name: rack-1}, {name: rack-1}]", want: `28: spec.failureDomains[1]: Duplicate value: {"name":"rack-1"}`},
		"no name for a secret":   {before: network, after: network + "\n  identityRef: {kind: Secret}", want: "28: spec.identityRef.name: Required value: name of the Secret or of the VSphereClusterIdentity"},
		"no storage driver":      {before: network, after: network + "\n  disableCSI: false", warning: "28: spec.disableCSI: clusterctl-x installs no storage driver, whatever this says; give its manifests by addOns of the Cluster if you need volumes"},
		"too little memory":      {before: system, after: system + "\n  memoryMiB: 1024", want: "35: spec.memoryMiB: Invalid value: 1024: should be greater than or equal to 2048"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, want := []string{"", ""}, []string{test.want, test.warning}
			config := providers.BuiltIn().Decode("cluster.yaml", []byte(strings.Replace(string(spec), test.before, test.after, 1)))
			if err := config.Problems.OrNil(); err != nil {
				got[0] = strings.TrimPrefix(err.Error(), "cluster.yaml:")
			}
			for _, warning := range config.Warnings {
				got[1] += strings.TrimPrefix(warning.String(), "cluster.yaml:")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems and warnings (-want +got):\n%s", diff)
			}
		})
	}
}
