package manifests_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
	capiversion "sigs.k8s.io/cluster-api/util/version"
)

// TestGuardrailsOfOldAPIServers: the first API server with policies that are not
// beta, 1.30, knows all that the guardrails use.
func TestGuardrailsOfOldAPIServers(t *testing.T) {
	t.Parallel()
	policies := load(t).Policies
	if len(policies) == 0 {
		t.Error("no policies")
	}
	for _, policy := range policies {
		for expression, err := range errorsOf(t, policy) {
			t.Errorf("%s: %s: %v", policy.Name, expression, err)
		}
	}
	newer := admissionregistrationv1.ValidatingAdmissionPolicy{}
	newer.Spec.Validations = []admissionregistrationv1.Validation{{Expression: "semver('1.34.0').minor() == 34"}} // since 1.33
	if got := errorsOf(t, newer); len(got) != 1 {
		t.Errorf("errors of what 1.30 does not know: %v", got)
	}
}

// errorsOf are those of compiling the expressions of a policy.
func errorsOf(t *testing.T, policy admissionregistrationv1.ValidatingAdmissionPolicy) map[string]error {
	t.Helper()
	compiler, err := cel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, 30)))
	if err != nil {
		t.Fatal(err)
	}
	options := cel.OptionalVariableDeclarations{HasParams: policy.Spec.ParamKind != nil}
	found := map[string]error{}
	note := func(expression string, result cel.CompilationResult) {
		if result.Error != nil {
			found[expression] = result.Error
		}
	}
	for _, v := range policy.Spec.Variables {
		note(v.Name, compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, options, environment.NewExpressions))
	}
	compile := func(accessor cel.ExpressionAccessor) {
		note(accessor.GetExpression(), compiler.CompileCELExpression(accessor, options, environment.NewExpressions))
	}
	for i := range policy.Spec.MatchConditions {
		compile((*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i]))
	}
	for _, v := range policy.Spec.Validations {
		compile(&validating.ValidationCondition{Expression: v.Expression})
		if v.MessageExpression != "" {
			compile(&validating.MessageExpressionCondition{MessageExpression: v.MessageExpression})
		}
	}
	for _, a := range policy.Spec.AuditAnnotations {
		compile(&validating.AuditAnnotationCondition{Key: a.Key, ValueExpression: a.ValueExpression})
	}
	return found
}

// TestGuardrailsOrderVersions compares the texts that the guardrails order
// versions by with the order that Cluster API has.
func TestGuardrailsOrderVersions(t *testing.T) {
	t.Parallel()
	var keys string
	for _, v := range load(t).Policies[0].Spec.Variables {
		if v.Name == "keys" {
			keys = v.Expression
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	number := func() string { return pick("0", "1", "2", "9", "10", "11", "99", "100", "999999999") }
	var versions []semver.Version
	var texts []string
	for range 400 {
		text := "v" + pick("1", "2", "10") + "." + number() + "." + number()
		for pre := pick("", "", "-"); pre != ""; pre = pick("", ".") {
			text += pre + pick(number(), "alpha", "rc", "rc1", "a-b", "B")
		}
		for build := pick("", "+", "+"); build != ""; build = pick("", ".") {
			text += build + pick(number(), "a", "b", "A", "a-b", "-", "rc1", "20260101", "a1")
		}
		versions, texts = append(versions, semver.MustParse(strings.TrimPrefix(text, "v"))), append(texts, text)
	}
	got := evaluate(t, keys, texts)
	for i, a := range versions {
		for j, b := range versions {
			want, have := capiversion.Compare(a, b, capiversion.WithBuildTags()), strings.Compare(got[i], got[j])
			if unordered := 2; want != unordered && want != have {
				t.Errorf("%s and %s: %d, and by their keys %q and %q %d", texts[i], texts[j], want, got[i], got[j], have)
			}
		}
	}
	// As semver.org has them.
	released := []string{"v1.34.0-alpha", "v1.34.0-alpha.1", "v1.34.0-alpha.beta", "v1.34.0-beta", "v1.34.0-beta.2", "v1.34.0-beta.11", "v1.34.0-rc.1", "v1.34.0", "v1.34.0+1"}
	if got := evaluate(t, keys, released); !slices.IsSorted(got) || len(slices.Compact(got)) != len(released) {
		t.Errorf("keys of pre-releases: %q", got)
	}
	unreadable := []string{"", "v", "v1", "v1.34", "v1.34.0.1", "v1.34.x", "v1.34.0-", "v1.34.0+", "1.34.0 ", "latest", "v1.34.1000000000", "v-1.34.0"}
	if diff := cmp.Diff(make([]string, len(unreadable)), evaluate(t, keys, unreadable)); diff != "" {
		t.Errorf("keys of what is no version (-want +got):\n%s", diff)
	}
}

// evaluate evaluates an expression of variables.versions.
func evaluate(t *testing.T, expression string, versions []string) []string {
	t.Helper()
	env, err := environment.MustBaseEnvSet(version.MajorMinor(1, 30)).Env(environment.NewExpressions)
	if err == nil {
		env, err = env.Extend(celgo.Variable("versions", celgo.ListType(celgo.StringType)))
	}
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(strings.ReplaceAll(expression, "variables.versions", "versions"))
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	value, _, err := program.Eval(map[string]any{"versions": versions})
	if err != nil {
		t.Fatal(err)
	}
	keys, err := value.ConvertToNative(reflect.TypeFor[[]string]())
	if err != nil {
		t.Fatal(err)
	}
	return keys.([]string)
}
