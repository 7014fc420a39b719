package providers_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestImageFields: templates of the built-in providers name images in these fields, and a kind
// that no provider has in none.
func TestImageFields(t *testing.T) {
	t.Parallel()
	const group = "infrastructure.cluster.x-k8s.io"
	got := map[schema.GroupKind][]string{}
	for _, kind := range []schema.GroupKind{
		{Group: group, Kind: "AWSMachineTemplate"}, {Group: group, Kind: "CloudStackMachineTemplate"}, {Group: group, Kind: "DevMachineTemplate"},
		{Group: group, Kind: "GCPMachineTemplate"}, {Group: group, Kind: "NutanixMachineTemplate"}, {Group: group, Kind: "OpenStackMachineTemplate"},
		{Group: group, Kind: "VSphereMachineTemplate"}, {Group: "vmware." + group, Kind: "VSphereMachineTemplate"}, {Group: group, Kind: "AzureMachineTemplate"}, {},
	} {
		got[kind] = providers.BuiltIn().ImageFields(kind)
	}
	want := map[schema.GroupKind][]string{
		{Group: group, Kind: "AWSMachineTemplate"}:        {"ami.id"},
		{Group: group, Kind: "CloudStackMachineTemplate"}: {"template"},
		{Group: group, Kind: "DevMachineTemplate"}:        {"backend.docker.customImage"},
		{Group: group, Kind: "GCPMachineTemplate"}:        {"image", "imageFamily"},
		{Group: group, Kind: "NutanixMachineTemplate"}:    {"image"},
		{Group: group, Kind: "OpenStackMachineTemplate"}:  {"image"},
		{Group: group, Kind: "VSphereMachineTemplate"}:    {"template"},

		{Group: "vmware." + group, Kind: "VSphereMachineTemplate"}: nil, {Group: group, Kind: "AzureMachineTemplate"}: nil, {}: nil,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
