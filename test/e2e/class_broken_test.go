package e2e_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// brokenUse is a call of the library with a file that it refuses.
type brokenUse struct {
	ask   useCase
	file  string
	edits []string // of the file: what there is, and what comes in its place; "" is all of it
	want  string   // the warnings, and the error with its type
}

// TestBrokenUsesOfAClass: whatever is wrong with a class, or with its use, is refused
// before the first write, with place and remedy. The library is asked in the process of the
// test; some cases show that the commands pass on what it says.
func TestBrokenUsesOfAClass(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "class-broken")
	elsewhere := newNamespace(t, shared, "class-elsewhere")
	applyTo(t, namespace, []byte(handmadeTemplates+handmadeClass))
	cli(t, 0, "create", "cluster", "-n", namespace, "--wait=false", "-f", textFile(t, "classic.yaml", []byte(classicSpec)))
	applyTo(t, namespace, classText(t, namespace))
	applyTo(t, namespace, []byte(cli(t, 0, "generate", "clusterclass", "--provider", "docker", "-n", namespace).stdout))
	applyTo(t, namespace, []byte(otherKinds))
	for name, edits := range variantsOfHandmade() {
		applyTo(t, namespace, []byte(renamedClass(t, edits, name)))
	}
	applyTo(t, elsewhere, []byte(renamedClass(t, nil, "lonely")))
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", textFile(t, "managed.yaml", []byte(managedSpec)))
	cli(t, 0, "watch", "cluster", "-n", namespace, "classic")
	until(t, "Cluster API has looked at the variables of every class", func(context.Context) bool {
		return strings.Contains(kubectl(t, shared, nil, "get", "clusterclass", "unread", "-n", namespace, "-o", "jsonpath={.status.conditions[*].reason}"), "VariableDiscoveryFailed")
	})
	l := newLibrary(t, namespace)
	t.Run("use", func(t *testing.T) { brokenUses(t, l, usesOfAClass()) })
	t.Run("variable", func(t *testing.T) { brokenUses(t, l, usesOfVariables()) })
	t.Run("class", func(t *testing.T) { brokenUses(t, l, changesOfAClass()) })
	t.Run("command", func(t *testing.T) { brokenCommands(t, namespace) })
	t.Run("another version on the way to one", func(t *testing.T) { onItsWay(t, l) })
}

func renamedClass(t *testing.T, edits []string, name string) string {
	t.Helper()
	return changed(t, handmadeClass, append(slices.Clone(edits), "metadata: {name: handmade", "metadata: {name: "+name)...)
}

// changed is a text after edits, each of which must be one.
func changed(t *testing.T, text string, edits ...string) string {
	t.Helper()
	for ; len(edits) > 1; edits = edits[2:] {
		switch before := text; {
		case edits[0] == "":
			text = edits[1]
		default:
			if text = strings.ReplaceAll(text, edits[0], edits[1]); text == before {
				t.Fatalf("nothing to edit: %q", edits[0])
			}
		}
	}
	return text
}

// brokenUses asks side by side, since each use is to be refused and to write nothing.
func brokenUses(t *testing.T, l library, uses map[string]brokenUse) {
	before := everythingOfClasses(t, l.namespace)
	t.Run("refused", func(t *testing.T) {
		for name, use := range uses {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				said := l.says(t.Context(), use.ask, []byte(changed(t, use.file, use.edits...)))
				if diff := cmp.Diff(use.want, said); diff != "" {
					t.Errorf("the library says (-want +got):\n%s", diff)
				}
			})
		}
	})
	assertAsBefore(t, before, l.namespace)
}

func assertAsBefore(t *testing.T, before map[string]string, namespace string) {
	t.Helper()
	if diff := cmp.Diff(before, everythingOfClasses(t, namespace)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
}

// everythingOfClasses is everything, with classes and their templates.
func everythingOfClasses(t *testing.T, namespace string) map[string]string {
	t.Helper()
	all := everything(t, namespace)
	for _, o := range list[unstructured.Unstructured](t, shared, namespace, "clusterclasses,devclustertemplates,kubeadmcontrolplanetemplates,devclusters") {
		all[o.GetKind()+"/"+o.GetName()] = strconv.FormatInt(o.GetGeneration(), 10)
	}
	return all
}

// onItsWay leaves a group behind, and asks for other versions then.
func onItsWay(t *testing.T, l library) {
	const deferred = ofLarge + "    deferUpgrade: true\n"
	file := textFile(t, "managed.yaml", []byte(changed(t, managedSpec, `"1.32"`, `"1.33"`, ofLarge, deferred)))
	upgrade := begin(t, "upgrade", "cluster", "-n", l.namespace, "-f", file)
	upgrade.until(t, "md-0 v1.33.13: 1 of 1 machines ready\n")
	upgrade.signal(t, syscall.SIGINT)
	upgrade.end(t)
	const (
		on   = "cluster managed is still being upgraded to v1.33.13 (md-1 at v1.32.13), and Cluster API accepts no other version until that is done: use v1.33.13 first; "
		held = "md-1 stays at v1.32.13, with its count and labels, and holds up the upgrade to v1.33.13, until deferUpgrade is removed"
	)
	brokenUses(t, l, map[string]brokenUse{
		"farther": {
			askUpgrade, managedSpec, []string{`"1.32"`, `"1.34"`, ofLarge, deferred},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.34\": " + on + held,
		},
		"farther, and the group with it": {
			askPlan, managedSpec, []string{`"1.32"`, `"1.34"`},
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.34\": " + on + held,
		},
		"back": {
			askUpgrade, managedSpec, nil,
			"validations.Refused: cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.32\": the control plane runs v1.33.13 and cannot be downgraded; use v1.33.13 or newer",
		},
		"farther, by create": {
			askCreate, managedSpec, []string{`"1.32"`, `"1.34"`, ofLarge, deferred},
			"*management.AlreadyExistsError: cluster class-broken/managed exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what\n" +
				"  Cluster/managed spec.topology.version: v1.33.13 -> v1.34.4",
		},
	})
}
