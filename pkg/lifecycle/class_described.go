package lifecycle

import (
	"errors"
	"fmt"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// ClassOf returns the class that is made from the documents of a spec. provider is the name of
// the one that its user expects, or empty.
func ClassOf(resolved validations.Resolved, provider, namespace string) (manifests.Class, error) {
	switch of := resolved.Provider; {
	case !of.Known():
		return manifests.Class{}, errors.New("-f: the file has no datacenterRef, and a class is made from the documents of a provider; give the file of a cluster without spec.clusterClass")
	case provider != "" && provider != of.Name:
		return manifests.Class{}, fmt.Errorf("--provider is %s, and the file of -f is for provider %s; leave --provider out", provider, of.Name)
	case of.Spec.Machine.Kind == "":
		return manifests.Class{}, fmt.Errorf("a class of provider %s takes nothing from a file: what its documents say are variables; use --provider %[1]s without -f", of.Name)
	}
	if own := resolved.Config.Cluster.Metadata.Namespace; own != "" {
		namespace = own
	}
	return manifests.Class{Namespace: namespace, Provider: resolved.Provider, Documents: resolved.Config}, nil
}

// CheckClass returns what is wrong with the name of a class, and with the handler of its
// upgrade plans; example is one.
func CheckClass(class manifests.Class, example string) error {
	if problems := utilvalidation.IsDNS1123Label(class.Name); len(problems) > 0 {
		return fmt.Errorf("--class %q cannot be the name of a ClusterClass: it must have at most 63 lower-case letters, digits and dashes, and begin and end with a letter or digit", class.Name)
	}
	handler, config, _ := strings.Cut(class.UpgradePlans, ".")
	if class.UpgradePlans != "" && len(utilvalidation.IsDNS1123Label(handler))+len(utilvalidation.IsDNS1123Subdomain(config)) > 0 {
		return fmt.Errorf("--upgrade-plans-from must be the name of a handler and that of an ExtensionConfig, as %s, not %q", example, class.UpgradePlans)
	}
	return nil
}
