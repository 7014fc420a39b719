package providers_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// ruleTest has a text in the place of another one of a file, and the problem that follows;
// without one the file is valid.
type ruleTest struct{ before, after, want string }

// assertRules compares the problems of changed golden files.
func assertRules(t *testing.T, golden string, tests map[string]ruleTest) {
	t.Helper()
	spec, err := os.ReadFile("../manifests/testdata/" + golden + "/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(spec), test.before) {
				t.Fatalf("%s has no %q", golden, test.before)
			}
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
