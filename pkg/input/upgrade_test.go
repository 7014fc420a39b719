package input_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/input"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// TestReadUpgrade: the versions, the file or the saved plan that a cluster is upgraded to.
func TestReadUpgrade(t *testing.T) {
	t.Parallel()
	version, err := v1alpha1.ParseKubernetesVersion("1.34.4")
	if err != nil {
		t.Fatal(err)
	}
	change := &plan.VersionChange{KubernetesVersion: version}
	latest := lifecycle.UpgradeOptions{LatestPatches: true}
	// wanted is what was read, with the name of the file.
	type wanted struct {
		File, Name, Version string
		Options             lifecycle.UpgradeOptions
	}
	tests := map[string]struct {
		flags input.Upgrade
		saved *plan.Plan
		want  wanted
		err   string
	}{
		"a file":              {input.Upgrade{File: "-", UpgradeOptions: latest}, nil, wanted{File: "standard input", Options: latest}, "<nil>"},
		"a file and its plan": {input.Upgrade{File: "-"}, &plan.Plan{Source: &plan.Source{File: "c.yaml", LatestPatches: true}}, wanted{File: "standard input"}, "<nil>"},
		"a name":              {input.Upgrade{Name: "c", Versions: input.Versions{KubernetesVersion: "1.34.4"}}, nil, wanted{Name: "c", Version: "v1.34.4"}, "<nil>"},
		"a plan of a file":    {input.Upgrade{}, &plan.Plan{Source: &plan.Source{File: "c.yaml", Spec: "{}", LatestPatches: true}}, wanted{File: "c.yaml", Options: latest}, "<nil>"},
		"a plan of a change":  {input.Upgrade{}, &plan.Plan{Metadata: plan.Metadata{Name: "c"}, Source: &plan.Source{Change: change}}, wanted{Name: "c", Version: "v1.34.4"}, "<nil>"},
		"a plan and a part":   {input.Upgrade{UpgradeOptions: latest}, &plan.Plan{Source: &plan.Source{File: "c.yaml"}}, wanted{Options: latest}, "--plan alone follows the plan as it is: leave --control-plane-only, --worker-node-groups and --latest-patches out, or name the file with -f"},
		"nothing":             {input.Upgrade{}, nil, wanted{}, "-f FILE is required: the file that describes the cluster"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read, err := (&input.Reader{Stdin: strings.NewReader("{}")}).ReadUpgrade(test.flags, test.saved)
			if diff := cmp.Diff(test.err, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			got := wanted{File: read.Spec.Name, Name: read.Name, Options: read.UpgradeOptions}
			if read.Change != nil {
				got.Version = read.Change.KubernetesVersion.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("upgrade (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFleetCheck: what has no meaning for several clusters.
func TestFleetCheck(t *testing.T) {
	t.Parallel()
	all := input.Fleet{All: true}
	for name, test := range map[string]struct {
		fleet       input.Fleet
		flags       input.Upgrade
		args, files []string
		want        string
	}{
		"one cluster":            {want: "<nil>", args: []string{"c"}, flags: input.Upgrade{PlanFile: "plan"}},
		"all":                    {fleet: all, want: "<nil>"},
		"a selection of nothing": {fleet: input.Fleet{Selection: input.Selection{AllNamespaces: true}}, want: "--all-namespaces and --selector choose among --all"},
		"a name":                 {fleet: all, args: []string{"c"}, want: "--all plans for all clusters: leave the name and -f out"},
		"a file":                 {fleet: all, files: []string{"c.yaml"}, want: "--all plans for all clusters: leave the name and -f out"},
		"a saved plan":           {fleet: all, flags: input.Upgrade{PlanFile: "plan"}, want: "--out, --from, --control-plane-only and --worker-node-groups are for one cluster: leave --all out"},
		"a file to start from":   {fleet: all, flags: input.Upgrade{From: "c.yaml"}, want: "--out, --from, --control-plane-only and --worker-node-groups are for one cluster: leave --all out"},
	} {
		if got := fmt.Sprint(test.fleet.Check(test.flags, test.args, test.files)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestTake: what a cluster and its parts are called, and what cannot be meant.
func TestTake(t *testing.T) {
	t.Parallel()
	groups := func(names ...string) input.Upgrade {
		return input.Upgrade{UpgradeOptions: lifecycle.UpgradeOptions{Scope: plan.Scope{Groups: names}}}
	}
	for name, test := range map[string]struct {
		flags input.Upgrade
		want  string
	}{
		"the whole cluster": {groups(), "<nil>"},
		"one group":         {groups("a"), "<nil>"},
		"no group":          {groups([]string{}...), "--worker-node-groups names no group: name some, or leave it out for the control plane and all groups"},
	} {
		if got := fmt.Sprint(test.flags.Take([]string{"c"}, nil)); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestPlanFile: the plan is not written over a file that it is made from, whatever its name.
func TestPlanFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"old.yaml", "new.yaml", "there"} {
		if err := os.WriteFile(at(name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("new.yaml"), at("link")); err != nil {
		t.Fatal(err)
	}
	for out, overwrites := range map[string]bool{"plan": false, "there": false, "old.yaml": true, "new.yaml": true, "link": true} {
		flags := input.Upgrade{File: at("new.yaml"), From: at("old.yaml"), PlanFile: at(out)}
		_, ofOne := (&input.Reader{}).ReadUpgrade(flags, nil)
		_, _, ofTwo := (&input.Reader{}).ReadBetween(flags)
		want := fmt.Sprintf("--out is %s, which describes the cluster and would be overwritten: name another file", at(out))
		for _, err := range []error{ofOne, ofTwo} {
			if (err != nil && err.Error() == want) != overwrites {
				t.Errorf("%s: %v, overwrites: %t", out, err, overwrites)
			}
		}
	}
}
