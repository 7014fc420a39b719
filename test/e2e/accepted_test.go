package e2e_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// TestWhatValidateAcceptsTheAPIServerAccepts: no spec that is valid by itself is
// refused when it is applied.
func TestWhatValidateAcceptsTheAPIServerAccepts(t *testing.T) {
	t.Parallel()
	assertAccepted(t, "random", 40)
}

// TestManySpecsThatValidateAccepts is the same with as many as find rare combinations.
func TestManySpecsThatValidateAccepts(t *testing.T) {
	t.Parallel()
	assertAccepted(t, "random-many", 500)
}

// assertAccepted sends random specs to the API server, so many that 'validate' accepts.
func assertAccepted(t *testing.T, namespace string, acceptedSpecs int64) {
	t.Helper()
	newNamespace(t, shared, namespace)
	clusters := []string{"a", "prod", strings.Repeat("c", 40)}
	addOns := []string{"small", "large.example.org"}
	makeReferences(t, namespace, clusters, addOns)
	var seed, accepted, refused atomic.Int64
	t.Run("specs", func(t *testing.T) {
		for worker := range 4 {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for accepted.Load() < acceptedSpecs {
					s := uint64(seed.Add(1))
					spec := newRandomSpec(t, s, clusters, addOns)
					if r := everyone.run(t.Context(), spec, "validate", "-f", "-"); r.code == 2 {
						refused.Add(1)
						continue
					}
					accepted.Add(1)
					// By its kubeconfig, a cluster that is to manage itself stays there and is checked too.
					if r := everyone.run(t.Context(), spec, "create", "cluster", "-f", "-", "-n", namespace, "--dry-run=server", "--management", "kubeconfig", "--kubeconfig", kubeconfigOf(shared)); r.code != 0 {
						t.Errorf("seed %d: exit code %d: %s\n%s", s, r.code, r.stderr, spec)
					}
				}
			})
		}
	})
	t.Logf("%d accepted by the API server, %d refused before", accepted.Load(), refused.Load())
	if refused.Load() > acceptedSpecs {
		t.Errorf("%d specs were refused before: the generator does not know the rules", refused.Load())
	}
}

// makeReferences makes the objects that random specs refer to.
func makeReferences(t *testing.T, namespace string, clusters, addOns []string) {
	t.Helper()
	secret := func(name string, keys ...string) {
		args := []string{"create", "secret", "generic", "-n", namespace, name}
		for _, key := range keys {
			args = append(args, "--from-literal="+key+"=any")
		}
		kubectl(t, shared, nil, args...)
	}
	secret("registry-credentials", "username", "password")
	for _, provider := range []string{"docker", "inmemory"} {
		class := cli(t, 0, "generate", "clusterclass", "--provider", provider, "-n", namespace).stdout
		kubectl(t, shared, []byte(class), "apply", "--server-side", "-f", "-")
	}
	for _, cluster := range clusters {
		secret(cluster+"-etcd", "tls.crt")
		secret(cluster+"-apiserver-etcd-client", "tls.crt", "tls.key")
		secret(cluster+"-aws-iam-authenticator-ca", "cert.pem", "key.pem")
	}
	for _, name := range addOns {
		kubectl(t, shared, nil, "create", "secret", "generic", "-n", namespace, name, "--type=addons.cluster.x-k8s.io/resource-set", "--from-literal=manifests=")
		kubectl(t, shared, nil, "create", "configmap", "-n", namespace, name, "--from-literal=manifests=")
	}
}
