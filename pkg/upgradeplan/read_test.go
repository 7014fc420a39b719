package upgradeplan

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

const (
	aRequest = `apiVersion: hooks.runtime.cluster.x-k8s.io/v1alpha1
kind: GenerateUpgradePlanRequest
fromControlPlaneKubernetesVersion: v1.29.0
fromWorkersKubernetesVersion: v1.28.0
toKubernetesVersion: v1.30.1
`
	aResponse = `apiVersion: hooks.runtime.cluster.x-k8s.io/v1alpha1
kind: GenerateUpgradePlanResponse
status: Success
controlPlaneUpgrades:
- version: v1.30.0
- version: v1.30.1
workersUpgrades:
- version: v1.30.1
`
)

func TestReadExchange(t *testing.T) {
	t.Parallel()
	controlPlane, workers := []string{"v1.30.0", "v1.30.1"}, []string{"v1.30.1"}
	for _, test := range []struct {
		name, file string
		asked      Exchange
		want       Exchange
	}{
		{
			"request and response", aRequest + "---\n" + aResponse + "---\n# nothing\n", Exchange{},
			Exchange{FromControlPlane: "v1.29.0", FromWorkers: "v1.28.0", To: "v1.30.1", ControlPlane: controlPlane, Workers: workers},
		},
		{
			"the other way round", aResponse + "---\n" + aRequest, Exchange{},
			Exchange{FromControlPlane: "v1.29.0", FromWorkers: "v1.28.0", To: "v1.30.1", ControlPlane: controlPlane, Workers: workers},
		},
		{
			"what is asked comes first", aRequest + "---\n" + aResponse, Exchange{FromControlPlane: "v1.29.5", FromWorkers: "v1.29.1", To: "v1.30.2"},
			Exchange{FromControlPlane: "v1.29.5", FromWorkers: "v1.29.1", To: "v1.30.2", ControlPlane: controlPlane, Workers: workers},
		},
		{
			"a response alone", aResponse, Exchange{FromControlPlane: "v1.29.0", To: "v1.30.1"},
			Exchange{FromControlPlane: "v1.29.0", To: "v1.30.1", ControlPlane: controlPlane, Workers: workers},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadExchange([]byte(test.file), test.asked)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("exchange (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadExchangeRefuses(t *testing.T) {
	t.Parallel()
	const oneTooMany = ` is one too many: there is one GenerateUpgradePlanResponse, and at most one GenerateUpgradePlanRequest`
	replaced := func(old, replacement string) string { return strings.Replace(aResponse, old, replacement, 1) }
	for name, test := range map[string]struct{ file, want string }{
		"nothing":               {"# nothing\n", "there is no document of kind GenerateUpgradePlanResponse"},
		"a request alone":       {aRequest, "there is no document of kind GenerateUpgradePlanResponse"},
		"two responses":         {aResponse + "---\n" + aResponse, `a document of kind "GenerateUpgradePlanResponse"` + oneTooMany},
		"two requests":          {aRequest + "---\n" + aRequest, `a document of kind "GenerateUpgradePlanRequest"` + oneTooMany},
		"another kind":          {"kind: Cluster\n", `a document of kind "Cluster"` + oneTooMany},
		"an apiVersion alone":   {"apiVersion: v1\n", `a document of kind ""` + oneTooMany},
		"another apiVersion":    {replaced("hooks.runtime.cluster.x-k8s.io/", ""), `GenerateUpgradePlanResponse: apiVersion is "v1alpha1"; write hooks.runtime.cluster.x-k8s.io/v1alpha1`},
		"an unknown field":      {replaced("controlPlaneUpgrades", "controlPlaneUpgrade"), `GenerateUpgradePlanResponse: error unmarshaling JSON: while decoding JSON: json: unknown field "controlPlaneUpgrade"`},
		"an older request":      {"kind: GenerateUpgradePlanRequest\nfromKubernetesVersion: v1.29.0\n", "GenerateUpgradePlanRequest: fromKubernetesVersion is of an older form of the request; Cluster API asks with fromControlPlaneKubernetesVersion, and fromWorkersKubernetesVersion where there are workers: write these"},
		"a failure":             {replaced("status: Success", "status: Failure\nmessage: no release of 1.31 is there"), "status: the extension had no plan: no release of 1.31 is there"},
		"no status":             {replaced("status: Success\n", ""), `status: is ""; write Success or Failure`},
		"a file of any size":    {strings.Repeat("#", strictyaml.MaxFileSize+1), "it is larger than 1048576 bytes"},
		"no request":            {aResponse, "the request is missing"},
		"what is no YAML":       {"a: [", "error converting YAML to JSON: yaml: line 1: did not find expected node content"},
		"a kind that is a list": {"kind: [a]", "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go struct field TypeMeta.kind of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadExchange([]byte(test.file), Exchange{})
			if err == nil {
				t.Fatal("read")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadExchangeNeedsBothEnds: without the versions of the control plane there is
// nothing to check a plan against.
func TestReadExchangeNeedsBothEnds(t *testing.T) {
	t.Parallel()
	for _, asked := range []Exchange{{FromControlPlane: "v1.29.0"}, {To: "v1.30.1"}, {FromWorkers: "v1.29.0"}} {
		if _, err := ReadExchange([]byte(aResponse), asked); !errors.Is(err, ErrNoRequest) {
			t.Errorf("%+v: %v", asked, err)
		}
	}
}
