package rbac_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
)

const (
	infrastructure = "infrastructure.cluster.x-k8s.io"
	example        = "infrastructure.example.com"
	controlPlane   = "controlplane.cluster.x-k8s.io"
	other          = "controlplane.example.com"
)

// kinds are those of two API groups, in no order, some of them twice.
func kinds() rbac.Kinds {
	acme := schema.GroupKind{Group: example, Kind: "AcmeCluster"}
	machine := schema.GroupKind{Group: infrastructure, Kind: "DevMachineTemplate"}
	return rbac.Kinds{
		Clusters:         []schema.GroupKind{{Group: infrastructure, Kind: "DevCluster"}},
		MachineTemplates: []schema.GroupKind{machine, {Group: example, Kind: "AcmeMachineTemplate"}, machine},
	}.With(rbac.Kinds{ControlPlanes: []schema.GroupKind{{Group: other, Kind: "AcmeControlPlane"}, {Group: controlPlane, Kind: "RKE2ControlPlane"}}, Clusters: []schema.GroupKind{acme}, Others: []schema.GroupKind{rbac.TemplateOf(acme), {Group: example, Kind: "AcmeIdentity"}, acme}})
}

func TestResourceOf(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"DevCluster": "devclusters", "AWSMachineTemplate": "awsmachinetemplates", "AWSClusterRoleIdentity": "awsclusterroleidentities", "AcmePolicy": "acmepolicies",
	} {
		if got := rbac.ResourceOf(schema.GroupKind{Group: example, Kind: kind}); got != want {
			t.Errorf("%s has the resource %s, want %s", kind, got, want)
		}
	}
}

// TestRulesOfInfrastructure: each ClusterRole names each kind of its users once.
func TestRulesOfInfrastructure(t *testing.T) {
	t.Parallel()
	written := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{
			{APIGroups: []string{infrastructure}, Resources: []string{"devclusters", "devmachinetemplates"}, Verbs: verbs},
			{APIGroups: []string{example}, Resources: []string{"acmeclusters", "acmeclustertemplates", "acmeidentities", "acmemachinetemplates"}, Verbs: verbs},
		}
	}
	want := map[string][]rbacv1.PolicyRule{
		"clusterctl-x":                    written("get", "list", "create", "patch", "delete"),
		"clusterctl-x-runtime-extensions": nil,
		"clusterctl-x-plan":               written("get", "list", "create", "patch"),
		"clusterctl-x-read-only": {
			{APIGroups: []string{infrastructure}, Resources: []string{"devclusters", "devmachines"}, Verbs: []string{"get", "list"}},
			{APIGroups: []string{example}, Resources: []string{"acmeclusters", "acmemachines"}, Verbs: []string{"get", "list"}},
		},
	}
	got := map[string][]rbacv1.PolicyRule{}
	for name, role := range roles(t, kinds()) {
		rules := slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return !slices.Contains(rule.APIGroups, infrastructure) && !slices.Contains(rule.APIGroups, example) || slices.Contains(rule.Resources, "*")
		})
		got[name] = append([]rbacv1.PolicyRule(nil), rules...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestRulesOfOthers: users may change the versions of MachinePools and of control planes of other
// providers, and make none.
func TestRulesOfOthers(t *testing.T) {
	t.Parallel()
	others := func(verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{
			{APIGroups: []string{controlPlane}, Resources: []string{"rke2controlplanes"}, Verbs: verbs},
			{APIGroups: []string{other}, Resources: []string{"acmecontrolplanes"}, Verbs: verbs},
		}
	}
	pools := func(verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"cluster.x-k8s.io"}, Resources: []string{"machinepools"}, Verbs: verbs}
	}
	want := map[string][]rbacv1.PolicyRule{
		"clusterctl-x":                    append([]rbacv1.PolicyRule{pools("patch")}, others("get", "patch")...),
		"clusterctl-x-runtime-extensions": nil,
		"clusterctl-x-plan":               append([]rbacv1.PolicyRule{pools("get", "list", "patch")}, others("get", "patch")...),
		"clusterctl-x-read-only":          others("get"),
	}
	got := map[string][]rbacv1.PolicyRule{}
	for name, role := range roles(t, kinds()) {
		rules := slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return !slices.ContainsFunc([]string{"machinepools", "rke2controlplanes", "acmecontrolplanes"}, func(resource string) bool { return slices.Equal(rule.Resources, []string{resource}) })
		})
		got[name] = append([]rbacv1.PolicyRule(nil), rules...)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestNoInfrastructure: a user whose providers name no kinds has the rest.
func TestNoInfrastructure(t *testing.T) {
	t.Parallel()
	for name, role := range roles(t, rbac.Kinds{}) {
		if len(role.Rules) == 0 {
			t.Errorf("%s has no rules", name)
		}
	}
}

// TestLeastPrivileges: who writes has no rule about everything, but to find and delete what
// is left of a cluster.
func TestLeastPrivileges(t *testing.T) {
	t.Parallel()
	for name, role := range roles(t, kinds()) {
		for _, rule := range role.Rules {
			if slices.Contains(rule.Verbs, "*") || slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.Resources, "*") && !cmp.Equal(rule.Verbs, []string{"list", "delete"}) {
				t.Errorf("%s gives too much: %v", name, rule)
			}
		}
	}
}

// TestReadOnlyRoles: who only reads has no privilege to write, who plans has those of dry
// runs, and neither has anything with credentials.
func TestReadOnlyRoles(t *testing.T) {
	t.Parallel()
	all := roles(t, kinds())
	for name, want := range map[string][]string{
		"clusterctl-x-read-only": {"get", "list", "watch"},
		"clusterctl-x-plan":      {"create", "get", "list", "patch", "plan"},
	} {
		verbs := map[string]bool{}
		for _, rule := range all[name].Rules {
			for _, verb := range rule.Verbs {
				verbs[verb] = true
			}
			for _, resource := range []string{"*", "secrets", "kubeadmconfigs"} {
				if slices.Contains(rule.Resources, resource) {
					t.Errorf("%s: a rule about %s", name, resource)
				}
			}
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(verbs))); diff != "" {
			t.Errorf("%s: verbs (-want +got):\n%s", name, diff)
		}
	}
}

// TestPolicyCoversTheRole: whatever ClusterRole clusterctl-x-plan allows to write, the
// policy denies but for dry runs.
func TestPolicyCoversTheRole(t *testing.T) {
	t.Parallel()
	var policy admissionv1.ValidatingAdmissionPolicy
	find(t, rbac.ReadOnlyRoles, "ValidatingAdmissionPolicy", &policy)
	denied := map[string]bool{}
	for _, rule := range policy.Spec.MatchConstraints.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				denied[resource+"."+group] = true
			}
		}
	}
	for _, rule := range roles(t, kinds())["clusterctl-x-plan"].Rules {
		if !slices.Contains(rule.Verbs, "create") && !slices.Contains(rule.Verbs, "patch") {
			continue
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				if !denied["*."+group] && !denied[resource+"."+group] {
					t.Errorf("users of clusterctl-x-plan can write %s.%s", resource, group)
				}
			}
		}
	}
}

// roles are all ClusterRoles, by their names.
func roles(t *testing.T, of rbac.Kinds) map[string]rbacv1.ClusterRole {
	t.Helper()
	all := map[string]rbacv1.ClusterRole{}
	for _, write := range []func(rbac.Kinds) ([]byte, error){rbac.Roles, rbac.ReadOnlyRoles} {
		for _, document := range documents(t, write, of) {
			if strings.Contains(document, "\nkind: ClusterRole\n") {
				var role rbacv1.ClusterRole
				decode(t, document, &role)
				all[role.Name] = role
			}
		}
	}
	return all
}

// find decodes the first document of a kind.
func find(t *testing.T, write func(rbac.Kinds) ([]byte, error), kind string, into any) {
	t.Helper()
	for _, document := range documents(t, write, kinds()) {
		if strings.Contains(document, "\nkind: "+kind+"\n") {
			decode(t, document, into)
			return
		}
	}
	t.Fatalf("no %s", kind)
}

func documents(t *testing.T, write func(rbac.Kinds) ([]byte, error), of rbac.Kinds) []string {
	t.Helper()
	text, err := write(of)
	if err != nil {
		t.Fatal(err)
	}
	again, err := write(of)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the same kinds give another text: %v", err)
	}
	return strings.Split(string(text), "---\n")
}

func decode(t *testing.T, document string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), into); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
}
