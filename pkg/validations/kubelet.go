package validations

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// What a kubelet's configuration says of itself.
const (
	kubeletAPIVersion = "kubelet.config.k8s.io/v1beta1"
	kubeletKind       = "KubeletConfiguration"
)

// kubeletFields is the shape of a kubelet's configuration. It is written down
// because the package of its Go type brings metrics and tracing into a
// program; a test compares it with that type.
//
//go:embed kubelet_fields.json
var kubeletFields []byte

var kubeletShape = sync.OnceValue(func() *shape { //nolint:gochecknoglobals // read once
	var fields shape
	if err := json.Unmarshal(kubeletFields, &fields); err != nil {
		panic(err) // a test reads the same file
	}
	return &fields
})

// kubeletRemedies are about fields that kubeadm, Cluster API or the spec own.
func kubeletRemedies() map[string]string {
	return map[string]string{
		"providerID":         "the infrastructure provider sets it; remove it",
		"registerWithTaints": "the spec has taints for this; use that",
		"staticPodPath":      "kubeadm sets it; remove it",
	}
}

func kubelet(config map[string]any, dns v1alpha1.DNS, path *field.Path) field.ErrorList {
	if len(config) == 0 {
		return nil
	}
	remedies := kubeletRemedies()
	if dns.ResolvConf != nil {
		remedies["resolvConf"] = "spec.clusterNetwork.dns.resolvConf sets it; remove one of the two"
	}
	errs := typeMeta(config, kubeletAPIVersion, kubeletKind, false, path)
	for _, name := range slices.Sorted(maps.Keys(remedies)) {
		if _, given := config[name]; given {
			errs = append(errs, field.Forbidden(path.Child(name), remedies[name]))
		}
	}
	errs = append(errs, kubeletShape().check(config, path)...)
	if len(errs) > 0 {
		return errs
	}
	return kubeletSize(config, path)
}

// kubeletSize measures the file that the configuration becomes.
func kubeletSize(config map[string]any, path *field.Path) field.ErrorList {
	whole := maps.Clone(config)
	whole["apiVersion"], whole["kind"] = kubeletAPIVersion, kubeletKind
	data, _ := yaml.Marshal(whole) // cannot fail: each value has been written as JSON before
	if len(data) > maxContent {
		return field.ErrorList{withoutValue(path, fmt.Sprintf("must have at most %d bytes as YAML with apiVersion and kind, and has %d; shorten it", maxContent, len(data)))}
	}
	return nil
}
