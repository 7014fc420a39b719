package components

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseWanted: what flags ask for, and what is wrong with them.
func TestParseWanted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		clusterAPI string
		providers  []string
		want       map[string]string // of the providers
		err        string
	}{
		"nothing":                     {"", nil, map[string]string{}, "<nil>"},
		"versions, and the newest":    {"v1.13.2", []string{"infrastructure-aws=v2.9.1", "ipam-in-cluster"}, map[string]string{"infrastructure-aws": "v2.9.1", "ipam-in-cluster": ""}, "<nil>"},
		"no version of Cluster API":   {"newest", nil, map[string]string{}, `--cluster-api-version: "newest" is no version of a component; use one such as ` + TestedVersion},
		"no version of a provider":    {"", []string{"infrastructure-aws=2"}, map[string]string{}, `--with infrastructure-aws=2: "2" is no version of a component; use one such as ` + TestedVersion},
		"an empty version":            {"", []string{"infrastructure-aws="}, map[string]string{}, `--with infrastructure-aws=: "" is no version of a component; use one such as ` + TestedVersion},
		"a provider of Cluster API":   {"", []string{"bootstrap-kubeadm"}, map[string]string{}, "--with bootstrap-kubeadm: bootstrap-kubeadm has the version of --cluster-api-version"},
		"a provider without its type": {"", []string{"aws"}, map[string]string{}, "--with aws: no provider is labelled aws: use cluster-api, cert-manager, or the type of the provider and its name, such as infrastructure-NAME"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ParseWanted(test.clusterAPI, test.providers)
			if diff := cmp.Diff(Wanted{ClusterAPI: test.clusterAPI, Providers: test.want}, got); diff != "" {
				t.Errorf("wanted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.err, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
