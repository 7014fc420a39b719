package simulator

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryruntime "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
	inmemoryserver "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/server"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/workload"
)

// host is where workload clusters are served. Upstream listens on all addresses, and has
// no setting for that.
const host = "127.0.0.1"

// servers are the workload clusters, each on a port of its own, which is that of its API
// servers and etcd members.
type servers struct {
	secrets     client.Reader // of the management cluster
	objects     inmemoryruntime.Manager
	mux         *inmemoryserver.WorkloadClustersMux
	first, last int32

	mu    sync.Mutex
	ports map[client.ObjectKey]int32
}

func newServers(ctx context.Context, secrets client.Reader, options Options) (*servers, error) {
	objects, err := workload.NewManager(ctx)
	if err != nil {
		return nil, err
	}
	// The debug endpoint cannot be left out. It takes any free port.
	mux, err := inmemoryserver.NewWorkloadClustersMux(objects, host, inmemoryserver.CustomPorts{
		MinPort: options.FirstClusterPort, MaxPort: options.LastClusterPort, DebugPort: 0,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the servers of workload clusters: %w", err)
	}
	return &servers{
		secrets: secrets, objects: objects, mux: mux,
		first: options.FirstClusterPort, last: options.LastClusterPort, ports: map[client.ObjectKey]int32{},
	}, nil
}

// serve begins to listen for a cluster, unless it does, and returns the port: the given
// one, or the first one that is neither taken nor listened on where that is 0.
func (s *servers) serve(ctx context.Context, served *clusterv1.Cluster, port int32, taken map[int32]bool) (int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cluster, age := client.ObjectKeyFromObject(served), time.Since(served.CreationTimestamp.Time)
	if served, ok := s.ports[cluster]; ok {
		return served, nil
	}
	own := map[int32]client.ObjectKey{}
	for other, served := range s.ports {
		own[served] = other
	}
	if port != 0 {
		if other, ok := own[port]; ok {
			return 0, fmt.Errorf("port %d of %s is that of %s", port, cluster, other)
		}
		return port, s.listen(ctx, cluster, age, port)
	}
	for port := s.first; port <= s.last; port++ {
		if _, ok := own[port]; ok || taken[port] {
			continue
		}
		if err := s.listen(ctx, cluster, age, port); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no port between %d and %d is free for %s", s.first, s.last, cluster)
}

// listen listens at once, so that no other process takes the port; there is an answer
// once there is an API server.
func (s *servers) listen(ctx context.Context, cluster client.ObjectKey, age time.Duration, port int32) error {
	name := cluster.String()
	s.objects.AddResourceGroup(name)
	objects := s.objects.GetResourceGroup(name).GetClient()
	for _, namespace := range []string{metav1.NamespaceDefault, metav1.NamespacePublic, metav1.NamespaceSystem} {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{corev1.LabelMetadataName: namespace}}}
		if err := ensure(ctx, objects, object); err != nil {
			return fmt.Errorf("making cluster %s: %w", cluster, err)
		}
	}
	if err := advance(ctx, objects, age); err != nil {
		return fmt.Errorf("making cluster %s: %w", cluster, err)
	}
	if _, err := s.mux.InitWorkloadClusterListener(name, port); err != nil {
		return fmt.Errorf("serving cluster %s: %w", cluster, err)
	}
	if err := errors.Join(s.mux.RegisterResourceGroup(name, name), s.mux.StartListener(name)); err != nil {
		return fmt.Errorf("serving cluster %s on port %d: %w", cluster, port, errors.Join(err, s.mux.DeleteWorkloadClusterListener(name)))
	}
	s.ports[cluster] = port
	return nil
}

// advance makes the resource versions of a cluster greater than those that a simulator before
// this one can have given out: watches that clients kept would leave objects out that have older
// ones. No cluster is written more than ten times a second.
func advance(ctx context.Context, objects inmemoryruntime.Client, age time.Duration) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: "resource-versions"}}
	if err := objects.Create(ctx, object); err != nil {
		return client.IgnoreAlreadyExists(err)
	}
	for write := range int(age/time.Second) * 10 {
		object.Data = map[string]string{"write": strconv.Itoa(write)}
		if err := objects.Update(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// remove ends a cluster.
func (s *servers) remove(cluster client.ObjectKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mux.DeleteWorkloadClusterListener(cluster.String()); err != nil {
		return fmt.Errorf("removing cluster %s: %w", cluster, err)
	}
	s.objects.DeleteResourceGroup(cluster.String())
	delete(s.ports, cluster)
	return nil
}

// join makes a node of a cluster that is served, with what kubeadm brings with it.
func (s *servers) join(ctx context.Context, cluster client.ObjectKey, n node, dns bootstrapv1.DNS) error {
	objects := s.objects.GetResourceGroup(cluster.String()).GetClient()
	if err := ensure(ctx, objects, n.object()); err != nil {
		return fmt.Errorf("joining %s to cluster %s: %w", n.name, cluster, err)
	}
	if !n.controlPlane {
		return nil
	}
	if err := s.joinEtcd(ctx, cluster, objects, n); err != nil {
		return fmt.Errorf("joining %s to the etcd of cluster %s: %w", n.name, cluster, err)
	}
	if err := ensure(ctx, objects, append(n.pods(), kubeadmObjects(n.version, dns)...)...); err != nil {
		return fmt.Errorf("joining %s to the control plane of cluster %s: %w", n.name, cluster, err)
	}
	name, pod := cluster.String(), n.podName(apiServer)
	if s.mux.HasAPIServer(name, pod) {
		return nil
	}
	cert, key, err := s.ca(ctx, cluster, secret.ClusterCA)
	if err != nil {
		return err
	}
	if err := s.mux.AddAPIServer(name, pod, cert, key); err != nil {
		return fmt.Errorf("starting API server %s of cluster %s: %w", pod, cluster, err)
	}
	return nil
}

func (s *servers) joinEtcd(ctx context.Context, cluster client.ObjectKey, objects inmemoryruntime.Client, n node) error {
	led, err := hasLeader(ctx, objects)
	if err != nil {
		return err
	}
	member := n.etcdMember(cluster)
	if !led {
		member.Annotations[cloudv1.EtcdLeaderFromAnnotationName] = time.Now().Format(time.RFC3339)
	}
	if err := ensure(ctx, objects, member); err != nil {
		return err
	}
	name, pod := cluster.String(), n.podName(etcd)
	if s.mux.HasEtcdMember(name, pod) {
		return nil
	}
	cert, key, err := s.ca(ctx, cluster, secret.EtcdCA)
	if err != nil {
		return err
	}
	return s.mux.AddEtcdMember(name, pod, cert, key)
}

// leave removes a node and what ran on it.
func (s *servers) leave(ctx context.Context, cluster client.ObjectKey, nodeName string) error {
	name, n := cluster.String(), node{name: nodeName}
	if s.mux.GetCluster(name) == nil {
		return nil
	}
	objects := s.objects.GetResourceGroup(name).GetClient()
	for _, object := range append(n.pods(), n.etcdMember(cluster), n.object()) {
		if err := objects.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("removing %T %s from cluster %s: %w", object, object.GetName(), cluster, err)
		}
	}
	if pod := n.podName(etcd); s.mux.HasEtcdMember(name, pod) {
		if err := s.mux.DeleteEtcdMember(name, pod); err != nil {
			return fmt.Errorf("stopping etcd member %s of cluster %s: %w", pod, cluster, err)
		}
	}
	if pod := n.podName(apiServer); s.mux.HasAPIServer(name, pod) {
		if err := s.mux.DeleteAPIServer(name, pod); err != nil {
			return fmt.Errorf("stopping API server %s of cluster %s: %w", pod, cluster, err)
		}
	}
	return nil
}

// ca reads one of the CAs that Cluster API made for a cluster.
func (s *servers) ca(ctx context.Context, cluster client.ObjectKey, purpose secret.Purpose) (*x509.Certificate, *rsa.PrivateKey, error) {
	keyPair, err := secret.Get(ctx, s.secrets, cluster, purpose)
	if err != nil {
		return nil, nil, fmt.Errorf("reading CA %s of cluster %s: %w", purpose, cluster, err)
	}
	cert, err := certs.DecodeCertPEM(keyPair.Data[secret.TLSCrtDataName])
	if err != nil || cert == nil {
		return nil, nil, fmt.Errorf("CA %s of cluster %s has no certificate: %w", purpose, cluster, err)
	}
	signer, err := certs.DecodePrivateKeyPEM(keyPair.Data[secret.TLSKeyDataName])
	if err != nil {
		return nil, nil, fmt.Errorf("CA %s of cluster %s has no key: %w", purpose, cluster, err)
	}
	key, ok := signer.(*rsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("CA %s of cluster %s has a %T; upstream's simulation takes RSA keys", purpose, cluster, signer)
	}
	return cert, key, nil
}
