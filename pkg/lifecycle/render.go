package lifecycle

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// render renders the cluster of a spec at versions, and its topology without the groups
// that are outside of it. Every version must have a release, or a stand-in.
func (r request) render(versions v1alpha1.ClusterVersions, outside map[string]bool, extra ...versionsbundle.Release) (engine.Objects, error) {
	set, _ := r.spec.bundles.With(extra).SetOf(versions)
	rendered, err := manifests.Render(manifests.Input{
		Config: r.resolved.Config, Provider: r.resolved.Provider, Versions: versions, Set: set, Namespace: r.namespace, Detached: outside, Downloads: r.spec.bundles.Releases(), Renamed: r.renamed,
	})
	if err != nil {
		return engine.Objects{}, err
	}
	return decodeParts(rendered)
}

func decodeParts(rendered manifests.Objects) (engine.Objects, error) {
	objects := engine.Objects{Parts: map[string][]*unstructured.Unstructured{}}
	var err error
	if objects.Cluster, err = decodeAll(rendered.Cluster); err != nil {
		return objects, err
	}
	parts := append([]manifests.GroupObjects{{Name: v1alpha1.ControlPlaneName, Objects: rendered.ControlPlane}}, rendered.Groups...)
	for _, part := range parts {
		if objects.Parts[part.Name], err = decodeAll(part.Objects); err != nil {
			return objects, err
		}
	}
	return objects, nil
}

func decodeAll(objects []templater.Object) ([]*unstructured.Unstructured, error) {
	decoded := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		u, err := object.Unstructured()
		if err != nil {
			return nil, err
		}
		decoded[i] = u
	}
	return decoded, nil
}
