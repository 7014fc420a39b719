package lifecycle

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// ReleasesError says why the releases of the bundles make no ClusterClass.
type ReleasesError struct{ Err error }

func (e *ReleasesError) Error() string { return e.Err.Error() }

func (e *ReleasesError) Unwrap() error { return e.Err }

// RenderedClass is a ClusterClass.
type RenderedClass struct {
	// Objects are the templates and the class, in the order in which they are applied.
	Objects []templater.Object
	// Notes say what is not in the class.
	Notes []string
}

// RenderClassKeeping renders a ClusterClass as RenderClass does. It keeps every version
// that a cluster of the class has or is being upgraded to.
func (s *Service) RenderClassKeeping(ctx context.Context, class manifests.Class, bundles *versionsbundle.Bundles) (RenderedClass, error) {
	namespace := ""
	if class.Documents != nil {
		namespace = class.Documents.Cluster.Metadata.Namespace
	}
	key := s.Key(class.Name, namespace)
	class.Namespace = key.Namespace
	bundles, used, err := s.usedReleases(ctx, bundles, key)
	if err != nil {
		return RenderedClass{}, err
	}
	return renderClass(class, bundles, used)
}

// usedReleases adds the releases of the clusters of a class, which the bundles may no
// longer have, and returns the versions of these clusters.
func (s *Service) usedReleases(ctx context.Context, bundles *versionsbundle.Bundles, class types.NamespacedName) (*versionsbundle.Bundles, []v1alpha1.Version, error) {
	clusters, err := s.client.ClustersOf(ctx, class)
	if err != nil {
		return nil, nil, err
	}
	var used []v1alpha1.Version
	for _, cluster := range clusters {
		record, _, err := s.client.Record(ctx, types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Name})
		if err != nil {
			return nil, nil, err
		}
		bundles = bundles.With(record.Releases)
		versions := append([]v1alpha1.Version{cluster.Topology.Version}, cluster.Versions().All()...)
		used = append(used, versions...)
		for _, version := range versions {
			if _, known := bundles.Release(version); !known && !version.IsZero() {
				return nil, nil, &management.RefusedError{Check: "versions-bundle", Reason: fmt.Sprintf(
					"cluster %s/%s has %s, and neither the versions bundles nor its record know that version; %s", cluster.Namespace, cluster.Name, version, addToBundles(version, nearest(bundles.Releases(), version).Version))}
			}
		}
	}
	return bundles, used, nil
}

// RenderClass renders a ClusterClass with the releases of the bundles that its machines
// can be made with. The error is a *ReleasesError where they make none.
func RenderClass(class manifests.Class, bundles *versionsbundle.Bundles) (RenderedClass, error) {
	return renderClass(class, bundles, nil)
}

func renderClass(class manifests.Class, bundles *versionsbundle.Bundles, used []v1alpha1.Version) (RenderedClass, error) {
	class.Releases = bundles.Usable(class.Provider.Needs(), used)
	all := class.Releases
	class, lacking := class.WithImages()
	if err := missingClassImages(class, all, used, lacking); err != nil {
		return RenderedClass{}, &ReleasesError{err}
	}
	versions := make([]string, len(class.Releases))
	for i, release := range class.Releases {
		versions[i] = release.Version.String()
	}
	if gaps := validations.ClassVersions(versions); len(gaps) > 0 {
		return RenderedClass{}, &ReleasesError{fmt.Errorf("the versions of the class: %v %s, with a file for --bundles", gaps[0].BadValue, gaps[0].Detail)}
	}
	objects, err := manifests.RenderClass(class)
	if err != nil {
		return RenderedClass{}, &ReleasesError{err}
	}
	rendered := RenderedClass{Objects: objects}
	if len(lacking) > 0 {
		rendered.Notes = append(rendered.Notes, "the class leaves out "+strings.Join(lackOfImages(all, lacking), "; "))
	}
	others, err := class.OtherObjects()
	if len(others) > 0 {
		rendered.Notes = append(rendered.Notes, fmt.Sprintf("the class cannot have %s; make them before the clusters that need them", strings.Join(others, ", ")))
	}
	return rendered, err
}
