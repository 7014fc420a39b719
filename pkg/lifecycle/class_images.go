package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// missingClassImages returns why the documents of a class have too few images: for a version
// that clusters have, or for all versions of a minor that clusters pass. all are the releases
// that the class would have with every image.
func missingClassImages(class manifests.Class, all []versionsbundle.Release, used []v1alpha1.Version, lacking map[v1alpha1.Version][]v1alpha1.Ref) error {
	for _, version := range used {
		if refs := lacking[version]; len(refs) > 0 {
			return fmt.Errorf("clusters of the class have %s, and there is no image for it in %s; add an entry with kubernetesVersion %q to spec.%s there", version, named(refs), version.Minor(), class.Provider.Spec.Images)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	if len(class.Releases) == 0 {
		return fmt.Errorf("there is no version that all documents have an image for: %s; add entries to spec.%s there", strings.Join(lackOfImages(all, lacking), "; "), class.Provider.Spec.Images)
	}
	first, last := class.Releases[0].Version, class.Releases[len(class.Releases)-1].Version
	for _, release := range all {
		minor := release.Version.Minor()
		between := release.Version.After(first) && last.After(release.Version)
		has := slices.ContainsFunc(class.Releases, func(r versionsbundle.Release) bool { return r.Version.Minor() == minor })
		if between && !has {
			return fmt.Errorf("there is no image for %s in %s, and an upgrade from %s to %s goes through every minor; add an entry with kubernetesVersion %q to spec.%s there", minor, named(lacking[release.Version]), first, last, minor, class.Provider.Spec.Images)
		}
	}
	return nil
}

// lackOfImages lists the releases that a class leaves out, by the documents that have no image
// for them. A minor stands for all of its releases.
func lackOfImages(all []versionsbundle.Release, lacking map[v1alpha1.Version][]v1alpha1.Ref) []string {
	versions := map[string][]string{}
	var documents []string
	for _, release := range all {
		refs := lacking[release.Version]
		if len(refs) == 0 {
			continue
		}
		whole := !slices.ContainsFunc(all, func(other versionsbundle.Release) bool {
			return other.Version.Minor() == release.Version.Minor() && !slices.Equal(lacking[other.Version], refs)
		})
		version := release.Version.String()
		if whole {
			version = release.Version.Minor().String()
		}
		of := named(refs)
		if len(versions[of]) == 0 {
			documents = append(documents, of)
		}
		if !slices.Contains(versions[of], version) {
			versions[of] = append(versions[of], version)
		}
	}
	var lines []string
	for _, of := range documents {
		lines = append(lines, fmt.Sprintf("%s, for lack of an image in %s", strings.Join(versions[of], ", "), of))
	}
	return lines
}

// named names documents.
func named(refs []v1alpha1.Ref) string {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.Kind + " " + ref.Name
	}
	return strings.Join(names, " and ")
}
