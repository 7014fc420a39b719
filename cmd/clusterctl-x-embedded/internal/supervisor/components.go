package supervisor

import (
	"os"
	"path/filepath"
	"strconv"

	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

// component is a child process of the supervisor.
type component struct {
	name    string
	program string // path of the executable
	args    []string
	env     []string // in addition to the supervisor's own
	// readyURL answers 200 once the component is ready; empty where nothing
	// waits for it.
	readyURL string
}

// featureGates of Cluster API that are not on by themselves and that
// clusterctl-x needs for clusters from a ClusterClass.
const featureGates = "--feature-gates=ClusterTopology=true,RuntimeSDK=true"

func apiServer(programs string, ports embedded.Ports, keys pki.PKI) component {
	servingCert, servingKey := keys.Serving()
	etcdCert, etcdKey := keys.EtcdClient()
	return component{
		name:    "kube-apiserver",
		program: filepath.Join(programs, "kube-apiserver"),
		args: []string{
			"--bind-address=127.0.0.1",
			"--advertise-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(ports.APIServer),
			"--tls-cert-file=" + servingCert,
			"--tls-private-key-file=" + servingKey,
			"--client-ca-file=" + keys.CA(),
			"--etcd-servers=https://127.0.0.1:" + strconv.Itoa(ports.EtcdClient),
			"--etcd-cafile=" + keys.CA(),
			"--etcd-certfile=" + etcdCert,
			"--etcd-keyfile=" + etcdKey,
			"--authorization-mode=RBAC",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + keys.ServiceAccountKey(),
			"--service-account-signing-key-file=" + keys.ServiceAccountKey(),
			"--service-cluster-ip-range=10.0.0.0/24",
			"--endpoint-reconciler-type=none",
			"--profiling=false",
		},
		readyURL: "https://127.0.0.1:" + strconv.Itoa(ports.APIServer) + "/readyz",
	}
}

// core is Cluster API's own program, unchanged. Its webhook has no setting for
// the address and listens on all of them.
func core(programs, kubeconfig string, ports embedded.Ports, keys pki.PKI) component {
	cert, key := keys.Serving()
	health := "127.0.0.1:" + strconv.Itoa(ports.CoreHealth)
	return component{
		name:    "cluster-api-core",
		program: filepath.Join(programs, "cluster-api-core"),
		args: []string{
			"--kubeconfig=" + kubeconfig,
			"--webhook-port=" + strconv.Itoa(ports.CoreWebhook),
			"--webhook-cert-dir=" + filepath.Dir(cert),
			"--webhook-cert-name=" + filepath.Base(cert),
			"--webhook-key-name=" + filepath.Base(key),
			"--health-addr=" + health,
			"--diagnostics-address=0",
			"--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields",
			featureGates,
		},
		readyURL: "http://" + health + "/readyz",
	}
}

// providers is this program in its other role: all controllers but core's.
func providers(self, kubeconfig string, ports embedded.Ports, keys pki.PKI) component {
	cert, key := keys.Serving()
	health := "127.0.0.1:" + strconv.Itoa(ports.ProvidersHealth)
	return component{
		name:    "cluster-api-providers",
		program: self,
		args: []string{
			"providers",
			"--kubeconfig=" + kubeconfig,
			"--webhook-port=" + strconv.Itoa(ports.ProvidersWebhook),
			"--webhook-cert=" + cert,
			"--webhook-key=" + key,
			"--health-address=" + health,
			"--debug-port=" + strconv.Itoa(ports.SimulatorDebug),
			"--first-cluster-port=" + strconv.Itoa(ports.FirstCluster),
			"--last-cluster-port=" + strconv.Itoa(ports.LastCluster),
			featureGates,
		},
		readyURL: "http://" + health + "/readyz",
	}
}

// adminKubeconfig is self-contained: it can be copied elsewhere.
func adminKubeconfig(name string, ports embedded.Ports, keys pki.PKI) (*clientcmdapi.Config, error) {
	certFile, keyFile := keys.Admin()
	ca, err := os.ReadFile(keys.CA())
	if err != nil {
		return nil, err
	}
	cert, err := os.ReadFile(certFile)
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	context := "clusterctl-x-" + name
	config := clientcmdapi.NewConfig()
	config.Clusters[context] = &clientcmdapi.Cluster{
		Server:                   "https://127.0.0.1:" + strconv.Itoa(ports.APIServer),
		CertificateAuthorityData: ca,
	}
	config.AuthInfos[context] = &clientcmdapi.AuthInfo{ClientCertificateData: cert, ClientKeyData: key}
	config.Contexts[context] = &clientcmdapi.Context{Cluster: context, AuthInfo: context, Namespace: "default"}
	config.CurrentContext = context
	return config, nil
}
