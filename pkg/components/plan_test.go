package components

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

func installedAt(name, version string) Component {
	provider, kind, err := parseLabel(name)
	if err != nil {
		panic(err)
	}
	return Component{Name: name, Namespace: name + "-system", From: version, To: version, provider: clusterctlv1.Provider{ProviderName: provider, Type: string(kind)}}
}

// to is a component that is upgraded.
func to(c Component, version string) Component {
	c.To = version
	return c
}

func TestPlanUpgrade(t *testing.T) {
	t.Parallel()
	core, kubeadm, aws := installedAt("cluster-api", "v1.13.2"), installedAt("control-plane-kubeadm", "v1.13.2"), installedAt("infrastructure-aws", "v2.9.0")
	tests := map[string]struct {
		installed []Component
		newest    map[string]string
		wanted    Wanted
		want      []Component
		refused   string
		err       string
	}{
		"to the version that is tested, in the order of clusterctl": {
			[]Component{aws, kubeadm, core}, nil, Wanted{}, []Component{to(core, TestedVersion), to(kubeadm, TestedVersion), aws}, "", "",
		},
		"not to the newest version of Cluster API": {
			[]Component{core}, map[string]string{"cluster-api": "v9.0.0"}, Wanted{}, []Component{to(core, TestedVersion)}, "", "",
		},
		"to the newest version of a provider": {
			[]Component{aws}, map[string]string{"infrastructure-aws": "v2.10.0"}, Wanted{}, []Component{to(aws, "v2.10.0")}, "", "",
		},
		"to versions that are asked for": {
			[]Component{core, aws}, map[string]string{"infrastructure-aws": "v2.10.0"},
			Wanted{ClusterAPI: "v1.13.3", Providers: map[string]string{"infrastructure-aws": "v2.9.1"}},
			[]Component{to(core, "v1.13.3"), to(aws, "v2.9.1")}, "", "",
		},
		"newer than what is tested": {
			[]Component{installedAt("cluster-api", "v1.99.0")}, nil, Wanted{}, []Component{installedAt("cluster-api", "v1.99.0")}, "", "",
		},
		"back": {
			[]Component{core}, nil, Wanted{ClusterAPI: "v1.13.1"}, nil, "component-downgrade",
			"cluster-api is at v1.13.2 and cannot go back to v1.13.1: ask for a newer version",
		},
		"a provider that is not there": {
			[]Component{core}, nil, Wanted{Providers: map[string]string{"infrastructure-aws": "v2.9.1"}}, nil, "component-missing",
			"infrastructure-aws is not installed; 'clusterctl-x management init' installs it",
		},
		"an inventory without a version": {
			[]Component{installedAt("cluster-api", "main")}, nil, Wanted{}, nil, "",
			`reading the installed version of cluster-api: could not parse "main" as version`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := planUpgrade(test.installed, test.newest, test.wanted)
			if diff := cmp.Diff(test.want, got.Components, cmp.AllowUnexported(Component{})); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			checkError(t, err, test.refused, test.err)
		})
	}
}

func TestInitial(t *testing.T) {
	t.Parallel()
	aws := installedAt("infrastructure-aws", "v2.9.0")
	missing := Component{Name: aws.Name, To: "v2.9.1", provider: aws.provider}
	tests := map[string]struct {
		there         Component
		version       string
		want          Component
		refused, text string
	}{
		"missing":               {Component{}, "v2.9.1", missing, "", ""},
		"there":                 {aws, "", aws, "", ""},
		"there, in the version": {aws, "v2.9.0", aws, "", ""},
		"there, in another one": {aws, "v2.9.1", Component{}, "component-installed", "infrastructure-aws is installed at v2.9.0: 'clusterctl-x management upgrade' brings it to another version"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := initial("infrastructure-aws", test.there, test.version)
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(Component{})); diff != "" {
				t.Errorf("component (-want +got):\n%s", diff)
			}
			checkError(t, err, test.refused, test.text)
		})
	}
}

// checkError compares an error, which is empty for none, and the check of a refusal.
func checkError(t *testing.T, err error, check, text string) {
	t.Helper()
	got := ""
	if err != nil {
		got = fmt.Sprint(err)
	}
	if diff := cmp.Diff(text, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	refused := &management.RefusedError{}
	errors.As(err, &refused)
	if refused.Check != check {
		t.Errorf("refused by %q, want %q", refused.Check, check)
	}
}
