package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// missingReferences says which Secrets and ConfigMaps of a spec are not there, or not as
// they must be: the cluster would be created and never become ready.
func (s *Service) missingReferences(ctx context.Context, resolved validations.Resolved, namespace string) ([]string, error) {
	references, err := manifests.References(resolved.Config, resolved.Provider)
	if err != nil {
		return nil, err
	}
	var missing, unseen []string
	defer func() {
		if len(unseen) > 0 {
			s.options.warn("whether these exist as the spec needs them was not checked, since you may not read them: %s", strings.Join(unseen, ", "))
		}
	}()
	for _, reference := range references {
		data, exists, err := s.client.Data(ctx, reference.Kind, types.NamespacedName{Namespace: namespace, Name: reference.Name})
		if refused := (*management.RefusedError)(nil); errors.As(err, &refused) && refused.Check == management.CheckPrivileges {
			unseen = append(unseen, fmt.Sprintf("%s %s/%s", reference.Kind, namespace, reference.Name))
			continue
		}
		if err != nil {
			return nil, err
		}
		lacks := slices.DeleteFunc(slices.Clone(reference.Keys), func(key string) bool { return slices.Contains(data.Keys, key) })
		switch {
		case !exists:
			missing = append(missing, fmt.Sprintf("%s %s/%s does not exist; create it%s, for %s", reference.Kind, namespace, reference.Name, described(reference), reference.For))
		case reference.Type != "" && data.Type != reference.Type:
			missing = append(missing, fmt.Sprintf("%s %s/%s is of type %s and must be of type %s, for %s; recreate it", reference.Kind, namespace, reference.Name, data.Type, reference.Type, reference.For))
		case len(lacks) > 0:
			missing = append(missing, fmt.Sprintf("%s %s/%s has no %s; add it, for %s", reference.Kind, namespace, reference.Name, strings.Join(lacks, ", "), reference.For))
		case reference.Exclusive:
			if owner := anotherOwner(data, resolved); owner != "" {
				missing = append(missing, fmt.Sprintf("%s %s/%s belongs to %s, and is deleted with it; give this cluster one of its own, for %s", reference.Kind, namespace, reference.Name, owner, reference.For))
			}
		}
	}
	return missing, nil
}

// anotherOwner returns the infrastructure cluster of another cluster that owns an object;
// empty where none does.
func anotherOwner(data management.Data, resolved validations.Resolved) string {
	infrastructure := resolved.Provider.Spec.Infrastructure
	for _, owner := range data.Owners {
		if infrastructure != nil && owner.Kind == infrastructure.Cluster && owner.Name != resolved.Config.Cluster.Metadata.Name {
			return owner.Kind + " " + owner.Name
		}
	}
	return ""
}

// referencesMissing refuses a cluster that needs what is missing.
func referencesMissing(missing []string) error {
	return &management.RefusedError{Check: "references-missing", Reason: strings.Join(missing, "\n")}
}

// described is the type and the keys that an object must have.
func described(reference manifests.Reference) string {
	var text string
	if reference.Type != "" {
		text = " of type " + reference.Type
	}
	if len(reference.Keys) > 0 {
		text += " with " + strings.Join(reference.Keys, " and ")
	}
	return text
}

// References returns the Secrets and ConfigMaps that a cluster of one of these providers
// needs in addition to its own objects.
func References(config *v1alpha1.Config, known providers.Set) ([]string, error) {
	references, err := manifests.References(config, known.Of(config.Cluster))
	if err != nil {
		return nil, err
	}
	var all []string
	for _, reference := range references {
		all = append(all, fmt.Sprintf("%s %s%s in the cluster's namespace, for %s", reference.Kind, reference.Name, described(reference), reference.For))
	}
	return all, nil
}
