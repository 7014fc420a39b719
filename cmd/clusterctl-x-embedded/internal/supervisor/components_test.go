package supervisor

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/pki"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

var ports = embedded.Ports{ //nolint:gochecknoglobals // a constant
	APIServer: 1, EtcdClient: 2, EtcdPeer: 3, CoreWebhook: 4, CoreHealth: 5,
	ProvidersWebhook: 6, ProvidersHealth: 7, SimulatorDebug: 8, FirstCluster: 9, LastCluster: 10,
}

func components() []component {
	return []component{
		apiServer("/bin", ports, pki.PKI{}), core("/bin", "/kubeconfig", ports, pki.PKI{}),
		providers("/self", "/kubeconfig", ports, pki.PKI{}),
	}
}

// TestWhereComponentsListen takes every argument that has to do with an
// address or a port, and no other: all on 127.0.0.1 where there is a setting.
func TestWhereComponentsListen(t *testing.T) {
	t.Parallel()
	want := map[string][]string{
		"kube-apiserver": {
			"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=1",
			"--etcd-servers=https://127.0.0.1:2", "ready: https://127.0.0.1:1/readyz",
		},
		// The address of the webhook cannot be set; the providers' process sets its own.
		"cluster-api-core": {"--webhook-port=4", "--health-addr=127.0.0.1:5", "--diagnostics-address=0", "ready: http://127.0.0.1:5/readyz"},
		"cluster-api-providers": {
			"--webhook-port=6", "--health-address=127.0.0.1:7", "--debug-port=8", "--first-cluster-port=9", "--last-cluster-port=10",
			"ready: http://127.0.0.1:7/readyz",
		},
	}
	got := map[string][]string{}
	for _, c := range components() {
		for _, arg := range c.args {
			flag, _, _ := strings.Cut(arg, "=")
			for _, word := range []string{"addr", "port", "servers", "bind", "listen"} {
				if strings.Contains(flag, word) {
					got[c.name] = append(got[c.name], arg)
					break
				}
			}
		}
		if c.readyURL != "" {
			got[c.name] = append(got[c.name], "ready: "+c.readyURL)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

func TestProgramsOfComponents(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"kube-apiserver": "/bin/kube-apiserver", "cluster-api-core": "/bin/cluster-api-core",
		"cluster-api-providers": "/self",
	}
	got := map[string]string{}
	for _, c := range components() {
		got[c.name] = c.program
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("programs (-want +got):\n%s", diff)
	}
}

// TestWhoIsLetIn has the API server ask for a certificate of the instance.
func TestWhoIsLetIn(t *testing.T) {
	t.Parallel()
	keys := newKeys(t)
	cert, key := keys.Serving()
	etcdCert, etcdKey := keys.EtcdClient()
	want := []string{
		"--tls-cert-file=" + cert, "--tls-private-key-file=" + key, "--client-ca-file=" + keys.CA(),
		"--etcd-cafile=" + keys.CA(), "--etcd-certfile=" + etcdCert, "--etcd-keyfile=" + etcdKey,
		"--authorization-mode=RBAC",
	}
	var got []string
	for _, arg := range apiServer("/bin", ports, keys).args {
		if strings.Contains(arg, "file=") && !strings.Contains(arg, "service-account") || strings.Contains(arg, "auth") {
			got = append(got, arg)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}

// TestAdminKubeconfig is self-contained: it names no file.
func TestAdminKubeconfig(t *testing.T) {
	t.Parallel()
	keys := newKeys(t)
	read := func(path string) []byte {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cert, key := keys.Admin()
	want := &clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"clusterctl-x-a": {Server: "https://127.0.0.1:1", CertificateAuthorityData: read(keys.CA())}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"clusterctl-x-a": {ClientCertificateData: read(cert), ClientKeyData: read(key)}},
		Contexts:       map[string]*clientcmdapi.Context{"clusterctl-x-a": {Cluster: "clusterctl-x-a", AuthInfo: "clusterctl-x-a", Namespace: "default"}},
		CurrentContext: "clusterctl-x-a",
		Extensions:     clientcmdapi.NewConfig().Extensions,
		Preferences:    clientcmdapi.NewConfig().Preferences,
	}
	got, err := adminKubeconfig("a", ports, keys)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kubeconfig (-want +got):\n%s", diff)
	}

	instance := embedded.Instance{Name: "a", Dir: t.TempDir()}
	s := &supervisor{instance: instance}
	if err := s.writeKubeconfig(ports, keys); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(instance.Kubeconfig())
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the file is %v, %v; want mode 0600", info, err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", instance.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:1" || string(config.KeyData) != string(read(key)) {
		t.Errorf("a client would talk to %s", config.Host)
	}
}
