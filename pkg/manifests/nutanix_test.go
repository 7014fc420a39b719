package manifests

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestNutanixReferences: the Secret for Prism Central is of one cluster.
func TestNutanixReferences(t *testing.T) {
	t.Parallel()
	secret := func(name string) []Reference {
		return []Reference{{Kind: "Secret", Name: name, Keys: []string{"credentials"}, For: "access to Prism Central", Exclusive: true}}
	}
	for golden, want := range map[string][]Reference{"nutanix-minimal": secret("nutanix-credentials"), "nutanix-all-fields": secret("prism")} {
		input := resolve(t, readFile(t, "testdata/"+golden+"/cluster.yaml"), readFile(t, "testdata/bundles.yaml"))
		got, err := References(input.Config, input.Provider)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s: references (-want +got):\n%s", golden, diff)
		}
	}
}
