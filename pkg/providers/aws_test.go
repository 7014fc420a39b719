package providers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestAWSRules: what AWS's webhooks would refuse is refused at its line.
func TestAWSRules(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile("../manifests/testdata/aws-all-fields/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing wrong":           {"", "", ""},
		"no CIDR block":           {"10.0.0.0/16", "10.0.0.0", `31: spec.network.vpc.cidrBlock: Invalid value: "10.0.0.0": must be of type cidr: "10.0.0.0"`},
		"blank behind a key name": {"sshKeyName: bastion", `sshKeyName: "bastion "`, `28: spec.sshKeyName: Invalid value: "bastion ": should match '^([!-~]([ -~]*[!-~])?)?$'`},
		"bastion without rules":   {"disableIngressRules: false", "disableIngressRules: true", "50: spec.bastion: Invalid value: allowedCIDRBlocks and disableIngressRules exclude each other; remove one of the two"},
		"volume without IOPS":     {"rootVolume: {size: 8, type: gp2}", "rootVolume: {size: 8, type: io2}", "91: spec.rootVolume: Invalid value: types io1 and io2 need iops"},
		"throughput of gp2":       {"nonRootVolumes: [{deviceName: /dev/sdc,", "nonRootVolumes: [{deviceName: /dev/sdc, throughput: 250,", "92: spec.nonRootVolumes[0]: Invalid value: throughput is for type gp3; name that type, or remove throughput"},
		"two references":          {"{id: sg-0b1}", `{id: sg-0b1, filters: [{name: "tag:Name", values: [any]}]}`, "76: spec.additionalSecurityGroups[0]: Invalid value: give id or filters, and not both"},
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
