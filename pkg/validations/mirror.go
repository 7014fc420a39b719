package validations

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Each registry has a file on every machine, of which Cluster API's objects
// hold 200.
const (
	maxOCINamespaces = 100
	maxOCINamespace  = 255 // bytes, a limit of registries
)

// repository is a path in a registry, as registries allow it.
var repository = regexp.MustCompile(`^[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*$`)

func mirror(config *v1alpha1.RegistryMirrorConfiguration, path *field.Path) field.ErrorList {
	if config == nil {
		return nil
	}
	var errs field.ErrorList
	switch {
	case config.Endpoint == "":
		errs = append(errs, field.Required(path.Child("endpoint"), "the host name or address of the mirror"))
	case !validHost(config.Endpoint):
		errs = append(errs, field.Invalid(path.Child("endpoint"), hidden(config.Endpoint), "must be a host name in lower case or an address and nothing else; a port goes into port, a path into ociNamespaces"))
	}
	errs = append(errs, ociNamespaces(config.OCINamespaces, path.Child("ociNamespaces"))...)
	errs = append(errs, certificates(string(config.CACertContent), path.Child("caCertContent"))...)
	return errs
}

// unmirrored warns about registries that machines of the cluster pull from and that
// the mirror does not have.
func unmirrored(config *v1alpha1.Config, set versionsbundle.Set) []strictyaml.Warning {
	mirror := config.Cluster.Spec.RegistryMirrorConfiguration
	if mirror == nil || len(mirror.OCINamespaces) == 0 { // then it has every registry
		return nil
	}
	used := addOnRegistries(config)
	for _, release := range set {
		images := release.Images
		for _, image := range []versionsbundle.Image{images.KubeAPIServer, images.KubeControllerManager, images.KubeScheduler, images.KubeProxy, images.Etcd, images.CoreDNS, images.Pause} {
			if image != "" {
				used = append(used, image.Registry())
			}
		}
	}
	slices.Sort(used)
	missing := slices.DeleteFunc(slices.Compact(used), func(registry string) bool {
		return slices.ContainsFunc(mirror.OCINamespaces, func(n v1alpha1.OCINamespace) bool { return n.Registry == registry })
	})
	if len(missing) == 0 {
		return nil
	}
	return []strictyaml.Warning{{
		Path: field.NewPath("spec", "registryMirrorConfiguration", "ociNamespaces").String(),
		Text: "machines pull images of this cluster from " + strings.Join(missing, ", ") + " and not from the mirror; add what the mirror has of these, or leave ociNamespaces out to mirror every registry",
	}}
}

// addOnRegistries returns the registries of the images that clusterctl-x has clusters of
// the spec run (config/addons, config/templates/kube-vip.yaml.tmpl).
func addOnRegistries(config *v1alpha1.Config) []string {
	var registries []string
	if plugin := config.Cluster.Spec.ClusterNetwork.CNIConfig; plugin != nil {
		if plugin.Cilium != nil {
			registries = append(registries, "quay.io")
		}
		if plugin.Kindnetd != nil {
			registries = append(registries, "docker.io")
		}
	}
	if config.Cluster.Spec.ControlPlaneConfiguration.AnnouncesEndpoint() {
		registries = append(registries, "ghcr.io")
	}
	if config.AWSIam != nil {
		registries = append(registries, "public.ecr.aws")
	}
	return registries
}

func ociNamespaces(namespaces []v1alpha1.OCINamespace, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(namespaces) > maxOCINamespaces {
		errs = append(errs, tooMany(path, len(namespaces), fmt.Sprintf("must have at most %d; remove some, or all to mirror every registry", maxOCINamespaces)))
	}
	first := places[string]{}
	for i, namespace := range namespaces {
		at := path.Index(i)
		switch registry := namespace.Registry; {
		case registry == "":
			errs = append(errs, field.Required(at.Child("registry"), "the registry that is mirrored, such as registry.k8s.io"))
		case !validServer(registry):
			errs = append(errs, field.Invalid(at.Child("registry"), hidden(registry), "must be HOST or HOST:PORT and nothing else, such as registry.k8s.io; a path goes into namespace"))
		default:
			errs = append(errs, first.again(registry, registry, "registry already; remove one of the two", at.Child("registry"), at)...)
		}
		if name := namespace.Namespace; name != "" && (!repository.MatchString(name) || len(name) > maxOCINamespace) {
			errs = append(errs, field.Invalid(at.Child("namespace"), name, fmt.Sprintf("must be a path in the mirror such as team/images: at most %d lower-case letters, digits, dots, dashes, underscores and slashes, without a slash at either end", maxOCINamespace)))
		}
	}
	return errs
}

// certificates checks certificates in PEM, with comments. Errors do not have their
// text: it may be a key.
func certificates(text string, path *field.Path) field.ErrorList {
	const remedy = "; use the certificate of the mirror's authority, which begins with -----BEGIN CERTIFICATE-----"
	invalid := func(detail string) field.ErrorList { return field.ErrorList{withoutValue(path, detail)} }
	rest := withoutComments(text)
	if text != "" && rest == "" {
		return invalid("must hold a certificate" + remedy)
	}
	for number := 1; rest != ""; number++ {
		block, after := pem.Decode([]byte(rest))
		read := strings.TrimSuffix(rest, string(after))
		switch {
		case block == nil || !strings.HasPrefix(read, pemBegin) || strings.Count(read, pemBegin) != 1:
			return invalid("must hold certificates in PEM and nothing else" + remedy)
		case block.Type != "CERTIFICATE":
			return invalid(fmt.Sprintf("must hold certificates only; remove the %s, which has no place in a spec", block.Type))
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return invalid(fmt.Sprintf("certificate %d cannot be read (%s)%s", number, err, remedy))
		}
		rest = withoutComments(string(after))
	}
	return content(text, path)
}

const pemBegin = "-----BEGIN "

// withoutComments begins with the first line that is neither empty nor a comment.
func withoutComments(text string) string {
	for text != "" {
		line, after, _ := strings.Cut(text, "\n")
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return text
		}
		text = after
	}
	return ""
}
