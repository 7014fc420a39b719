package cmd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/cmd/cli"
	"github.com/clusterctl-x/clusterctl-x/pkg/commandline"
	"github.com/clusterctl-x/clusterctl-x/pkg/terminal"
)

// TestSplitTypes: TYPE/NAME is TYPE and NAME, but for values of flags and files.
func TestSplitTypes(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"describe cluster/prod":                        "describe cluster prod",
		"describe -n team-a cluster/prod --quiet":      "describe cluster -n team-a prod --quiet",
		"--quiet -n team-a delete cluster/prod":        "--quiet -n team-a delete cluster prod",
		"get clusters/a cluster/b -o wide":             "get clusters a b -o wide",
		"get -w cluster/prod":                          "get clusters -w prod",
		"get kubeconfig/prod --to cluster/x":           "get kubeconfig prod --to cluster/x",
		"hold cluster/prod --before workers":           "hold cluster prod --before workers",
		"hold cluster/prod --reason cluster/old":       "hold cluster prod --reason cluster/old",
		"hold cluster/prod --reason=cluster/old":       "hold cluster prod --reason=cluster/old",
		"watch --timeout 1s cluster/prod":              "watch cluster --timeout 1s prod",
		"history cluster/":                             "history cluster ",
		"describe cluster prod":                        "describe cluster prod",
		"describe cluster a/b":                         "describe cluster a/b",
		"describe pod/a":                               "describe pod/a",
		"get cluster/a versions/b":                     "get clusters a versions/b",
		"delete -f cluster/prod.yaml":                  "delete -f cluster/prod.yaml",
		"delete cluster -f cluster/prod.yaml":          "delete cluster -f cluster/prod.yaml",
		"describe -- cluster/prod":                     "describe -- cluster/prod",
		"validate -f cluster/prod.yaml":                "validate -f cluster/prod.yaml",
		"frobnicate cluster/prod":                      "frobnicate cluster/prod",
		"":                                             "",
		"get clusters -o jsonpath={.data} cluster/b a": "get clusters -o jsonpath={.data} cluster/b a",
	} {
		root := rootCommand(cli.New(terminal.Streams{}), "v0")
		if diff := cmp.Diff(want, strings.Join(commandline.SplitTypes(root, strings.Split(given, " ")), " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", given, diff)
		}
	}
}
