//go:build real

package real_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// cluster is what the spec of a cluster says.
type cluster struct {
	name          string
	version       string
	controlPlanes int
	groups        []group
	healthCheck   map[string]any // of all machines
}

// group is a worker node group. A version pins it.
type group struct {
	name    string
	version string
	count   int
}

// file writes the spec.
func (c cluster) file(t *testing.T) string {
	t.Helper()
	type object = map[string]any
	var groups []object
	for _, g := range c.groups {
		entry := object{"name": g.name, "count": max(g.count, 1)}
		if g.version != "" {
			entry["kubernetesVersion"] = g.version
		}
		groups = append(groups, entry)
	}
	spec := object{
		"kubernetesVersion":             c.version,
		"controlPlaneConfiguration":     object{"count": max(c.controlPlanes, 1)},
		"workerNodeGroupConfigurations": groups,
		"clusterNetwork": object{
			"cniConfig": object{"kindnetd": object{}},
			"pods":      object{"cidrBlocks": []string{"192.168.0.0/16"}},
			"services":  object{"cidrBlocks": []string{"10.96.0.0/12"}},
		},
		"datacenterRef": object{"kind": "DockerDatacenterConfig", "name": c.name},
	}
	if c.healthCheck != nil {
		spec["machineHealthCheck"] = c.healthCheck
	}
	text, err := yaml.Marshal(object{
		"apiVersion": "clusterctl-x.io/v1alpha1", "kind": "Cluster", "metadata": object{"name": c.name}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), c.name+".yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// create creates the cluster, and removes it at the end of the test if it still exists.
func (c cluster) create(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	t.Cleanup(func() { c.removeLeftovers(t) })
	cli(t, 0, "create", "cluster", "-f", c.file(t))
	return c.client(t)
}

// requestTimeout is how long clients of a cluster wait for an answer.
const requestTimeout = 10 * time.Second

// kubeconfig writes the kubeconfig of the cluster to a file.
func (c cluster) kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	cli(t, 0, "get", "kubeconfig", c.name, "--to", path)
	return path
}

// client returns a client of the cluster, by its load balancer.
func (c cluster) client(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	return clientOf(t, c.kubeconfig(t))
}

// clientOf returns a client of the cluster of a kubeconfig.
func clientOf(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.Timeout = -1, requestTimeout
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// containers returns the names of the cluster's containers.
func (c cluster) containers(ctx context.Context) ([]string, error) {
	names, err := docker(ctx, nil, "ps", "--all", "--filter", "label=io.x-k8s.kind.cluster="+c.name, "--format", "{{.Names}}")
	return strings.Fields(names), err
}

// sortedContainers returns the names of the containers of the cluster, sorted.
func (c cluster) sortedContainers(t *testing.T) []string {
	t.Helper()
	names, err := c.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// removeLeftovers of a test that failed.
func (c cluster) removeLeftovers(t *testing.T) {
	names, err := c.containers(context.Background())
	if err != nil {
		t.Error(err)
	}
	if len(names) == 0 {
		return
	}
	t.Logf("removing %s", names)
	if r := suite.run(context.Background(), "delete", "cluster", c.name, "--timeout", "2m"); r.code != 0 {
		t.Logf("deleting it: %s", r.stderr)
	}
	if names, err = c.containers(context.Background()); len(names) > 0 || err != nil {
		if _, err := docker(context.Background(), nil, append([]string{"rm", "--force", "--volumes"}, names...)...); err != nil {
			t.Log(err)
		}
	}
}

// delete deletes the cluster and looks whether anything of it is left in Docker.
func (c cluster) delete(t *testing.T) {
	t.Helper()
	names, err := c.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mounts, err := docker(t.Context(), nil, append([]string{"inspect", "--format", "{{range .Mounts}}{{.Name}} {{end}}"}, names...)...)
	if err != nil {
		t.Fatal(err)
	}
	cli(t, 0, "delete", "cluster", c.name)
	left, err := c.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	volumes, err := docker(t.Context(), nil, "volume", "ls", "--quiet")
	if err != nil {
		t.Fatal(err)
	}
	for _, volume := range strings.Fields(volumes) {
		if slices.Contains(strings.Fields(mounts), volume) {
			left = append(left, "volume "+volume)
		}
	}
	networks, err := networks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, network := range networks {
		if !slices.Contains(suite.networks, network) {
			left = append(left, "network "+network)
		}
	}
	if len(left) > 0 {
		t.Errorf("left in Docker: %s", left)
	}
}

// facts are what a cluster is, by its own words.
type facts struct {
	Kubelets             map[string][]string // of the nodes of each part
	ClusterConfiguration string              // version in kubeadm's ConfigMap
	KubeProxy, CoreDNS   string              // images
	EtcdImages           []string            // of the control plane machines
	EtcdMembers          int
	NotReady             []string // nodes and pods of the system
}

// want returns the facts of a cluster that is as its spec says.
func (c cluster) want(t *testing.T) facts {
	t.Helper()
	own := release(t, c.version)
	f := facts{
		Kubelets: map[string][]string{}, ClusterConfiguration: own.Version.String(),
		KubeProxy: string(own.Images.KubeProxy), CoreDNS: string(own.Images.CoreDNS),
		EtcdMembers: max(c.controlPlanes, 1),
	}
	f.EtcdImages = slices.Repeat([]string{string(own.Images.Etcd)}, f.EtcdMembers)
	f.Kubelets["control-plane"] = slices.Repeat([]string{own.Version.String()}, f.EtcdMembers)
	for _, g := range c.groups {
		r := own
		if g.version != "" {
			r = release(t, g.version)
		}
		f.Kubelets[g.name] = slices.Repeat([]string{r.Version.String()}, max(g.count, 1))
	}
	return f
}

// look reads the facts of a cluster.
func (c cluster) look(t *testing.T, client kubernetes.Interface) facts {
	t.Helper()
	f, err := c.facts(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (c cluster) facts(ctx context.Context, client kubernetes.Interface) (f facts, err error) {
	f.Kubelets = map[string][]string{}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, err
	}
	controlPlane := ""
	for _, node := range nodes.Items {
		part := c.partOf(node.Name)
		f.Kubelets[part] = append(f.Kubelets[part], node.Status.NodeInfo.KubeletVersion)
		if part == "control-plane" {
			controlPlane = node.Name
		}
		if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}) {
			f.NotReady = append(f.NotReady, "node "+node.Name)
		}
	}
	const system = "kube-system"
	kubeadm, err := client.CoreV1().ConfigMaps(system).Get(ctx, "kubeadm-config", metav1.GetOptions{})
	if err != nil {
		return f, err
	}
	var configuration struct{ KubernetesVersion string }
	if err := yaml.Unmarshal([]byte(kubeadm.Data["ClusterConfiguration"]), &configuration); err != nil {
		return f, err
	}
	f.ClusterConfiguration = configuration.KubernetesVersion
	proxy, err := client.AppsV1().DaemonSets(system).Get(ctx, "kube-proxy", metav1.GetOptions{})
	if err != nil {
		return f, err
	}
	f.KubeProxy = proxy.Spec.Template.Spec.Containers[0].Image
	dns, err := client.AppsV1().Deployments(system).Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return f, err
	}
	f.CoreDNS = dns.Spec.Template.Spec.Containers[0].Image
	pods, err := client.CoreV1().Pods(system).List(ctx, metav1.ListOptions{})
	if err != nil {
		return f, err
	}
	for _, pod := range pods.Items {
		if pod.Labels["component"] == "etcd" {
			f.EtcdImages = append(f.EtcdImages, pod.Spec.Containers[0].Image)
		}
		if !slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		}) {
			f.NotReady = append(f.NotReady, "pod "+pod.Name)
		}
	}
	f.EtcdMembers, err = etcdMembers(ctx, controlPlane)
	return f, err
}

// partOf returns what a machine belongs to, by its name, which its node and its container have
// too: it begins with that of its object.
func (c cluster) partOf(machine string) string {
	for _, g := range c.groups {
		if strings.HasPrefix(machine, c.name+"-"+g.name+"-") {
			return g.name
		}
	}
	return "control-plane"
}

// etcdMembers asks etcd on a machine how many members it has.
func etcdMembers(ctx context.Context, machine string) (int, error) {
	const keys = "/etc/kubernetes/pki/etcd/"
	answer, err := docker(ctx, nil, "exec", machine, "curl", "--silent", "--show-error", "--fail", "--data", "{}",
		"--cacert", keys+"ca.crt", "--cert", keys+"peer.crt", "--key", keys+"peer.key", "https://127.0.0.1:2379/v3/cluster/member/list")
	if err != nil {
		return 0, err
	}
	var list struct{ Members []json.RawMessage }
	if err := json.NewDecoder(bytes.NewBufferString(answer)).Decode(&list); err != nil {
		return 0, fmt.Errorf("the members of etcd: %w: %s", err, answer)
	}
	return len(list.Members), nil
}
