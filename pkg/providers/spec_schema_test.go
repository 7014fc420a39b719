package providers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// TestIgnoredFields: the schema for editors has fields that are answered with a warning, and
// none that are refused.
func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	common, err := os.ReadFile("../../config/schema/clusterctl-x.io_v1alpha1.json")
	if err != nil {
		t.Fatal(err)
	}
	ignored := map[string]any{"deprecated": true, "deprecationMessage": "no effect", "description": "no effect", "doNotSuggest": true}
	for name, test := range map[string]struct {
		path, refusal string
		parent        []string
		want          any
		wantErr       string
	}{
		"of the spec":    {path: "other", want: ignored},
		"of an object":   {path: "network.vpc.other", parent: []string{"network", "properties", "vpc", "properties"}, want: ignored},
		"of a list":      {path: "network.subnets.other", parent: []string{"network", "properties", "subnets", "items", "properties"}, want: ignored},
		"refused":        {path: "other", refusal: "not here"},
		"below no field": {path: "another.other", wantErr: "writing the schema of AWSDatacenterConfig: there is an answer about another.other, and no field another"},
		"below a text":   {path: "region.other", wantErr: "writing the schema of AWSDatacenterConfig: there is an answer about region.other, which is below no object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			provider := providers.BuiltIn()["aws"]
			answer := v1alpha1.FieldAnswer{Path: test.path, Error: test.refusal}
			if test.refusal == "" {
				answer.Warning = "no effect"
			}
			provider.Spec.Datacenter.Fields = []v1alpha1.FieldAnswer{answer}
			schema, err := providers.Set{"aws": provider}.AddTo(common)
			if got := fmt.Sprint(err); err != nil || test.wantErr != "" {
				if got != test.wantErr {
					t.Errorf("error is %s, want %s", got, test.wantErr)
				}
				return
			}
			var fields map[string]any
			if err := json.Unmarshal(schema, &fields); err != nil {
				t.Fatal(err)
			}
			for _, name := range append([]string{"$defs", "AWSDatacenterConfig", "properties", "spec", "properties"}, test.parent...) {
				fields, _ = fields[name].(map[string]any)
			}
			if diff := cmp.Diff(test.want, fields["other"]); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.path, diff)
			}
		})
	}
}
