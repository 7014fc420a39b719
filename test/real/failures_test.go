//go:build real

package real_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestUpgradePastFailures upgrades a cluster where one thing after the other fails: an image is
// missing in the first new machine, the disk of the next is full, and a pod cannot be evicted.
// Each time the line of progress says so in the words of who caused it, and after
// the mend the same command goes on.
func TestUpgradePastFailures(t *testing.T) {
	t.Parallel()
	const workers = "workers"
	c := cluster{name: "failures", version: "1.34", groups: []group{{name: workers}}}
	api := c.create(t)

	old, own := release(t, c.version), release(t, "1.35")
	c.version = own.Version.String()
	lacking := nodeImageWithout(t, own, string(old.Images.CoreDNS), string(own.Images.CoreDNS))
	upgrade := []string{"upgrade", "cluster", "-f", c.file(t), "--bundles", bundlesWith(t, own, lacking), "--replace-bundles"}

	missing := "failed to pull image " + string(old.Images.CoreDNS)
	c.fails(t, upgrade, missing)
	if _, err := docker(t.Context(), nil, "tag", own.NodeImages["docker"], lacking); err != nil {
		t.Fatal(err)
	}
	deleteMachine(t, c.machinesAt(t, "control-plane", c.version)[0])

	full := c.fillDiskOfNext(t, workers)
	c.fails(t, upgrade, "no space left on device")
	if _, err := docker(t.Context(), nil, "exec", <-full, "rm", filling); err != nil {
		t.Fatal(err)
	}
	startUnevictable(t, api, c.machines(t, workers)[0].Status.NodeRef.Name, string(old.Images.Pause))
	deleteMachine(t, c.machinesAt(t, workers, c.version)[0])

	// It is refused where the budget is known before.
	const check = "pod-disruption-budgets"
	if r := cli(t, 3, upgrade...); lineWith(r.stderr, check, unevictable) == "" {
		t.Errorf("no line with the pod\n%s", r.stderr)
	}
	last := start(t, append(upgrade, "--skip-preflight", check)...)
	start(t, "watch", "cluster", c.name).line(t, unevictable, "disruption budget")
	last.line(t, unevictable, "disruption budget")
	if err := api.PolicyV1().PodDisruptionBudgets("default").Delete(t.Context(), unevictable, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	last.waitFor(t, 0)
	assertFacts(t, c, api)
	c.delete(t)
}

// fails runs an upgrade that ends at a machine which is not tried again, and compares the
// line of progress with the reason.
func (c cluster) fails(t *testing.T, upgrade []string, reason string) {
	t.Helper()
	for _, args := range [][]string{upgrade, {"watch", "cluster", c.name}} {
		r := cli(t, 1, args...)
		line := lineWith(r.stderr, reason, "its bootstrap is not retried")
		if line == "" {
			t.Fatalf("%s: no line with %q\n%s", strings.Join(args, " "), reason, r.stderr)
		}
		t.Log(line)
	}
}

// unevictable is the name of a pod and of the budget that keeps it.
const unevictable = "unevictable"

// startUnevictable starts a pod of an image that no eviction is allowed for, on a node.
func startUnevictable(t *testing.T, api kubernetesClient, node, image string) {
	t.Helper()
	labels := map[string]string{"app": unevictable}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: unevictable, Labels: labels},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "pause", Image: image}},
		},
	}
	eventually(t, func() string {
		if _, err := api.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			return err.Error() // the service account of the namespace is not there yet
		}
		return ""
	})
	one := intstr.FromInt32(1)
	budget := &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: unevictable},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
	budgets := api.PolicyV1().PodDisruptionBudgets("default")
	if _, err := budgets.Create(t.Context(), budget, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() string {
		if now, err := budgets.Get(t.Context(), unevictable, metav1.GetOptions{}); err != nil || now.Status.CurrentHealthy != 1 {
			return fmt.Sprintf("the budget does not count its pod: %v", err)
		}
		return ""
	})
}

// nodeImageWithout makes a node image of a release that lacks container images, and has no
// registry to pull them from.
func nodeImageWithout(t *testing.T, r versionsbundle.Release, images ...string) string {
	t.Helper()
	const units = "files/etc/systemd/system/"
	const unit = `[Unit]
After=containerd.service node-images.service
Before=kubelet.service multi-user.target

[Service]
Type=oneshot
ExecStart=ctr --namespace k8s.io images rm %s
`
	dir := t.TempDir()
	for path, text := range map[string]string{
		"Dockerfile":                     "FROM " + r.NodeImages["docker"] + "\nCOPY files /\n",
		units + "without-images.service": fmt.Sprintf(unit, strings.Join(images, " ")),
		units + "multi-user.target.d/without-images.conf":    "[Unit]\nWants=without-images.service\n",
		units + "containerd.service.d/without-registry.conf": "[Service]\nEnvironment=HTTPS_PROXY=http://127.0.0.1:9\n",
	} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const image = "realnodes.invalid/lacking:test"
	if _, err := docker(t.Context(), nil, "build", "--quiet", "--tag", image, dir); err != nil {
		t.Fatal(err)
	}
	return image
}

// bundlesWith writes the bundles of these tests with another node image for a release.
func bundlesWith(t *testing.T, r versionsbundle.Release, image string) string {
	t.Helper()
	changed := *suite.versions.bundles
	changed.Spec.VersionsBundles = slices.Clone(changed.Spec.VersionsBundles)
	for i, bundle := range changed.Spec.VersionsBundles {
		bundle.Releases = slices.Clone(bundle.Releases)
		for j := range bundle.Releases {
			if bundle.Releases[j].Version == r.Version {
				bundle.Releases[j].NodeImages = maps.Clone(bundle.Releases[j].NodeImages)
				bundle.Releases[j].NodeImages["docker"] = image
			}
		}
		changed.Spec.VersionsBundles[i] = bundle
	}
	text, err := changed.Text()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bundles.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// filling fills the disk that kubelet keeps its configuration on.
const filling = "/var/lib/kubelet/filling"

// fillDiskOfNext fills the disk of the next new machine of a group as soon as it starts, and
// sends its name.
func (c cluster) fillDiskOfNext(t *testing.T, group string) <-chan string {
	t.Helper()
	known := map[string]bool{}
	for _, machine := range c.machines(t, group) {
		known[machine.Name] = true
	}
	filled := make(chan string, 1)
	go func() {
		defer close(filled)
		await(t, "a new machine of "+group, func() bool {
			names, _ := c.containers(t.Context())
			i := slices.IndexFunc(names, func(name string) bool { return c.partOf(name) == group && !known[name] })
			if i < 0 {
				return false
			}
			_, err := docker(t.Context(), nil, "exec", names[i], "sh", "-c",
				"mkdir -p /var/lib/kubelet && mount -t tmpfs -o size=64k full /var/lib/kubelet && (cat /dev/zero >"+filling+" || true)")
			if err == nil {
				filled <- names[i]
			}
			return err == nil // else it does not run yet
		})
	}()
	return filled
}
