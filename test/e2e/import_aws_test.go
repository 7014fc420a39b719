package e2e_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// assertImported: the cluster of AWS's own template is applied, imported and adopted without a
// change, and upgraded by the file. Its AWSMachineTemplates, which the webhook of AWS makes immutable,
// stay as they are, and new ones take their place.
func assertImported(t *testing.T, instance, namespace string) {
	t.Helper()
	run := func(args ...string) result {
		t.Helper()
		return cli(t, 0, append(args, "-n", namespace, "--name", instance)...)
	}
	kubectl(t, instance, nil, "apply", "-n", namespace, "-f", "testdata/aws-template.yaml")
	run("watch", "cluster", "imported")
	own, before := names(t, instance, namespace, "imported"), awsTemplates(t, instance, namespace)

	file := filepath.Join(t.TempDir(), "imported.yaml")
	run("import", "cluster", "imported", "--to", file)
	planned := func() upgradePlan {
		t.Helper()
		return decodePlan(t, run("plan", "upgrade", "-f", file, "-o", "json").stdout)
	}
	assertPlan(t, planned(), "InPlace", "InPlace md-0 ->")
	if text := run("plan", "upgrade", "-f", file).stdout; !strings.Contains(text, "no machine replaced") {
		t.Errorf("the plan of the adoption is %q", text)
	}
	run("upgrade", "cluster", "-f", file)
	assertPlan(t, planned())
	assertSame(t, own, names(t, instance, namespace, "imported"))
	if diff := cmp.Diff(before, awsTemplates(t, instance, namespace)); diff != "" {
		t.Errorf("AWSMachineTemplates (-before +after the adoption):\n%s", diff)
	}

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const images = "  images:\n  - {kubernetesVersion: \"1.33\", spec: {ami: {id: ami-1.33}}}\n  - {kubernetesVersion: \"1.34\", spec: {ami: {id: ami-1.34}}}\n"
	writeSpec(t, file, strings.NewReplacer("v1.33.13", "v1.34.4", "  kubeadmDefaults: None\n", images+"  kubeadmDefaults: None\n").Replace(string(text)))
	p := planned()
	assertPlan(t, p, "ControlPlane v1.33.13->v1.34.4", "Workers md-0 v1.33.13->v1.34.4")
	made := observe(t, instance, namespace, "imported")
	run("upgrade", "cluster", "-f", file, "--force-conflicts") // kubectl owns the version and the names of the templates
	assertMade(t, made(), p)
	assertMachines(t, instance, namespace, "imported", "control-plane v1.34.4", "md-0 v1.34.4")
	assertRotated(t, before, awsTemplates(t, instance, namespace))

	var used []string
	for _, machine := range list[unstructured.Unstructured](t, instance, namespace, "awsmachines") {
		image, _, _ := unstructured.NestedString(machine.Object, "spec", "ami", "id")
		used = append(used, image)
	}
	if diff := cmp.Diff([]string{"ami-1.34", "ami-1.34"}, used); diff != "" {
		t.Errorf("images of the machines (-want +got):\n%s", diff)
	}
}

// awsTemplates are the specs of all AWSMachineTemplates by their names.
func awsTemplates(t *testing.T, instance, namespace string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, template := range list[unstructured.Unstructured](t, instance, namespace, "awsmachinetemplates") {
		all[template.GetName()] = template.Object["spec"]
	}
	return all
}

// assertRotated: the templates are there as they were, and others for the new version differ in
// their image only.
func assertRotated(t *testing.T, before, after map[string]any) {
	t.Helper()
	want, rotated := maps.Clone(before), []string{}
	for name := range after {
		former := strings.TrimSuffix(name, name[strings.LastIndex(name, "-"):])
		if _, kept := before[name]; kept || before[former] == nil {
			continue
		}
		rotated = append(rotated, former)
		newer := (&unstructured.Unstructured{Object: before[former].(map[string]any)}).DeepCopy()
		if err := unstructured.SetNestedField(newer.Object, "ami-1.34", "template", "spec", "ami", "id"); err != nil {
			t.Fatal(err)
		}
		want[name] = newer.Object
	}
	slices.Sort(rotated)
	if diff := cmp.Diff([]string{"imported-control-plane", "imported-md-0"}, rotated); diff != "" {
		t.Errorf("templates that others take the place of (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("AWSMachineTemplates (-want +got):\n%s", diff)
	}
}
