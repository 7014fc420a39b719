package lifecycle

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Flags that errors about a VersionChange name.
const (
	VersionFlag      = "--kubernetes-version"
	GroupVersionFlag = "--worker-node-group"
)

// VersionChange asks for versions of a cluster that exists.
type VersionChange = plan.VersionChange

// specOf is the change as a spec of the cluster. It has the versions and the numbers of
// machines, and nothing else of a spec is acted on.
func (s *Service) specOf(change VersionChange, from current) (Spec, error) {
	cluster, recorded := from.state, from.recorded
	if err := checkGroups(change, cluster); err != nil {
		return Spec{}, err
	}
	spec := v1alpha1.ClusterSpec{KubernetesVersion: change.KubernetesVersion, WorkerNodeGroupConfigurations: groupsOf(change, cluster, s.keptVersions(cluster, recorded))}
	spec.ControlPlaneConfiguration.Count = &cluster.ControlPlane.Replicas
	if topology := cluster.Topology; topology != nil {
		namespace, name, _ := strings.Cut(topology.Class, "/")
		spec.ClusterClass = &v1alpha1.ClusterClass{Name: name, Namespace: namespace}
	}
	if before := outlineOf(recorded, s.options.Providers); before != nil {
		spec.UpgradePolicy = before.Spec.UpgradePolicy
	}
	spec.UpgradePolicy = tightened(spec.UpgradePolicy, cluster)
	bundles, err := releasesFor(change, cluster, s.options.Bundles)
	if err != nil {
		return Spec{}, err
	}
	data, err := json.Marshal(change)
	if err != nil {
		return Spec{}, err
	}
	config := &v1alpha1.Config{Cluster: &v1alpha1.Cluster{
		APIVersion: v1alpha1.APIVersion, Kind: v1alpha1.ClusterKind, Metadata: v1alpha1.Meta{Name: cluster.Name, Namespace: cluster.Namespace}, Spec: spec,
	}}
	return Spec{Config: config, data: data, providers: s.options.Providers, bundles: bundles.With(askedFor(change)).With(recorded.Releases), change: &change}, nil
}

// checkGroups refuses versions for groups that the cluster does not have, or that have none
// that could be changed.
func checkGroups(change VersionChange, cluster state.Cluster) error {
	known := cluster.Versions().WorkerNodeGroups
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(change.WorkerNodeGroups)), func(name string) bool {
		_, is := known[name]
		return is
	})
	if len(unknown) == 0 {
		return nil
	}
	return &management.RefusedError{Check: "unknown-group", Reason: fmt.Sprintf("%s: the cluster has no worker node group %s; it has %s",
		GroupVersionFlag, strings.Join(unknown, ", "), cmp.Or(strings.Join(slices.Sorted(maps.Keys(known)), ", "), "none"))}
}

// groupsOf are the groups of a cluster that have a version, with the one that the change
// asks for or else the one that a group keeps.
func groupsOf(change VersionChange, cluster state.Cluster, kept map[string]v1alpha1.KubernetesVersion) []v1alpha1.WorkerNodeGroupConfiguration {
	var groups []v1alpha1.WorkerNodeGroupConfiguration
	for _, part := range cluster.WorkerNodeGroups {
		if part.Unmanaged { // without a version
			continue
		}
		group := v1alpha1.WorkerNodeGroupConfiguration{Name: part.Name, Count: &part.Replicas}
		if part.Autoscaled {
			group.AutoscalingConfiguration = &v1alpha1.AutoscalingConfiguration{MinCount: part.Replicas, MaxCount: part.Replicas}
		}
		if version, pinned := kept[part.Name]; pinned {
			group.KubernetesVersion = &version
		}
		if version, asked := change.WorkerNodeGroups[part.Name]; asked {
			group.KubernetesVersion = &version
		}
		groups = append(groups, group)
	}
	return groups
}

// askedFor are the exact versions that a change names. Nothing of a release is written but
// its version, so that no bundle need have them.
func askedFor(change VersionChange) []versionsbundle.Release {
	versions := append(slices.Collect(maps.Values(change.WorkerNodeGroups)), change.KubernetesVersion)
	for _, image := range change.Images {
		versions = append(versions, image.KubernetesVersion)
	}
	var releases []versionsbundle.Release
	for _, version := range versions {
		if exact, is := version.Exact(); is {
			releases = append(releases, versionsbundle.VersionOnly(exact))
		}
	}
	return releases
}

// keptVersions are the versions of groups that do not follow the control plane unless they
// are asked to: those that have a version of their own in the file that was last applied,
// and those that are out of the topology of their cluster.
func (s *Service) keptVersions(cluster state.Cluster, recorded management.Record) map[string]v1alpha1.KubernetesVersion {
	kept := map[string]v1alpha1.KubernetesVersion{}
	if before := outlineOf(recorded, s.options.Providers); before != nil {
		for _, group := range before.Spec.WorkerNodeGroupConfigurations {
			if group.Pinned() {
				kept[group.Name] = *group.KubernetesVersion
			}
		}
	}
	for _, part := range cluster.WorkerNodeGroups {
		if part.Detached {
			kept[part.Name] = v1alpha1.ExactVersion(part.Version)
		}
	}
	return kept
}

// resolveChange resolves the versions of a VersionChange.
func (s Spec) resolveChange(running v1alpha1.ClusterVersions) (validations.Resolved, error) {
	cluster := s.Config.Cluster
	versions, set, errs := versionsbundle.Resolve(cluster, s.releases(), running, versionsbundle.Needs{})
	if len(errs) > 0 {
		return validations.Resolved{}, s.Config.Locate(v1alpha1.ClusterKind, append(errs, validations.Versions(cluster, versions)...)).OrNil()
	}
	resolved := s.withMinors(validations.Resolved{Config: s.Config, Versions: versions, Set: set}, running)
	if errs := validations.Versions(cluster, resolved.Versions); len(errs) > 0 {
		return validations.Resolved{}, s.Config.Locate(v1alpha1.ClusterKind, errs).OrNil()
	}
	return resolved, nil
}

// namingFlags returns an error that names the flags of a VersionChange in the place of the
// fields of the spec that is made from it.
func (s Spec) namingFlags(err error) error {
	refused, problems := validations.Refused{}, strictyaml.Problems(nil)
	switch {
	case s.change == nil:
		return err
	case errors.As(err, &refused):
		return validations.Refused{Problems: s.withFlags(refused.Problems)}
	case errors.As(err, &problems):
		return s.withFlags(problems)
	default:
		return err
	}
}

func (s Spec) withFlags(problems strictyaml.Problems) strictyaml.Problems {
	replaced := make(strictyaml.Problems, len(problems))
	groups := s.Config.Cluster.Spec.WorkerNodeGroupConfigurations
	words := []string{"spec.kubernetesVersion", VersionFlag}
	for i, group := range groups {
		words = append(words, fmt.Sprintf("spec.workerNodeGroupConfigurations[%d].kubernetesVersion", i), GroupVersionFlag+" "+group.Name)
	}
	flags := strings.NewReplacer(words...)
	for i, problem := range problems {
		detail := fmt.Sprintf("%v: %s", problem.Err.BadValue, flags.Replace(problem.Err.Detail))
		replaced[i] = strictyaml.NewProblem(flags.Replace(problem.Err.Field), 0, &field.Error{Type: problem.Err.Type, Detail: detail})
	}
	return replaced
}
