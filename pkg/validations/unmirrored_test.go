package validations

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// TestUnmirrored: a mirror of named registries says which other ones machines use.
func TestUnmirrored(t *testing.T) {
	t.Parallel()
	const remedy = " and not from the mirror; add what the mirror has of these, or leave ociNamespaces out to mirror every registry"
	spec := func(iam bool, plugin *v1alpha1.CNIConfig, registries ...string) *v1alpha1.Config {
		mirror := &v1alpha1.RegistryMirrorConfiguration{Endpoint: "mirror"}
		for _, registry := range registries {
			mirror.OCINamespaces = append(mirror.OCINamespaces, v1alpha1.OCINamespace{Registry: registry})
		}
		c := &v1alpha1.Config{Cluster: &v1alpha1.Cluster{}}
		c.Cluster.Spec.RegistryMirrorConfiguration = mirror
		c.Cluster.Spec.ClusterNetwork.CNIConfig = plugin
		if iam {
			c.AWSIam = &v1alpha1.AWSIamConfig{}
		}
		return c
	}
	cilium, kindnetd := &v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}}, &v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}}
	for name, test := range map[string]struct {
		config *v1alpha1.Config
		want   []strictyaml.Warning
	}{
		"no mirror":                  {&v1alpha1.Config{Cluster: &v1alpha1.Cluster{}}, nil},
		"every registry":             {spec(true, cilium), nil},
		"all that are used":          {spec(true, kindnetd, "docker.io", "registry.k8s.io", "public.ecr.aws"), nil},
		"EKS Anywhere's usual one":   {spec(false, nil, "public.ecr.aws"), unmirroredWarning("machines pull images of this cluster from registry.k8s.io" + remedy)},
		"neither plugin nor add-on":  {spec(true, cilium, "registry.k8s.io"), unmirroredWarning("machines pull images of this cluster from public.ecr.aws, quay.io" + remedy)},
		"the plugin of another name": {spec(false, kindnetd, "registry.k8s.io", "quay.io"), unmirroredWarning("machines pull images of this cluster from docker.io" + remedy)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := versionsbundle.Set{v1alpha1.MustParseVersion("v1.34.4"): {Images: versionsbundle.Images{KubeProxy: "registry.k8s.io/kube-proxy:v1.34.4", CoreDNS: "registry.k8s.io/coredns/coredns:v1.12.1"}}}
			if diff := cmp.Diff(test.want, unmirrored(test.config, set)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

func unmirroredWarning(text string) []strictyaml.Warning {
	return []strictyaml.Warning{{Path: "spec.registryMirrorConfiguration.ociNamespaces", Text: text}}
}

// TestAddOnRegistries: the registries are those of the images in config/addons.
func TestAddOnRegistries(t *testing.T) {
	t.Parallel()
	image := regexp.MustCompile(`(?m)^ *image: "?([^/"]+)/`)
	for file, spec := range map[string]*v1alpha1.Config{
		"cilium.yaml":                {Cluster: clusterWith(&v1alpha1.CNIConfig{Cilium: &v1alpha1.Cilium{}})},
		"kindnetd.yaml.tmpl":         {Cluster: clusterWith(&v1alpha1.CNIConfig{Kindnetd: &v1alpha1.Kindnetd{}})},
		"aws-iam-authenticator.yaml": {Cluster: clusterWith(nil), AWSIam: &v1alpha1.AWSIamConfig{}},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			text, err := fs.ReadFile(config.AddOns, "addons/"+file)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, match := range image.FindAllStringSubmatch(string(text), -1) {
				want = append(want, match[1])
			}
			if diff := cmp.Diff(slices.Compact(want), addOnRegistries(spec)); diff != "" {
				t.Errorf("registries (-of the file +got):\n%s", diff)
			}
		})
	}
}

func clusterWith(plugin *v1alpha1.CNIConfig) *v1alpha1.Cluster {
	c := &v1alpha1.Cluster{}
	c.Spec.ClusterNetwork.CNIConfig = plugin
	return c
}
