package management

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestPrivilegesAreThoseOfConfig: pkg/rbac gives what the preflight asks for.
func TestPrivilegesAreThoseOfConfig(t *testing.T) {
	t.Parallel()
	templates := append(devTemplates(), schema.GroupKind{Group: "infrastructure.example.com", Kind: "AcmeMachineTemplate"})
	role := clusterRole(t, rbac.Kinds{MachineTemplates: templates, ControlPlanes: []schema.GroupKind{{Group: "controlplane.cluster.x-k8s.io", Kind: "RKE2ControlPlane"}}})
	ofOthers := privilegesOfOthers(clusterOfOthers())
	if want := []privilege{{"controlplane.cluster.x-k8s.io", "rke2controlplanes", []string{"get", "patch"}}, {"cluster.x-k8s.io", "machinepools", []string{"patch"}}}; !cmp.Equal(want, ofOthers, cmp.AllowUnexported(privilege{})) {
		t.Errorf("the upgrade of a cluster of others needs %v, want %v", ofOthers, want)
	}
	contains := func(list []string, one string) bool { return slices.Contains(list, one) || slices.Contains(list, "*") }
	var missing []string
	for _, p := range append(slices.Concat(upgradePrivileges(templates), managedPrivileges(), ofOthers), privilege{"", "events", []string{"create"}}) {
		for _, verb := range p.verbs {
			given := slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
				return contains(rule.APIGroups, p.group) && contains(rule.Resources, p.resource) && contains(rule.Verbs, verb) && len(rule.ResourceNames) == 0
			})
			if !given {
				missing = append(missing, verb+" "+p.resource+"."+p.group)
			}
		}
	}
	if diff := cmp.Diff([]string(nil), missing); diff != "" {
		t.Errorf("ClusterRole clusterctl-x lacks (-want +got):\n%s", diff)
	}
}

// clusterOfOthers has a control plane that is not kubeadm's and a MachinePool, both of which the plan
// moves.
func clusterOfOthers() (state.Cluster, plan.Plan) {
	versions := func(version string) v1alpha1.ClusterVersions {
		v := v1alpha1.MustParseVersion(version)
		return v1alpha1.ClusterVersions{ControlPlane: v, WorkerNodeGroups: map[string]v1alpha1.Version{"mp-0": v}}
	}
	cluster := state.Cluster{ControlPlane: state.Part{Object: "RKE2ControlPlane/a"}, WorkerNodeGroups: []state.Part{{Name: "mp-0", Object: "MachinePool/a-mp-0"}}}
	return cluster, plan.Plan{From: versions("v1.33.13"), To: versions("v1.34.4")}
}

// devTemplates are the kinds of templates of Cluster API's provider for development.
func devTemplates() []schema.GroupKind {
	return []schema.GroupKind{{Group: "infrastructure.cluster.x-k8s.io", Kind: "DevMachineTemplate"}}
}

// clusterRole is the ClusterRole of users of these kinds.
func clusterRole(t *testing.T, kinds rbac.Kinds) rbacv1.ClusterRole {
	t.Helper()
	text, err := rbac.Roles(kinds)
	if err != nil {
		t.Fatal(err)
	}
	for document := range strings.SplitSeq(string(text), "---\n") {
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(document), &role); err != nil {
			t.Fatal(err)
		}
		if role.Name == "clusterctl-x" {
			return role
		}
	}
	t.Fatal("there is no ClusterRole clusterctl-x")
	return rbacv1.ClusterRole{}
}

// TestPrivilegesOfAPlan: the privileges of a user who only plans are not those that the
// upgrade needs.
func TestPrivilegesOfAPlan(t *testing.T) {
	t.Parallel()
	const noDelete = "the user of this kubeconfig may not delete machinedeployments.cluster.x-k8s.io in namespace ns; give it the privileges of 'clusterctl-x generate rbac'"
	for name, test := range map[string]struct {
		denied   []string
		planning bool
		want     []string
	}{
		"may upgrade":             {nil, true, nil},
		"may lock, and not write": {[]string{"delete machinedeployments"}, true, []string{noDelete}},
		"may only plan":           {[]string{"delete machinedeployments", "update leases"}, true, nil},
		"may only plan, upgrades": {[]string{"delete machinedeployments"}, false, []string{noDelete}},
	} {
		c := clientOf(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			review := o.(*authorizationv1.SelfSubjectAccessReview)
			asked := review.Spec.ResourceAttributes
			review.Status.Allowed = !slices.Contains(test.denied, asked.Verb+" "+asked.Resource)
			return nil
		}})
		got, err := c.missingForUpgrade(t.Context(), "ns", upgradePrivileges(devTemplates()), PreflightOptions{Planning: test.planning})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: reasons (-want +got):\n%s", name, diff)
		}
	}
}

// TestMissingPrivileges: each resource is told once, with the verbs that are
// missing, in the order in which they are asked for.
func TestMissingPrivileges(t *testing.T) {
	t.Parallel()
	denied := map[string]bool{"watch machines": true, "create machinedeployments": true, "delete machinedeployments": true, "get secrets": true}
	tests := map[string]struct {
		err  error
		want []string
	}{
		"some": {nil, []string{
			"the user of this kubeconfig may not create, delete machinedeployments.cluster.x-k8s.io in namespace ns; give it the privileges of 'clusterctl-x generate rbac'",
			"the user of this kubeconfig may not watch machines.cluster.x-k8s.io in namespace ns; give it the privileges of 'clusterctl-x generate rbac'",
			"the user of this kubeconfig may not get secrets in namespace ns; give it the privileges of 'clusterctl-x generate rbac'",
		}},
		"who knows": {errors.New("no answer"), []string{"error: checking the privilege to update leases: no answer"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clientOf(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
				review := o.(*authorizationv1.SelfSubjectAccessReview)
				asked := review.Spec.ResourceAttributes
				review.Status.Allowed = !denied[asked.Verb+" "+asked.Resource] && asked.Namespace == "ns"
				if asked.Verb == "update" {
					return test.err
				}
				return nil
			}})
			got, err := c.missingPrivileges(t.Context(), "ns", upgradePrivileges(devTemplates()))
			if err != nil {
				got = []string{"error: " + err.Error()}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}

// document is an OpenAPI document with one kind, which has these properties.
func document(kind, properties string) string {
	return fmt.Sprintf(`{"openapi":"3.0.0","components":{"schemas":{"io.x-k8s.other.v1.Thing":{"type":"object"},%q:{"type":"object","properties":%s}}}}`, kind, properties)
}

// TestClusterAPITooOld looks into the schemas that a management cluster tells.
func TestClusterAPITooOld(t *testing.T) {
	t.Parallel()
	const (
		cluster  = "io.x-k8s.cluster.v1beta2.Cluster"
		isNew    = `{"spec":{},"status":{"type":"object","properties":{"controlPlane":{"properties":{"upgradePlan":{"type":"array"},"versions":{}}}}}}`
		isOld    = `{"spec":{},"status":{"type":"object","properties":{"controlPlane":{"properties":{"versions":{}}},"upgradePlan":{}}}}`
		noStatus = `{"spec":{"properties":{"controlPlane":{"properties":{"upgradePlan":{}}}}}}`
		tooOld   = "the management cluster runs a Cluster API older than 1.14; upgrade it, for instance with 'clusterctl upgrade apply'"
	)
	tests := map[string]struct {
		group, document string
		want            []string
	}{
		"new enough":             {"apis/cluster.x-k8s.io/v1beta2", document(cluster, isNew), nil},
		"too old":                {"apis/cluster.x-k8s.io/v1beta2", document(cluster, isOld), []string{tooOld}},
		"without a status":       {"apis/cluster.x-k8s.io/v1beta2", document(cluster, noStatus), []string{tooOld}},
		"another kind":           {"apis/cluster.x-k8s.io/v1beta2", document("io.x-k8s.cluster.v1beta2.MyCluster", isNew), []string{tooOld}},
		"another version":        {"apis/cluster.x-k8s.io/v1beta2", document("io.x-k8s.cluster.xv1beta2.Cluster", isNew), []string{tooOld}},
		"an older version of it": {"apis/cluster.x-k8s.io/v1beta2", document("io.x-k8s.cluster.v1beta1.Cluster", isNew), []string{tooOld}},
		"without the group":      {"apis/cluster.x-k8s.io/v1beta1", document(cluster, isNew), []string{tooOld}},
		"no document":            {"apis/cluster.x-k8s.io/v1beta2", `no JSON`, []string{"error: reading the schema of v1beta2.Cluster: invalid character 'o' in literal null (expecting 'u')"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{
				"/openapi/v3":               fmt.Sprintf(`{"paths":{%q:{"serverRelativeURL":"/openapi/v3/%s"}}}`, test.group, test.group),
				"/openapi/v3/" + test.group: test.document,
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer, ok := answers[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "application/json")
				if _, err := io.WriteString(w, answer); err != nil {
					t.Error(err)
				}
			}))
			t.Cleanup(server.Close)
			discoverer, err := discovery.NewDiscoveryClientForConfig(&rest.Config{Host: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			got, err := (&Client{discovery: discoverer}).clusterAPITooOld()
			if err != nil {
				got = []string{"error: " + err.Error()}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
		})
	}
}
