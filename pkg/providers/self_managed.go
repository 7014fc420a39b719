package providers

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// SelfManaged says what a cluster needs to manage itself.
type SelfManaged struct {
	// Component is the provider by the name that clusterctl gives it, such as
	// infrastructure-example. It is installed into the cluster.
	Component string `json:"component"`
	// Datacenter has fields of the document that datacenterRef names, which such a cluster has
	// unless the document says otherwise.
	Datacenter map[string]any `json:"datacenter,omitempty"`
}

func (s *SelfManaged) validate(path *field.Path) field.ErrorList {
	if s != nil && s.Component == "" {
		return field.ErrorList{field.Required(path.Child("component"), "the provider as clusterctl names it, such as infrastructure-example")}
	}
	return nil
}

// complete returns the config of a cluster that manages itself with the fields that such a cluster
// has; that of another one stays as it is.
func (s *SelfManaged) complete(config *v1alpha1.Config) *v1alpha1.Config {
	if s == nil || !config.Cluster.SelfManaged() || config.Datacenter == nil {
		return config
	}
	datacenter := *config.Datacenter
	datacenter.Spec = with(s.Datacenter, datacenter.Spec)
	datacenter.Complete = with(datacenter.Complete, datacenter.Spec)
	completed := *config
	completed.Datacenter = &datacenter
	return &completed
}

// with returns fields with those of others, which win.
func with(fields, others map[string]any) map[string]any {
	both := runtime.DeepCopyJSON(fields)
	if both == nil {
		both = map[string]any{}
	}
	maps.Copy(both, others)
	return both
}
