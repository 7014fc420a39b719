package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestMachinePool upgrades a cluster with a MachinePool over three minors without a file. Cluster
// API's own controller reads the pool; the test plays its infrastructure, which replaces a node
// after the other. The pool is pinned.
func TestMachinePool(t *testing.T) {
	t.Parallel()
	const cp = "control-plane v1.36.3"
	c := &existingCluster{existing{
		cluster: "pool", flags: []string{"--kubernetes-version", "1.36", "--worker-node-group", "mp-0=1.34"},
		steps: []string{to34, to35, to36, "Workers md-0 v1.33.13->v1.36.3 mp-0 v1.33.13->v1.34.4"}, machines: []string{cp, "md-0 v1.36.3"},
		written: []string{
			"KubeadmControlPlane/pool-control-plane spec.version: v1.33.13 -> v1.36.3",
			"MachineDeployment/pool-md-0 spec.template.spec.version: v1.33.13 -> v1.36.3",
			"MachinePool/pool-mp-0 spec.template.spec.version: v1.33.13 -> v1.34.4",
		},
	}, newNamespace(t, shared, "machine-pool")}
	kubectl(t, shared, nil, "apply", "-n", c.namespace, "-f", "testdata/existing/machine-pool.yaml")
	pool := playPool(t, c.namespace, "pool", "pool-mp-0")
	cli(t, 0, "watch", "cluster", "pool", "-n", c.namespace)
	assertPoolVersions(t, c.namespace, "v1.33.13=2")

	p := c.plan(t)
	assertPlan(t, p, c.steps...)
	before, made, nodes := c.objects(t), observe(t, shared, c.namespace, "pool"), pool.made.Load()
	cli(t, 0, c.command("upgrade", "cluster", "--force-conflicts")...)
	created := made()
	created["mp-0"] = int(pool.made.Load() - nodes)
	assertMade(t, created, p)
	assertMachines(t, shared, c.namespace, "pool", c.machines...)
	assertPoolVersions(t, c.namespace, "v1.34.4=2")
	written := slices.DeleteFunc(changesOf(before, c.objects(t)), func(line string) bool { return strings.Contains(line, " spec.providerIDList: ") })
	if diff := cmp.Diff(c.written, written); diff != "" {
		t.Errorf("changes of objects (-want +got):\n%s", diff)
	}
	assertPlan(t, c.plan(t))
	c.assertPoolStays(t)
}

// assertPoolStays: the imported file says nothing of the pool, a warning says so, and its
// adoption leaves it alone.
func (c *existingCluster) assertPoolStays(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pool.yaml")
	imported := cli(t, 0, "import", "cluster", "pool", "-n", c.namespace, "--to", file)
	if want := "all of MachinePool pool-mp-0: a cluster spec has no MachinePools; "; !strings.Contains(imported.stderr, want) {
		t.Errorf("the import says %q, want %q in it", imported.stderr, want)
	}
	before := c.objects(t)["MachinePool/pool-mp-0"]
	assertPlan(t, planOf(t, c.namespace, file), "InPlace", "InPlace md-0 ->")
	cli(t, 0, "upgrade", "cluster", "-n", c.namespace, "-f", file)
	if diff := cmp.Diff(before, c.objects(t)["MachinePool/pool-mp-0"]); diff != "" {
		t.Errorf("MachinePool (-before +after the adoption):\n%s", diff)
	}
}

// assertPoolVersions compares the nodes of the pool that Cluster API counts, by version.
func assertPoolVersions(t *testing.T, namespace string, want ...string) {
	t.Helper()
	got := strings.Fields(kubectl(t, shared, nil, "get", "machinepool", "pool-mp-0", "-n", namespace, "-o", "jsonpath={range .status.versions[*]}{.version}={.replicas} {end}"))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("versions of the pool (-want +got):\n%s", diff)
	}
}

// playedPool is the infrastructure of a MachinePool, as a cloud would have it.
type playedPool struct {
	name           string
	pools, devices dynamic.ResourceInterface
	nodes          kubernetes.Interface
	// made counts the nodes that there ever were.
	made atomic.Int32
}

// playPool plays the infrastructure of a MachinePool until the test ends: each of its machines
// becomes a ready node of the version that the pool has, one every second.
func playPool(t *testing.T, namespace, cluster, name string) *playedPool {
	t.Helper()
	kubectl(t, shared, nil, "wait", "--for=create", "secret/"+cluster+"-kubeconfig", "-n", namespace, "--timeout=5m")
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfigInSecret(t, namespace, cluster))
	if err != nil {
		t.Fatal(err)
	}
	p := &playedPool{name: name, pools: resourceOf(t, "machinepools", namespace), devices: resourceOf(t, "devmachinepools", namespace)}
	if p.nodes, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.play(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil && t.Failed() {
			t.Logf("the last error of the played pool: %v", err)
		}
	})
	return p
}

func resourceOf(t *testing.T, kind, namespace string) dynamic.ResourceInterface {
	t.Helper()
	r, err := everyone.readers.of(shared)
	if err != nil {
		t.Fatal(err)
	}
	resource, err := r.resource(kind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return resource
}

// play returns the last error.
func (p *playedPool) play(ctx context.Context) (last error) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return last
		case <-ticker.C:
			if err := p.provide(ctx); err != nil && ctx.Err() == nil {
				last = err // such as one of a workload cluster that does not answer yet
			}
		}
	}
}

// provide replaces the first node that the pool does not want, or adds one that it lacks.
func (p *playedPool) provide(ctx context.Context) error {
	pool, err := p.pools.Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	template, _, _ := unstructured.NestedMap(pool.Object, "spec", "template", "spec")
	secret, _, _ := unstructured.NestedString(template, "bootstrap", "dataSecretName")
	replicas, _, _ := unstructured.NestedInt64(pool.Object, "spec", "replicas")
	if secret == "" {
		return nil // Cluster API has no bootstrap data yet
	}
	device, err := p.devices.Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	version := fmt.Sprint(template["version"])
	ids, _, _ := unstructured.NestedStringSlice(device.Object, "spec", "providerIDList")
	for i := range int(replicas) {
		node := fmt.Sprintf("%s-%d-%s", p.name, i, version)
		id := "played:///" + node
		switch {
		case i == len(ids):
			ids = append(ids, id)
		case ids[i] != id:
			ids[i] = id
		default:
			continue
		}
		if err := p.join(ctx, node, id, version); err != nil {
			return err
		}
		return p.report(ctx, ids)
	}
	return nil
}

func (p *playedPool) join(ctx context.Context, name, id, version string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{ProviderID: id}}
	node.Status.NodeInfo.KubeletVersion = version
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
	if _, err := p.nodes.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

// report says which machines there are, as Cluster API's contract has it.
func (p *playedPool) report(ctx context.Context, ids []string) error {
	p.made.Add(1)
	for _, patch := range []struct {
		of          map[string]any
		subresource []string
	}{
		{of: map[string]any{"spec": map[string]any{"providerIDList": ids}}},
		{of: map[string]any{"status": map[string]any{"ready": true, "replicas": len(ids)}}, subresource: []string{"status"}},
	} {
		data, err := json.Marshal(patch.of)
		if err != nil {
			return err
		}
		if _, err := p.devices.Patch(ctx, p.name, types.MergePatchType, data, metav1.PatchOptions{}, patch.subresource...); err != nil {
			return err
		}
	}
	return nil
}
