package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

func TestCheckPreflights(t *testing.T) {
	t.Parallel()
	unknown := `there is no check "none"; the checks are ` + strings.Join(lifecycle.Preflights(), ", ")
	for name, test := range map[string]struct {
		names []string
		want  string
	}{
		"none":    {nil, "<nil>"},
		"all":     {lifecycle.Preflights(), "<nil>"},
		"unknown": {[]string{lifecycle.Preflights()[0], "none"}, unknown},
	} {
		if diff := cmp.Diff(test.want, fmt.Sprint(lifecycle.CheckPreflights(test.names))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCheckName: what else is wrong with a cluster that has only a name is no matter.
func TestCheckName(t *testing.T) {
	t.Parallel()
	if err := lifecycle.CheckName("prod"); err != nil {
		t.Errorf("prod: %v", err)
	}
	for _, name := range []string{"", "Prod", "a/b", strings.Repeat("a", 200)} {
		if lifecycle.CheckName(name) == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}

// TestGroupNames: a file that cannot be read has none, and one in the order of the file.
func TestGroupNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"x": nil,
		"apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nspec:\n  workerNodeGroupConfigurations: [{name: b}, {name: a}]\n": {"b", "a"},
	} {
		spec := lifecycle.ReadSpec("c.yaml", []byte(text), providers.BuiltIn(), &versionsbundle.Bundles{})
		if diff := cmp.Diff(want, spec.GroupNames()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestWhere names the namespace of the service where the selection names none.
func TestWhere(t *testing.T) {
	t.Parallel()
	service := lifecycle.New(nil, lifecycle.Options{Namespace: "team-a"})
	for want, of := range map[string]lifecycle.Selection{
		"team-a":                               {},
		"team-b":                               {Namespace: "team-b"},
		"any namespace with labels stage=test": {AllNamespaces: true, Selector: labels.SelectorFromSet(labels.Set{"stage": "test"})},
	} {
		if got := service.Where(of); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
