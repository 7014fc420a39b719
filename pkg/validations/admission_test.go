package validations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestInfrastructureAdmission: what is refused stands at the line of the document.
func TestInfrastructureAdmission(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("IMAGES", "[]", "kind: AMachineTemplate}", "kind: AMachineTemplate, spec: {disk: {size: 1}}}").Replace(withImages)
	config := providers.BuiltIn().Decode("cluster.yaml", []byte(text))
	about := func(kind, name, path string) *metav1.StatusDetails {
		return &metav1.StatusDetails{Kind: kind, Name: name, Causes: []metav1.StatusCause{
			{Type: "FieldValueInvalid", Field: path, Message: "Invalid value: 1: is too small"}, {Field: "<nil>", Message: "more"},
		}}
	}
	const machine = "cluster.yaml:22: spec.machineTemplate.spec.disk.size: Invalid value: 1: is too small (AMachineTemplate)"
	for name, test := range map[string]struct {
		details *metav1.StatusDetails
		want    string
	}{
		"the infrastructure cluster":  {about("ACluster", "prod", "spec.zone"), "cluster.yaml:16: spec.infrastructureCluster.spec.zone: Invalid value: 1: is too small (ACluster)"},
		"the control plane's machine": {about("AMachineTemplate", "prod-control-plane-0a1b2c3d4e", "spec.template.spec.disk.size"), machine},
		"a group's, by another path":  {about("AMachineTemplate", "prod-b-0a1b2c3d4e", "spec.disk.size"), machine},
		"another object":              {about("KubeadmConfigTemplate", "prod-b-0a1b2c3d4e", "spec"), ""},
		"the cluster":                 {about("Cluster", "prod", "spec"), ""},
		"no part of it":               {about("AMachineTemplate", "prod-z-0a1b2c3d4e", "spec"), ""},
		"no cause":                    {&metav1.StatusDetails{Kind: "ACluster", Name: "prod"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := validations.InfrastructureAdmission(config, test.details); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
