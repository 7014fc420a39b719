package versionsbundle

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// validate returns what is wrong with a release manifest.
func (b *Bundles) validate() field.ErrorList {
	path := field.NewPath("spec", "versionsBundles")
	if len(b.Spec.VersionsBundles) == 0 {
		return field.ErrorList{field.Required(path, "a release manifest has one for each minor of Kubernetes")}
	}
	var errs field.ErrorList
	minors, versions := map[v1alpha1.Minor]*field.Path{}, map[v1alpha1.Version]*field.Path{}
	for i, bundle := range b.Spec.VersionsBundles {
		at := path.Index(i)
		errs = append(errs, unique(minors, bundle.KubeVersion, at.Child("kubeVersion"), "a minor such as \"1.34\"")...)
		if _, err := time.Parse(time.DateOnly, bundle.EndOfSupport); err != nil && bundle.EndOfSupport != "" {
			errs = append(errs, field.Invalid(at.Child("endOfSupport"), bundle.EndOfSupport, "must be a day such as \"2026-02-28\""))
		}
		if len(bundle.Releases) == 0 {
			errs = append(errs, field.Required(at.Child("releases"), "a versions bundle has one or more"))
		}
		for j, release := range bundle.Releases {
			at := at.Child("releases").Index(j)
			errs = append(errs, unique(versions, release.Version, at.Child("version"), "an exact version such as v1.34.2")...)
			if release.Version.AnyPatch() {
				errs = append(errs, field.Invalid(at.Child("version"), release.Version.String(), "is a minor; write an exact version such as v1.34.2"))
			}
			if minor := release.Version.Minor(); !release.Version.IsZero() && bundle.KubeVersion != (v1alpha1.Minor{}) && minor != bundle.KubeVersion {
				errs = append(errs, field.Invalid(at.Child("version"), release.Version.String(), fmt.Sprintf("is not a patch of %s; move it to the versions bundle of %s", bundle.KubeVersion, minor)))
			}
			errs = append(errs, release.validate(at)...)
		}
	}
	return errs
}

// unique adds a value to those seen, unless it is missing or is there already.
func unique[T comparable](seen map[T]*field.Path, value T, path *field.Path, missing string) field.ErrorList {
	var none T
	if value == none {
		return field.ErrorList{field.Required(path, missing)}
	}
	if first, twice := seen[value]; twice {
		return field.ErrorList{&field.Error{
			Type: field.ErrorTypeDuplicate, Field: path.String(), BadValue: fmt.Sprint(value),
			Detail: fmt.Sprintf("is at %s already; remove one of them", first),
		}}
	}
	seen[value] = path
	return nil
}

func (r Release) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	images := path.Child("images")
	for _, image := range []struct {
		name  string
		image Image
	}{
		{"kubeAPIServer", r.Images.KubeAPIServer},
		{"kubeControllerManager", r.Images.KubeControllerManager},
		{"kubeScheduler", r.Images.KubeScheduler},
		{"kubeProxy", r.Images.KubeProxy},
		{"etcd", r.Images.Etcd},
		{"coreDNS", r.Images.CoreDNS},
		{"pause", r.Images.Pause},
	} {
		if image.image == "" {
			errs = append(errs, field.Required(images.Child(image.name), imageForm))
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(r.NodeImages)) {
		if r.NodeImages[provider] == "" {
			errs = append(errs, field.Required(path.Child("nodeImages").Key(provider), "the image of the provider's machines; if there is none, leave the provider out"))
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(r.LoadBalancerImages)) {
		if image := r.LoadBalancerImages[provider]; image.Name() != loadBalancer {
			errs = append(errs, field.Invalid(path.Child("loadBalancerImages").Key(provider), string(image), "must be called haproxy, such as registry.example.org/kindest/haproxy:v20230606-42a2262b: Cluster API takes repository and tag and adds this name; give the image such a name too"))
		}
	}
	for _, arch := range slices.Sorted(maps.Keys(r.Kubeadm)) {
		errs = append(errs, r.Kubeadm[arch].validate(path.Child("kubeadm").Key(arch))...)
	}
	return errs
}

var sha256Pattern = regexp.MustCompile(`^[0-9a-f]{64}$`)

// fileScheme is how the address of a file in the node image begins.
const fileScheme = "file://"

// loadBalancer is the name of the image that Cluster API makes load balancers from.
const loadBalancer = "haproxy"

// reachable reports whether a machine can get a file from an address.
func reachable(address *url.URL) bool {
	if address.Scheme == "file" {
		return address.Host == "" && strings.HasPrefix(address.Path, "/")
	}
	return (address.Scheme == "https" || address.Scheme == "http") && address.Host != ""
}

func (d Download) validate(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	// Nodes read URL and checksum from a line of words.
	u, err := url.Parse(d.URL)
	if err != nil || strings.ContainsAny(d.URL, " \t\r\n") || !reachable(u) {
		errs = append(errs, field.Invalid(path.Child("url"), d.URL, "must be an address that begins with https:// or http://, or file:/// and the path of a file in the node image"))
	}
	if d.SHA256 != "" && !sha256Pattern.MatchString(d.SHA256) {
		errs = append(errs, field.Invalid(path.Child("sha256"), d.SHA256, "must be the SHA-256 checksum of the file: 64 hexadecimal digits in lower case; without it machines read it from the publisher"))
	}
	return errs
}
