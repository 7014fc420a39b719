package validations

import (
	"cmp"
	"slices"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Resolved is a valid cluster spec with exact versions.
type Resolved struct {
	Config *v1alpha1.Config
	// Provider of the machines; the zero value for a user's own ClusterClass.
	Provider providers.Provider
	Versions v1alpha1.ClusterVersions
	Set      versionsbundle.Set
	// Warnings are those of decoding, and those about what a valid spec asks for and
	// does not get.
	Warnings []strictyaml.Warning
}

// Create checks everything that can be known of a new cluster without a
// management cluster, and resolves its versions. All that is wrong, with what
// could not be read, is in one error, of type strictyaml.Problems. running is as
// for versionsbundle.Resolve. With an error there are the warnings only.
func Create(config *v1alpha1.Config, known providers.Set, bundles *versionsbundle.Bundles, running v1alpha1.ClusterVersions) (Resolved, error) {
	if config.Cluster == nil {
		return Resolved{Warnings: config.Warnings}, config.Problems.OrNil()
	}
	provider := known.Of(config.Cluster)
	errs := append(Spec(config.Cluster, known), unknownFailureDomains(config, provider)...)
	needs := Needs(config, provider)
	versions, set, unresolved := versionsbundle.Resolve(config.Cluster, bundles, running, needs)
	errs = append(errs, unresolved...)
	errs = append(errs, Versions(config.Cluster, versions)...)
	errs = append(errs, fetchedKubeadm(config.Cluster, versions, bundles, needs)...)
	problems := slices.Concat(config.Problems,
		config.Locate(v1alpha1.ClusterKind, wellFounded(config, errs)),
		config.Locate(v1alpha1.OIDCKind, OIDC(config.OIDC)),
		config.Locate(v1alpha1.AWSIamKind, AWSIam(config.AWSIam)),
	)
	warnings := slices.Concat(config.Warnings,
		config.LocateWarnings(v1alpha1.ClusterKind, Warnings(config.Cluster, provider)),
		config.LocateWarnings(v1alpha1.AWSIamKind, AWSIamWarnings(config.AWSIam)),
	)
	resolved := Resolved{Config: config, Provider: provider, Versions: versions, Set: set}
	if len(problems) == 0 {
		wrong, doubtful := mismatchedImages(resolved)
		problems, warnings = wrong, append(warnings, doubtful...)
		resolved.Config = resolved.withImages()
	}
	if running.ControlPlane.IsZero() && len(problems) == 0 { // else the plan says what it needs
		problems = imageProblems(resolved)
	}
	err := problems.OrNil()
	if err == nil {
		warnings = append(warnings, config.LocateWarnings(v1alpha1.ClusterKind, versionWarnings(config.Cluster, versions, bundles, needs))...)
		warnings = append(warnings, config.LocateWarnings(v1alpha1.ClusterKind, unmirrored(config, set))...)
	}
	slices.SortStableFunc(warnings, func(a, b strictyaml.Warning) int { return cmp.Compare(a.Line, b.Line) })
	if err != nil {
		return Resolved{Warnings: warnings}, err
	}
	resolved.Warnings = warnings
	return resolved, nil
}
