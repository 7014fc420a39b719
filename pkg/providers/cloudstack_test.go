package providers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestCloudStackRules: fields of CloudStack's documents that exclude or need each other, and
// what EKS Anywhere refuses and accepts.
func TestCloudStackRules(t *testing.T) {
	t.Parallel()
	spec, err := os.ReadFile("../manifests/testdata/cloudstack-minimal/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const (
		zones    = "  availabilityZones:\n  - name: zone-1\n    zone: {name: zone-1, network: {name: net-1}}\n"
		template = "  template: {name: ubuntu-1.34}\n"
		datum    = "22: spec: Invalid value: "
		machine  = "30: spec: Invalid value: "
		disk     = "33: spec.diskOffering: Invalid value: "
		either   = datum + "give availabilityZones, or zones, the former way to write them, and not both"
		noDomain = "an account is one of a domain; give domain"
		details  = "33: spec.userCustomDetails: Invalid value: CloudStack keeps settings of its own under some names, such as memory, password and rootdisksize; remove those"
	)
	for name, test := range map[string]struct{ before, after, want string }{
		"nothing wrong":               {"", "", ""},
		"no zones":                    {zones, "  domain: a\n", either},
		"zones twice":                 {zones, zones + "  zones: [{name: zone-1, network: {name: net-1}}]\n", either},
		"account without domain":      {zones, zones + "  account: a\n", datum + noDomain},
		"account of a zone":           {zones, zones + "    account: a\n", datum + "the account of an availability zone is one of a domain; give domain"},
		"domain for it":               {zones, zones + "    account: a\n  domain: a\n", ""},
		"two zones of a name":         {zones, zones + strings.TrimPrefix(zones, "  availabilityZones:\n"), `26: spec.availabilityZones[1]: Duplicate value: {"name":"zone-1"}`},
		"no network":                  {"network: {name: net-1}", "network: {}", "25: spec.availabilityZones[0].zone.network: Invalid value: give id or name"},
		"no name of a failure domain": {"- name: zone-1", "- name: Zone_1", `24: spec.availabilityZones[0].name: Invalid value: "Zone_1": should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'`},
		"no template":                 {template, "", machine + "machines are made from a template; give template, or images for each version"},
		"template of nothing":         {template, "  template: {}\n", "32: spec.template: Invalid value: give id or name"},
		"no size":                     {"{name: m4-large}", "{}", "31: spec.computeOffering: Invalid value: give id or name"},
		"two affinities":              {template, template + "  affinity: anti\n  affinityGroupIds: [a]\n", machine + "affinity and affinityGroupIds exclude each other; give one"},
		"an empty affinity":           {template, template + "  affinity: \"\"\n  affinityGroupIds: [a]\n", ""},
		"disk of nothing":             {template, template + "  diskOffering: {mountPath: /data}\n", disk + "give id or name"},
		"disk without a place":        {template, template + "  diskOffering: {name: a, device: /dev/vdb, filesystem: ext4, label: a}\n", disk + "a disk needs mountPath, device, filesystem and label"},
		"disk with empty fields":      {template, template + "  diskOffering: {name: \"\", mountPath: \"\", customSizeInGB: 0}\n", ""},
		"relative mount path":         {template, template + "  diskOffering: {mountPath: data}\n", `33: spec.diskOffering.mountPath: Invalid value: "data": should match '^(/.+)?$'`},
		"detail of CloudStack's own":  {template, template + "  userCustomDetails: {SSH.PublicKey: a}\n", details},
		"another detail":              {template, template + "  userCustomDetails: {ssh.publickey: a}\n", ""},
		"link with a slash behind it": {template, template + "  symlinks: {/var/lib/: /data/lib}\n", ""},
		"link that a shell splits":    {template, template + "  symlinks: {/a b: /data}\n", "33: spec.symlinks: Invalid value: a link is an absolute path of letters, digits, dots, dashes and underscores, such as /var/log/pods"},
		"link to a command":           {template, template + "  symlinks: {/a: /$(reboot)}\n", `33: spec.symlinks./a: Invalid value: "/$(reboot)": should match '^/[a-zA-Z0-9._/-]*[a-zA-Z0-9._-]$'`},
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
