package simulator

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	containerutil "sigs.k8s.io/cluster-api/util/container"
)

// Components of a control plane that run as pods.
const (
	etcd              = "etcd"
	apiServer         = "kube-apiserver"
	scheduler         = "kube-scheduler"
	controllerManager = "kube-controller-manager"
)

const controlPlaneRole = "node-role.kubernetes.io/control-plane"

// ensure creates the objects that a cluster does not have.
func ensure(ctx context.Context, c inmemoryruntime.Client, objects ...client.Object) error {
	for _, object := range objects {
		if err := c.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating %T %s: %w", object, object.GetName(), err)
		}
	}
	return nil
}

// node is what a machine is in its workload cluster.
type node struct {
	name         string
	version      string // of the kubelet
	providerID   string
	controlPlane bool
}

func (n node) object() client.Object {
	object := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: n.name},
		Spec:       corev1.NodeSpec{ProviderID: n.providerID},
		Status: corev1.NodeStatus{
			NodeInfo: corev1.NodeSystemInfo{KubeletVersion: n.version},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", LastTransitionTime: metav1.Now()},
				{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientMemory", LastTransitionTime: metav1.Now()},
				{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasNoDiskPressure", LastTransitionTime: metav1.Now()},
				{Type: corev1.NodePIDPressure, Status: corev1.ConditionFalse, Reason: "KubeletHasSufficientPID", LastTransitionTime: metav1.Now()},
			},
		},
	}
	if n.controlPlane {
		object.Labels = map[string]string{controlPlaneRole: ""}
		object.Spec.Taints = []corev1.Taint{{Key: controlPlaneRole, Effect: corev1.TaintEffectNoSchedule}}
	}
	return object
}

// pods are those of a control plane node, without etcd's.
func (n node) pods() []client.Object {
	return []client.Object{n.pod(apiServer), n.pod(scheduler), n.pod(controllerManager)}
}

func (n node) podName(component string) string { return component + "-" + n.name }

func (n node) pod(component string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: metav1.NamespaceSystem, Name: n.podName(component),
			Labels: map[string]string{"component": component, "tier": "control-plane"},
		},
		Spec: corev1.PodSpec{NodeName: n.name},
		Status: corev1.PodStatus{
			Phase:      corev1.PodRunning,
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
		},
	}
}

// etcdMember is etcd's pod. Its annotations are what upstream's simulated etcd knows of it.
func (n node) etcdMember(cluster client.ObjectKey) *corev1.Pod {
	pod := n.pod(etcd)
	pod.Annotations = map[string]string{
		cloudv1.EtcdClusterIDAnnotationName: etcdID(cluster.String()),
		cloudv1.EtcdMemberIDAnnotationName:  etcdID(pod.Name),
	}
	return pod
}

// etcdID is the same after a restart, and never 0, which is none.
func etcdID(name string) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // never fails
	return fmt.Sprint(max(hash.Sum32(), 1))
}

// hasLeader reports whether a present member of a cluster's etcd leads it.
func hasLeader(ctx context.Context, c inmemoryruntime.Client) (bool, error) {
	var members corev1.PodList
	if err := c.List(ctx, &members, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": etcd}); err != nil {
		return false, fmt.Errorf("listing the members: %w", err)
	}
	for _, member := range members.Items {
		_, leads := member.Annotations[cloudv1.EtcdLeaderFromAnnotationName]
		if _, removed := member.Annotations[cloudv1.EtcdMemberRemoved]; leads && !removed {
			return true, nil
		}
	}
	return false, nil
}

// kubeadmObjects are what kubeadm makes in a cluster and the control plane controller
// reads or updates.
func kubeadmObjects(version string, dns bootstrapv1.DNS) []client.Object {
	const getNodes = "kubeadm:get-nodes"
	system := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: name}
	}
	running := func(name, image string) corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: name, Image: image}}}}
	}
	return []client.Object{
		&rbacv1.ClusterRole{
			ObjectMeta: metav1.ObjectMeta{Name: getNodes},
			Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}},
		},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: getNodes},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: getNodes},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, Name: "system:bootstrappers:kubeadm:default-node-token"}},
		},
		&corev1.ConfigMap{ObjectMeta: system("kubeadm-config"), Data: map[string]string{"ClusterConfiguration": ""}},
		&appsv1.DaemonSet{
			ObjectMeta: system("kube-proxy"),
			Spec:       appsv1.DaemonSetSpec{Template: running("kube-proxy", "registry.k8s.io/kube-proxy:"+containerutil.SemverToOCIImageTag(version))},
		},
		&corev1.ConfigMap{ObjectMeta: system("coredns"), Data: map[string]string{"Corefile": corefile}},
		&appsv1.Deployment{ObjectMeta: system("coredns"), Spec: appsv1.DeploymentSpec{Template: running("coredns", coreDNSImage(dns))}},
	}
}

// coreDNSImage is the image of what the user asked for. Where the version is kubeadm's to
// choose, any will do: the control plane controller leaves it alone.
func coreDNSImage(dns bootstrapv1.DNS) string {
	return cmp.Or(dns.ImageRepository, "registry.k8s.io/coredns") + "/coredns:" + cmp.Or(dns.ImageTag, "v1.12.1")
}

// corefile is a short form of kubeadm's; the control plane controller migrates it.
const corefile = `.:53 {
    errors
    health
    ready
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
    }
    forward . /etc/resolv.conf
    cache 30
    loop
    reload
    loadbalance
}
`
