package e2e_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestClassLifecycle takes a cluster from a class through its life.
func TestClassLifecycle(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-life")
	class := objectsIn(t, namespace)
	spec := clusterSpec{name: "life", version: "1.34.1", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	file := spec.path(t)
	create := []string{"create", "cluster", "-n", namespace, "-f", file}
	if got, want := cli(t, 0, append(create, "--dry-run=server")...).stdout, "cluster class-life/life: 1 object would be created (server dry run)\n"; got != want {
		t.Errorf("the dry run said %q, want %q", got, want)
	}
	if got := objectsIn(t, namespace); !slices.Equal(class, got) {
		t.Errorf("objects after a dry run: %v, want %v", got, class)
	}

	killed := begin(t, create...)
	killed.until(t, "cluster class-life/life: 1 object created\n")
	killed.signal(t, syscall.SIGKILL)
	killed.end(t)
	if r := cli(t, 0, create...); strings.Contains(r.stderr, "objects created") || !strings.HasPrefix(r.stdout, "cluster class-life/life is ready after ") {
		t.Errorf("the second run did not finish the job of the first: %s%s", r.stderr, r.stdout)
	}
	if got, want := cli(t, 0, create...).stdout, "cluster class-life/life exists and matches the file; nothing to do\n"; got != want {
		t.Errorf("create again said %q, want %q", got, want)
	}
	t.Run("without the class", func(t *testing.T) {
		spec := spec
		spec.class = ""
		file := spec.path(t)
		const want = "life.yaml:4: spec.clusterClass: Required value: cluster life is made from ClusterClass class-life/inmemory, and a cluster cannot leave its class; add the field\n"
		for _, command := range [][]string{{"create", "cluster"}, {"upgrade", "cluster"}, {"plan", "upgrade"}} {
			assertStderr(t, cli(t, 3, append(command, "-n", namespace, "-f", file)...), want, strings.TrimSuffix(file, "life.yaml"))
		}
	})
	t.Run("keep what clusters use", func(t *testing.T) { keepUsed(t, namespace) })
	cli(t, 0, "delete", "cluster", "life", "-n", namespace)
	if got := objectsIn(t, namespace); !slices.Equal(class, got) {
		t.Errorf("objects after the cluster was deleted: %v, want %v", got, class)
	}
}

// keepUsed: bundles that no longer have the version of a cluster make a class
// that has it all the same.
func keepUsed(t *testing.T, namespace string) {
	bundles := bundlesWithoutRelease(t, "v1.34.1")
	without, with := classText(t, namespace, "--bundles", bundles, "--replace-bundles"), classText(t, namespace, "--bundles", bundles, "--replace-bundles", "--keep-used")
	plan := []string{"plan", "clusterclass", "-n", namespace, "-f", "-"}
	const want = ": spec.kubernetesVersions: Forbidden: Kubernetes Version v1.34.1 is used by Cluster \"life\" but not set in ClusterClass; " +
		"keep the versions that clusters have, and one of each minor between ('generate clusterclass --keep-used' does)\n"
	if r := cliWith(t, 3, without, plan...); !strings.HasSuffix(r.stderr, want) {
		t.Errorf("stderr is %q, want the end %q", r.stderr, want)
	}
	const said = "ClusterClass class-life/inmemory: 1 cluster, 1 of them unchanged; at most 0 control plane machines and 0 worker machines replaced.\n"
	if got := cliWith(t, 0, with, plan...).stdout; got != said {
		t.Errorf("plan clusterclass said %q, want %q", got, said)
	}
	if all := string(classText(t, namespace)); string(with) != all {
		t.Errorf("the class with what is used differs from that of all bundles (-all +used):\n%s", cmp.Diff(all, string(with)))
	}
}

// bundlesWithoutRelease is a file with all bundles but for one release.
func bundlesWithoutRelease(t *testing.T, version string) string {
	t.Helper()
	data, err := os.ReadFile("../../config/bundles/bundles.yaml")
	if err != nil {
		t.Fatal(err)
	}
	bundles := documents(t, data)[0].Object
	minors, _, err := unstructured.NestedSlice(bundles, "spec", "versionsBundles")
	if err != nil {
		t.Fatal(err)
	}
	for _, minor := range minors {
		minor := minor.(map[string]any)
		minor["releases"] = slices.DeleteFunc(minor["releases"].([]any), func(release any) bool { return release.(map[string]any)["version"] == version })
	}
	if err := unstructured.SetNestedSlice(bundles, minors, "spec", "versionsBundles"); err != nil {
		t.Fatal(err)
	}
	if data, err = yaml.Marshal(bundles); err != nil {
		t.Fatal(err)
	}
	return textFile(t, "bundles.yaml", data)
}

// TestClassByManifests has kubectl make a cluster from a class.
func TestClassByManifests(t *testing.T) {
	t.Parallel()
	namespace := applyClass(t, "class-manifests")
	spec := clusterSpec{name: "applied", version: "1.34.1", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}}}
	file := spec.path(t)
	kubectl(t, shared, []byte(cli(t, 0, "generate", "manifests", "-n", namespace, "-f", file).stdout), "apply", "-f", "-")
	cli(t, 0, "watch", "cluster", "applied", "-n", namespace)
	assertMachines(t, shared, namespace, "applied", "control-plane v1.34.1", "md-0 v1.34.1")
	if got, want := cli(t, 0, "create", "cluster", "-n", namespace, "-f", file).stdout, "cluster class-manifests/applied exists and matches the file; nothing to do\n"; got != want {
		t.Errorf("create said %q, want %q", got, want)
	}
	spec.version = "1.34.4"
	file = spec.path(t)
	p := planOf(t, namespace, file)
	assertPlan(t, p, "ControlPlane v1.34.1->v1.34.4", "Workers md-0 v1.34.1->v1.34.4")
	refused(t, 4, namespace, file, "error: other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts\n"+
		"  Cluster/applied spec.topology.version: conflict with \"kubectl-client-side-apply\" using cluster.x-k8s.io/v1beta2\n")
	made := observe(t, shared, namespace, "applied")
	cli(t, 0, "upgrade", "cluster", "-n", namespace, "-f", file, "--force-conflicts")
	assertMade(t, made(), p)
	assertMachines(t, shared, namespace, "applied", "control-plane v1.34.4", "md-0 v1.34.4")
	assertPlan(t, planOf(t, namespace, file))
}
