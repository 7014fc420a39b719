package connection

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

func TestBootstrap(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 63)
	for name, test := range map[string]struct {
		choice  Choice
		cluster string
		want    Choice
	}{
		"of its own":                    {Choice{Kind: Auto, InstanceName: DefaultInstance}, "mgmt", Choice{Kind: Embedded, InstanceName: "bootstrap-mgmt", Starts: true}},
		"of a kubeconfig":               {Choice{Kind: Kubeconfig, Kubeconfig: management.Kubeconfig{Path: "f"}, InstanceName: DefaultInstance}, "mgmt", Choice{Kind: Embedded, InstanceName: "bootstrap-mgmt", Starts: true}},
		"not the one that a user names": {Choice{Kind: Embedded, InstanceName: "mine"}, "mgmt", Choice{Kind: Embedded, InstanceName: "bootstrap-mgmt", Starts: true}},
		"with a long name":              {Choice{Kind: Auto, InstanceName: DefaultInstance}, long, Choice{Kind: Embedded, InstanceName: "bootstrap-aaaaaaaaaaaaaaaaaaaaa-7d3e74a0", Starts: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := test.choice.Bootstrap(test.cluster)
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("the bootstrap (-want +got):\n%s", diff)
			}
			if _, err := embedded.Find(t.TempDir(), got.InstanceName); err != nil {
				t.Error(err)
			}
		})
	}
}
