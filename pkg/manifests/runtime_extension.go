package manifests

import (
	"errors"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/config"
)

// RuntimeExtensionNamespace is where the runtime extension is deployed unless another namespace is
// named.
const RuntimeExtensionNamespace = "clusterctl-x-system"

// ErrNoImage says that a text is not the name of an image. It follows the name of where the text
// stands, and a verb.
var ErrNoImage = errors.New("not the name of an image")

// RuntimeExtension returns the manifests that deploy the runtime extension, with its image and
// namespace.
func RuntimeExtension(image, namespace string) (string, error) {
	if strings.ContainsAny(image, " \t\n\"'#{}") { // which would change the manifests
		return "", ErrNoImage
	}
	text, err := config.Joined(config.RuntimeExtension, "runtime-extension")
	if err != nil {
		return "", err
	}
	return strings.NewReplacer("IMAGE", image, "NAMESPACE", namespace).Replace(text), nil
}
