package providers

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// VersionField of an entry of a list of images is the version that it is for.
const VersionField = "kubernetesVersion"

// validateImage returns what is wrong with how images of single versions are found.
func (s Spec) validateImage(path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if s.Image != "" && s.Images == "" {
		errs = append(errs, field.Required(path.Child("images"), "the field that lists the images of versions besides those of the spec, since spec.image is given"))
	}
	if s.ImageName == nil {
		return errs
	}
	if s.Image == "" {
		errs = append(errs, field.Required(path.Child("image"), "the field that the name is in, since spec.imageName is given"))
	}
	if severities := []Severity{SeverityError, SeverityWarning}; !slices.Contains(severities, s.ImageName.Mismatch) {
		errs = append(errs, field.NotSupported(path.Child("imageName", "mismatch"), s.ImageName.Mismatch, severities))
	}
	return errs
}

// ImageFields returns the fields of spec.template.spec of machine templates of a kind that name an
// image of one version; none of a kind that no provider has.
func (s Set) ImageFields(kind schema.GroupKind) []string {
	var fields []string
	for _, name := range s.Names() {
		of := s[name].Spec.Infrastructure
		if of != nil && schema.FromAPIVersionAndKind(of.APIVersion, of.MachineTemplate).GroupKind() == kind {
			fields = append(fields, of.ImageFields...)
		}
	}
	slices.Sort(fields)
	return slices.Compact(fields)
}

// Image returns the entry for a version of the list of images that a document has: that of
// the exact version, or that of its minor. Where the list lacks one it returns another entry,
// so that the document can be rendered, and false: nothing rendered with it may be written.
// The entry of a document without a list is empty.
func (p Provider) Image(machine *v1alpha1.InfrastructureConfig, version v1alpha1.Version) (map[string]any, bool) {
	images := p.ListedImages(machine)
	if len(images) == 0 {
		return map[string]any{}, true
	}
	var ofMinor map[string]any
	for _, entry := range images {
		image, _ := entry.(map[string]any)
		of := versionOf(image)
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

// versionOf is the version that an entry is for.
func versionOf(image map[string]any) v1alpha1.KubernetesVersion {
	text, _ := image[VersionField].(string)
	of, err := v1alpha1.ParseKubernetesVersion(text)
	if err != nil {
		return v1alpha1.KubernetesVersion{} // was reported when the document was read
	}
	return of
}

// WithImages returns a document that describes machines with an entry of its list of images
// for each of the versions: what the document has for the versions of the spec, where the
// list has none. The document itself is not changed.
func (p Provider) WithImages(machine *v1alpha1.InfrastructureConfig, versions []v1alpha1.Version) *v1alpha1.InfrastructureConfig {
	return p.WithImagesOf(machine, machine, versions)
}

// WithImagesOf does the same with what another document has, which is the one that machines
// of these versions were made from.
func (p Provider) WithImagesOf(machine, other *v1alpha1.InfrastructureConfig, versions []v1alpha1.Version) *v1alpha1.InfrastructureConfig {
	if machine == nil || other == nil || p.Spec.Image == "" {
		return machine
	}
	for _, version := range versions {
		image, has := p.imageOf(other, version)
		if _, found := p.listed(machine, version); found || !has {
			continue
		}
		machine = p.WithListedImages(machine, append(slices.Clone(p.ListedImages(machine)), any(map[string]any{VersionField: version.String(), p.Spec.Image: image})))
	}
	return machine
}

// ListedImages returns the list of images that a document has; empty where it has none.
func (p Provider) ListedImages(machine *v1alpha1.InfrastructureConfig) []any {
	if machine == nil || p.Spec.Images == "" {
		return nil
	}
	images, _ := machine.Complete[p.Spec.Images].([]any)
	return images
}

// WithListedImages returns a document with another list of images. The document itself is not
// changed.
func (p Provider) WithListedImages(machine *v1alpha1.InfrastructureConfig, images []any) *v1alpha1.InfrastructureConfig {
	other := *machine
	other.Complete = maps.Clone(machine.Complete)
	other.Complete[p.Spec.Images] = images
	return &other
}

// ImagesSchema returns the schema of the list of images.
func (p Provider) ImagesSchema() apiextensionsv1.JSONSchemaProps {
	return p.mustSchema(p.Spec.Machine.Kind)().Definition().Properties[p.Spec.Images]
}

// listed returns the entry of the list for a version.
func (p Provider) listed(machine *v1alpha1.InfrastructureConfig, version v1alpha1.Version) (map[string]any, bool) {
	image, found := p.Image(machine, version)
	return image, found && len(image) > 0
}

// imageOf returns what machines of a version are made from: what the list has, else what the
// document has for the versions of the spec.
func (p Provider) imageOf(machine *v1alpha1.InfrastructureConfig, version v1alpha1.Version) (any, bool) {
	if entry, found := p.listed(machine, version); found {
		return entry[p.Spec.Image], true
	}
	image, has := machine.Complete[p.Spec.Image]
	return runtime.DeepCopyJSONValue(image), has
}

// NamedImage is the name of an image that is to be of a version.
type NamedImage struct {
	// Path of the name below the spec of the document.
	Path, Name string
	Minor      v1alpha1.Minor
}

// Mismatched returns the images of a document whose name does not contain the minor of the
// version that they are for, as 1.34, 1-34, 1_34 or 134. Its list is as the user wrote it, and
// versions are those of the parts that use the document. EKS Anywhere has the same rule
// (pkg/providers/nutanix/validator.go, pkg/providers/cloudstack/validator.go).
func (p Provider) Mismatched(machine *v1alpha1.InfrastructureConfig, versions []v1alpha1.Version) []NamedImage {
	if p.Spec.ImageName == nil || machine == nil {
		return nil
	}
	var named []NamedImage
	add := func(path string, image any, minor v1alpha1.Minor) {
		path, name := p.Spec.ImageName.of(path, image)
		found := NamedImage{Path: path, Name: name, Minor: minor}
		if name != "" && !strings.Contains(separators.Replace(name), separators.Replace(minor.String())) && !slices.Contains(named, found) {
			named = append(named, found)
		}
	}
	for _, version := range versions {
		if _, found := p.listed(machine, version); !found {
			add(p.Spec.Image, machine.Complete[p.Spec.Image], version.Minor())
		}
	}
	images, _ := machine.Complete[p.Spec.Images].([]any)
	for i, entry := range images {
		image, _ := entry.(map[string]any)
		add(p.Spec.Images+"["+strconv.Itoa(i)+"]."+p.Spec.Image, image[p.Spec.Image], versionOf(image).Minor())
	}
	return named
}

// separators are what may be between the numbers of a version in the name of an image.
var separators = strings.NewReplacer(".", "", "-", "", "_", "") //nolint:gochecknoglobals // a constant

// of returns the name of an image at a path, with its own path; empty where it has none.
func (n ImageName) of(path string, image any) (string, string) {
	if n.Path == "" {
		name, _ := image.(string)
		return path, name
	}
	fields, _ := image.(map[string]any)
	name, _ := fields[n.Path].(string)
	return path + "." + n.Path, name
}
