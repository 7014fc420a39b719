package generate

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// decodeGuardrails reads what is printed, strictly.
func decodeGuardrails(t *testing.T) (policies []*admissionv1.ValidatingAdmissionPolicy, bindings []*admissionv1.ValidatingAdmissionPolicyBinding) {
	t.Helper()
	text, err := config.Joined(config.Guardrails, "guardrails")
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := admissionv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	for reader := yaml.NewYAMLReader(bufio.NewReader(strings.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return policies, bindings
		}
		if err != nil {
			t.Fatal(err)
		}
		decoded, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v:\n%s", err, document)
		}
		switch object := decoded.(type) {
		case *admissionv1.ValidatingAdmissionPolicy:
			policies = append(policies, object)
		case *admissionv1.ValidatingAdmissionPolicyBinding:
			bindings = append(bindings, object)
		default:
			t.Errorf("a %T", decoded)
		}
	}
}

// detachedGroupsPolicy is the one that is not about versions.
const detachedGroupsPolicy = "clusterctl-x-detached-groups"

// TestGuardrails: which policies there are, what binds each, and what happens
// where one cannot be evaluated: with parameters, which can be missing, nothing.
func TestGuardrails(t *testing.T) {
	t.Parallel()
	policies, bindings := decodeGuardrails(t)
	got := map[string][]string{}
	for _, policy := range policies {
		params := "none"
		if policy.Spec.ParamKind != nil {
			params = policy.Spec.ParamKind.Kind
		}
		got[policy.Name] = []string{string(*policy.Spec.FailurePolicy), params}
	}
	for _, binding := range bindings {
		if binding.Name != binding.Spec.PolicyName && !strings.HasPrefix(binding.Name, binding.Spec.PolicyName+"-by-") {
			t.Errorf("binding %s is named after another policy than %s", binding.Name, binding.Spec.PolicyName)
		}
		if diff := cmp.Diff([]admissionv1.ValidationAction{admissionv1.Deny}, binding.Spec.ValidationActions); diff != "" {
			t.Errorf("actions of %s (-want +got):\n%s", binding.Name, diff)
		}
		if ref := binding.Spec.ParamRef; ref != nil && (ref.Selector == nil || *ref.ParameterNotFoundAction != admissionv1.AllowAction) {
			t.Errorf("parameters of %s: %v", binding.Name, ref)
		}
		got[binding.Spec.PolicyName] = append(got[binding.Spec.PolicyName], strings.TrimPrefix(binding.Name, binding.Spec.PolicyName))
	}
	want := map[string][]string{
		"clusterctl-x-nothing-moves-down":             {"Fail", "none", ""},
		"clusterctl-x-called-off-rollouts":            {"Ignore", "MachineSet", ""},
		"clusterctl-x-workers-beside-control-plane":   {"Ignore", "KubeadmControlPlane", ""},
		"clusterctl-x-machinedeployments-left-behind": {"Ignore", "MachineDeployment", "-by-control-planes", "-by-topologies"},
		"clusterctl-x-machinepools-left-behind":       {"Ignore", "MachinePool", "-by-control-planes", "-by-topologies"},
		"clusterctl-x-machines-left-behind":           {"Ignore", "Machine", "-by-control-planes", "-by-topologies"},
		detachedGroupsPolicy:                          {"Ignore", "MachineDeployment", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failure policy, parameters and bindings of each policy (-want +got):\n%s", diff)
	}
}

// TestGuardrailsSayTheSame: policies cannot share expressions, so those that mean
// the same are compared.
func TestGuardrailsSayTheSame(t *testing.T) {
	t.Parallel()
	policies, _ := decodeGuardrails(t)
	own := []string{"versions", "allowed", "oldest", "concerned"} // differ by what a policy is about
	var changes string
	for _, policy := range policies {
		if policy.Name == "clusterctl-x-nothing-moves-down" {
			changes = policy.Spec.MatchConditions[0].Expression
		}
	}
	first := map[string]string{}
	used := map[string]int{}
	for _, policy := range policies {
		check := func(name, expression string) {
			used[name]++
			if slices.Contains(own, name) {
				return
			}
			if _, known := first[name]; !known {
				first[name] = expression
			}
			if diff := cmp.Diff(first[name], expression); diff != "" {
				t.Errorf("%s of %s is another than before (-before +here):\n%s", name, policy.Name, diff)
			}
		}
		for _, condition := range policy.Spec.MatchConditions {
			check(condition.Name, condition.Expression)
			if policy.Name != detachedGroupsPolicy && !strings.Contains(condition.Expression, changes) {
				t.Errorf("%s does not ask whether the version changes: %s", policy.Name, condition.Expression)
			}
		}
		for _, variable := range policy.Spec.Variables {
			check(variable.Name, variable.Expression)
		}
	}
	for _, name := range []string{"keys", "skipped", "byTopologyController", "passes", "what", "otherwise"} {
		want := len(policies)
		if slices.Contains([]string{"keys", "byTopologyController", "passes"}, name) {
			want-- // it is about no version
		}
		if used[name] != want {
			t.Errorf("%d of %d policies have %s", used[name], want, name)
		}
	}
}
