package e2e_test

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// brokenUse is a command on a file that is refused.
type brokenUse struct {
	command string // words
	file    string
	edits   []string // of the file: what there is, and what comes in its place; "" is all of it
	code    int
	want    string
}

// TestBrokenUsesOfAClass: whatever is wrong with a class, or with its use, is
// refused before the first write, with place and remedy.
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
	t.Run("use", func(t *testing.T) { brokenUses(t, namespace, usesOfAClass()) })
	t.Run("variable", func(t *testing.T) { brokenUses(t, namespace, usesOfVariables()) })
	t.Run("class", func(t *testing.T) { brokenUses(t, namespace, changesOfAClass()) })
	t.Run("another version on the way to one", func(t *testing.T) { onItsWay(t, namespace) })
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

// brokenUses runs commands side by side, since each is to be refused and to write nothing.
func brokenUses(t *testing.T, namespace string, uses map[string]brokenUse) {
	before := everythingOfClasses(t, namespace)
	t.Run("refused", func(t *testing.T) {
		for name, use := range uses {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				use.try(t, namespace)
			})
		}
	})
	if diff := cmp.Diff(before, everythingOfClasses(t, namespace)); diff != "" {
		t.Errorf("objects (-before +after):\n%s", diff)
	}
}

func (use brokenUse) try(t *testing.T, namespace string) {
	t.Helper()
	words, file := strings.Fields(use.command), "cluster.yaml"
	if words[1] == "clusterclass" {
		file = "class.yaml"
	}
	path := textFile(t, file, []byte(changed(t, use.file, use.edits...)))
	for i, word := range words {
		if word == file {
			words[i] = path
		}
	}
	r := cli(t, use.code, append(words, "-n", namespace, "-f", path)...)
	assertStderr(t, r, use.want, filepath.Dir(path)+"/")
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
func onItsWay(t *testing.T, namespace string) {
	const deferred = ofLarge + "    deferUpgrade: true\n"
	file := textFile(t, "managed.yaml", []byte(changed(t, managedSpec, `"1.32"`, `"1.33"`, ofLarge, deferred)))
	upgrade := begin(t, "upgrade", "cluster", "-n", namespace, "-f", file)
	upgrade.until(t, "md-0 v1.33.13: 1 of 1 machines ready\n")
	upgrade.signal(t, syscall.SIGINT)
	upgrade.end(t)
	const (
		on   = "cluster managed is still being upgraded to v1.33.13 (md-1 at v1.32.13), and Cluster API accepts no other version until that is done: use v1.33.13 first; "
		held = "md-1 stays at v1.32.13, with its count and labels, and holds up the upgrade to v1.33.13, until deferUpgrade is removed\n"
	)
	brokenUses(t, namespace, map[string]brokenUse{
		"farther": {
			"upgrade cluster", managedSpec, []string{`"1.32"`, `"1.34"`, ofLarge, deferred}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.34\": " + on + held,
		},
		"farther, and the group with it": {
			"plan upgrade", managedSpec, []string{`"1.32"`, `"1.34"`}, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.34\": " + on + held,
		},
		"back": {
			"upgrade cluster", managedSpec, nil, 3,
			"cluster.yaml:5: spec.kubernetesVersion: Invalid value: \"1.32\": the control plane runs v1.33.13 and cannot be downgraded; use v1.33.13 or newer\n",
		},
		"farther, by create": {
			"create cluster", managedSpec, []string{`"1.32"`, `"1.34"`, ofLarge, deferred}, 3,
			"error: cluster class-broken/managed exists and does not match the file; 'create' does not change existing clusters: 'upgrade cluster' does, and 'plan upgrade' shows what\n" +
				"  Cluster/managed spec.topology.version: v1.33.13 -> v1.34.4\n",
		},
	})
}
