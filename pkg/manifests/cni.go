package manifests

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// networkPlugin returns the objects that install the network plugin of the spec.
func (r renderer) networkPlugin() ([]templater.Object, error) {
	network := r.Config.Cluster.Spec.ClusterNetwork
	if network.CNIConfig == nil {
		return nil, nil
	}
	strategy := addonsv1.ClusterResourceSetStrategyReconcile
	var files map[string]string
	var err error
	if cilium := network.CNIConfig.Cilium; cilium != nil {
		if cilium.SkipUpgrade != nil && *cilium.SkipUpgrade {
			strategy = addonsv1.ClusterResourceSetStrategyApplyOnce
		}
		manifests := ciliumManifests
		if r.ipv6() {
			manifests = ciliumOnIPv6
		}
		files, err = manifests(*cilium)
	} else {
		files, err = kindnetdManifests(network.Pods.Block())
	}
	if err != nil {
		return nil, err
	}
	return r.ownAddOn("cni", files, strategy)
}

func kindnetdManifests(pods string) (map[string]string, error) {
	templates, err := templater.Parse(config.AddOns, "addons/kindnetd.yaml.tmpl")
	if err != nil {
		return nil, err
	}
	text, err := templates.Render("kindnetd.yaml.tmpl", struct{ Pods string }{pods})
	return map[string]string{"kindnetd.yaml": string(text)}, err
}

// ciliumManifests are the manifests of Cilium with the settings of the spec in
// its ConfigMap.
func ciliumManifests(settings v1alpha1.Cilium) (map[string]string, error) {
	return ciliumWith(ciliumSettings(settings), `"127.0.0.1"`)
}

// ciliumOnIPv6 returns the settings of Cilium for a cluster without IPv4.
func ciliumOnIPv6(settings v1alpha1.Cilium) (map[string]string, error) {
	keys := ciliumSettings(settings)
	keys["enable-ipv4"], keys["enable-ipv6"] = "false", "true"
	keys["operator-api-serve-addr"] = "[::1]:9234"
	return ciliumWith(keys, `"::1"`)
}

// ciliumWith has these keys in the ConfigMap, and probes of a loopback address, which
// are all that names one.
func ciliumWith(keys map[string]string, loopback string) (map[string]string, error) {
	manifest, err := addOnFile("cilium.yaml")
	if err != nil {
		return nil, err
	}
	manifest = strings.ReplaceAll(manifest, `"127.0.0.1"`, loopback)
	text, err := addOnFile("cilium-config.yaml")
	if err != nil {
		return nil, err
	}
	var configMap corev1.ConfigMap
	if err := yaml.UnmarshalStrict([]byte(text), &configMap); err != nil {
		return nil, fmt.Errorf("reading the configuration of Cilium: %w", err)
	}
	maps.Copy(configMap.Data, keys)
	written, err := yaml.Marshal(configMap)
	if err != nil {
		return nil, fmt.Errorf("writing the configuration of Cilium: %w", err)
	}
	return map[string]string{"cilium.yaml": manifest, "cilium-config.yaml": string(written)}, nil
}

// ciliumSettings are keys of Cilium's ConfigMap (its documentation, "Cilium
// Agent"), for the fields that are given.
func ciliumSettings(settings v1alpha1.Cilium) map[string]string {
	keys := map[string]string{
		"enable-policy":            settings.PolicyEnforcementMode,
		"ipv4-native-routing-cidr": settings.IPv4NativeRoutingCIDR,
		"ipv6-native-routing-cidr": settings.IPv6NativeRoutingCIDR,
		// The agent reads lists as words.
		"egress-masquerade-interfaces": strings.ReplaceAll(settings.EgressMasqueradeInterfaces, ",", " "),
	}
	if settings.CNIExclusive != nil {
		keys["cni-exclusive"] = strconv.FormatBool(*settings.CNIExclusive)
	}
	if settings.RoutingMode == "direct" {
		keys["routing-mode"], keys["auto-direct-node-routes"] = "native", "true"
	}
	maps.DeleteFunc(keys, func(_, value string) bool { return value == "" })
	return keys
}
