package manifests

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestEncryptionFollowsTheVersion: the interface of the plugin, and what there
// is to say about it, depend on the version of the API server.
func TestEncryptionFollowsTheVersion(t *testing.T) {
	t.Parallel()
	kms := func(change func(*v1alpha1.KMS)) v1alpha1.EtcdEncryption {
		plugin := &v1alpha1.KMS{Name: "vault", SocketListenAddress: "unix:///var/run/vault/socket.sock"}
		change(plugin)
		return v1alpha1.EtcdEncryption{Providers: []v1alpha1.EtcdEncryptionProvider{{KMS: plugin}}, Resources: []string{"secrets"}}
	}
	none := func(*v1alpha1.KMS) {}
	content := func(lines string) string {
		return "apiVersion: apiserver.config.k8s.io/v1\nkind: EncryptionConfiguration\nresources:\n- providers:\n  - kms:\n" + lines +
			"  - identity: {}\n  resources:\n  - secrets\n"
	}
	for _, test := range []struct {
		name, version string
		spec          v1alpha1.EtcdEncryption
		want          string
	}{
		{"the last with version 1", "v1.28.15", kms(none), content(`      apiVersion: v1
      cachesize: 1000
      endpoint: unix:///var/run/vault/socket.sock
      name: vault
      timeout: 3s
`)},
		{"the first with version 2", "v1.29.0", kms(none), content(`      apiVersion: v2
      endpoint: unix:///var/run/vault/socket.sock
      name: vault
      timeout: 3s
`)},
		{"given values, version 1", "v1.28.15", kms(func(k *v1alpha1.KMS) { k.CacheSize, k.Timeout = new(-1), v1alpha1.Duration{Duration: 5e8} }), content(`      apiVersion: v1
      cachesize: -1
      endpoint: unix:///var/run/vault/socket.sock
      name: vault
      timeout: 500ms
`)},
		{"given values, version 2", "v1.34.0", kms(func(k *v1alpha1.KMS) { k.CacheSize, k.Timeout = new(5), v1alpha1.Duration{Duration: 5e9} }), content(`      apiVersion: v2
      endpoint: unix:///var/run/vault/socket.sock
      name: vault
      timeout: 5s
`)},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			file, _, err := encryption(test.spec, v1alpha1.MustParseVersion(test.version))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(test.want, file.Content); diff != "" {
				t.Errorf("encryption configuration (-want +got):\n%s", diff)
			}
		})
	}
}
