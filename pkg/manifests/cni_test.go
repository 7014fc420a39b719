package manifests

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestCiliumManifests compares what is installed with the manifests that come
// with clusterctl-x: which settings differ, and what of the rest.
func TestCiliumManifests(t *testing.T) {
	t.Parallel()
	type change struct{ From, To string } // empty where there is no such key
	embedded := map[string]string{}
	for _, name := range []string{"cilium.yaml", "cilium-config.yaml"} {
		text, err := addOnFile(name)
		if err != nil {
			t.Fatal(err)
		}
		embedded[name] = text
	}
	onIPv6 := map[string]change{
		"enable-ipv4": {"true", "false"}, "enable-ipv6": {"false", "true"}, "operator-api-serve-addr": {"127.0.0.1:9234", "[::1]:9234"},
	}
	tests := map[string]struct {
		settings v1alpha1.Cilium
		ipv6     bool
		want     map[string]change
	}{
		"IPv4":                          {v1alpha1.Cilium{}, false, map[string]change{}},
		"IPv6":                          {v1alpha1.Cilium{}, true, onIPv6},
		"policyEnforcementMode always":  {v1alpha1.Cilium{PolicyEnforcementMode: "always"}, false, map[string]change{"enable-policy": {"default", "always"}}},
		"policyEnforcementMode never":   {v1alpha1.Cilium{PolicyEnforcementMode: "never"}, false, map[string]change{"enable-policy": {"default", "never"}}},
		"policyEnforcementMode default": {v1alpha1.Cilium{PolicyEnforcementMode: "default"}, false, map[string]change{}},
		"egressMasqueradeInterfaces":    {v1alpha1.Cilium{EgressMasqueradeInterfaces: "eth0"}, false, map[string]change{"egress-masquerade-interfaces": {"", "eth0"}}},
		"two of them":                   {v1alpha1.Cilium{EgressMasqueradeInterfaces: "eth0,ens+"}, false, map[string]change{"egress-masquerade-interfaces": {"", "eth0 ens+"}}},
		"skipUpgrade is no setting":     {v1alpha1.Cilium{SkipUpgrade: new(true)}, false, map[string]change{}},
		"routingMode overlay":           {v1alpha1.Cilium{RoutingMode: "overlay"}, false, map[string]change{}},
		"routingMode direct":            {v1alpha1.Cilium{RoutingMode: "direct"}, false, map[string]change{"routing-mode": {"tunnel", "native"}, "auto-direct-node-routes": {"false", "true"}}},
		"ipv4NativeRoutingCIDR":         {v1alpha1.Cilium{IPv4NativeRoutingCIDR: "10.0.0.0/8"}, false, map[string]change{"ipv4-native-routing-cidr": {"", "10.0.0.0/8"}}},
		"ipv6NativeRoutingCIDR":         {v1alpha1.Cilium{IPv6NativeRoutingCIDR: "fd00::/8"}, false, map[string]change{"ipv6-native-routing-cidr": {"", "fd00::/8"}}},
		"cniExclusive false":            {v1alpha1.Cilium{CNIExclusive: new(false)}, false, map[string]change{"cni-exclusive": {"true", "false"}}},
		"cniExclusive true":             {v1alpha1.Cilium{CNIExclusive: new(true)}, false, map[string]change{}},
		"everything, on IPv6": {
			v1alpha1.Cilium{
				PolicyEnforcementMode: "always", EgressMasqueradeInterfaces: "eth0", SkipUpgrade: new(false), RoutingMode: "direct",
				IPv4NativeRoutingCIDR: "10.0.0.0/8", IPv6NativeRoutingCIDR: "fd00::/8", CNIExclusive: new(false),
			}, true,
			map[string]change{
				"enable-ipv4": onIPv6["enable-ipv4"], "enable-ipv6": onIPv6["enable-ipv6"], "operator-api-serve-addr": onIPv6["operator-api-serve-addr"],
				"enable-policy": {"default", "always"}, "egress-masquerade-interfaces": {"", "eth0"}, "routing-mode": {"tunnel", "native"},
				"auto-direct-node-routes": {"false", "true"}, "ipv4-native-routing-cidr": {"", "10.0.0.0/8"}, "ipv6-native-routing-cidr": {"", "fd00::/8"},
				"cni-exclusive": {"true", "false"},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			manifests := ciliumManifests
			if test.ipv6 {
				manifests = ciliumOnIPv6
			}
			files, err := manifests(test.settings)
			if err != nil {
				t.Fatal(err)
			}
			manifest := embedded["cilium.yaml"]
			if test.ipv6 {
				manifest = strings.ReplaceAll(manifest, `            host: "127.0.0.1"`, `            host: "::1"`)
				if strings.Contains(files["cilium.yaml"], "127.0.0.1") {
					t.Error("an address of IPv4 is left")
				}
			}
			if diff := gocmp.Diff(manifest, files["cilium.yaml"]); diff != "" || len(files) != 2 {
				t.Errorf("%d files; manifest (-want +got):\n%s", len(files), diff)
			}
			before, after := configMap(t, embedded["cilium-config.yaml"]), configMap(t, files["cilium-config.yaml"])
			got := map[string]change{}
			for key, value := range before.Data {
				if after.Data[key] != value {
					got[key] = change{value, after.Data[key]}
				}
			}
			for key, value := range after.Data {
				if _, was := before.Data[key]; !was {
					got[key] = change{"", value}
				}
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("settings that differ (-want +got):\n%s", diff)
			}
			before.Data, after.Data = nil, nil
			if diff := gocmp.Diff(before, after); diff != "" {
				t.Errorf("the rest of the ConfigMap (-embedded +got):\n%s", diff)
			}
		})
	}
}

func configMap(t *testing.T, text string) corev1.ConfigMap {
	t.Helper()
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(text), &configMap); err != nil {
		t.Fatal(err)
	}
	return configMap
}

// TestAddOnManifests decodes every manifest of config/addons into the Go types
// of Kubernetes, strictly: without a field that is unknown or stands twice.
func TestAddOnManifests(t *testing.T) {
	t.Parallel()
	const rbac, system = "rbac.authorization.k8s.io/v1 ", "kube-system/"
	want := map[string][]string{
		"aws-iam-authenticator-crd.yaml": {
			"apiextensions.k8s.io/v1 CustomResourceDefinition iamidentitymappings.iamauthenticator.k8s.aws",
			rbac + "ClusterRoleBinding aws-iam-authenticator",
		},
		"aws-iam-authenticator.yaml": {
			rbac + "ClusterRole aws-iam-authenticator", "v1 ServiceAccount " + system + "aws-iam-authenticator",
			rbac + "RoleBinding " + system + "aws-iam-authenticator", "apps/v1 DaemonSet " + system + "aws-iam-authenticator",
		},
		"cilium-config.yaml": {"v1 ConfigMap " + system + "cilium-config"},
		"cilium.yaml": {
			"v1 Namespace cilium-secrets", "v1 ServiceAccount " + system + "cilium", "v1 ServiceAccount " + system + "cilium-operator",
			rbac + "ClusterRole cilium", rbac + "ClusterRole cilium-operator", rbac + "ClusterRoleBinding cilium", rbac + "ClusterRoleBinding cilium-operator",
			rbac + "Role " + system + "cilium-config-agent", rbac + "Role cilium-secrets/cilium-tlsinterception-secrets",
			rbac + "Role cilium-secrets/cilium-operator-tlsinterception-secrets", rbac + "Role " + system + "cilium-operator-ztunnel",
			rbac + "RoleBinding " + system + "cilium-config-agent", rbac + "RoleBinding cilium-secrets/cilium-tlsinterception-secrets",
			rbac + "RoleBinding cilium-secrets/cilium-operator-tlsinterception-secrets", rbac + "RoleBinding " + system + "cilium-operator-ztunnel",
			"apps/v1 DaemonSet " + system + "cilium", "apps/v1 Deployment " + system + "cilium-operator",
		},
		"kindnetd.yaml.tmpl": {
			rbac + "ClusterRole kindnet", rbac + "ClusterRoleBinding kindnet", "v1 ServiceAccount " + system + "kindnet", "apps/v1 DaemonSet " + system + "kindnet",
		},
	}
	got := map[string][]string{}
	names, err := fs.Glob(config.AddOns, "addons/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name = strings.TrimPrefix(name, "addons/")
		text, err := addOnFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if rendered, isTemplate := strings.CutSuffix(name, ".tmpl"); isTemplate {
			text = renderedKindnetd(t, "fd00:1::/52")[rendered]
		}
		got[name] = objectsIn(t, text)
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// TestKindnetd has the network of pods of the cluster, as text.
func TestKindnetd(t *testing.T) {
	t.Parallel()
	for _, pods := range []string{"192.168.0.0/16", "fd00:1::/52"} {
		files := renderedKindnetd(t, pods)
		want := strings.Replace(renderedKindnetd(t, "10.0.0.0/8")["kindnetd.yaml"], "value: \"10.0.0.0/8\"\n", "value: \""+pods+"\"\n", 1)
		if diff := gocmp.Diff(map[string]string{"kindnetd.yaml": want}, files); diff != "" || !strings.Contains(want, pods) {
			t.Errorf("manifests for %s (-want +got):\n%s", pods, diff)
		}
	}
}

func renderedKindnetd(t *testing.T, pods string) map[string]string {
	t.Helper()
	files, err := kindnetdManifests(pods)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// objectsIn are the objects of a file: version, kind, namespace and name.
func objectsIn(t *testing.T, text string) []string {
	t.Helper()
	types := runtime.NewScheme()
	if err := scheme.AddToScheme(types); err != nil {
		t.Fatal(err)
	}
	// The type of this one is in no module that is needed otherwise.
	types.AddKnownTypeWithName(apischema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}, &unstructured.Unstructured{})
	decoder := serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer()
	var objects []string
	for reader := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(text))); ; {
		document := make([]byte, len(text))
		n, err := reader.Read(document)
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		document = document[:n]
		if comments(document) {
			continue
		}
		object, kind, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Errorf("%s\n%s", err, document)
			continue
		}
		accessor, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		name := accessor.GetName()
		if accessor.GetNamespace() != "" {
			name = accessor.GetNamespace() + "/" + name
		}
		objects = append(objects, kind.GroupVersion().String()+" "+kind.Kind+" "+name)
	}
}

// comments reports whether there is nothing else.
func comments(document []byte) bool {
	for line := range bytes.Lines(document) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' && !bytes.Equal(line, []byte("---")) {
			return false
		}
	}
	return true
}
