package providers

import (
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// versionField of an entry of a list of images is the version that it is for.
const versionField = "kubernetesVersion"

// Image returns the entry for a version of the list of images that a document has: that of
// the exact version, or that of its minor. Where the list lacks one it returns another entry,
// so that the document can be rendered, and false: nothing rendered with it may be written.
// The entry of a document without a list is empty.
func (p Provider) Image(machine *v1alpha1.InfrastructureConfig, version v1alpha1.Version) (map[string]any, bool) {
	if machine == nil || p.Spec.Images == "" {
		return map[string]any{}, true
	}
	images, _ := machine.Complete[p.Spec.Images].([]any)
	if len(images) == 0 {
		return map[string]any{}, true
	}
	var ofMinor map[string]any
	for _, entry := range images {
		image, _ := entry.(map[string]any)
		text, _ := image[versionField].(string)
		of, err := v1alpha1.ParseKubernetesVersion(text)
		if err != nil {
			continue // was reported when the document was read
		}
		if exact, is := of.Exact(); is && exact == version {
			return image, true
		} else if !is && of.Minor() == version.Minor() {
			ofMinor = image
		}
	}
	if ofMinor != nil {
		return ofMinor, true
	}
	another, _ := images[0].(map[string]any)
	return another, false
}
