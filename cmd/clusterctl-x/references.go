package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
)

// checkReferences refuses a cluster that needs Secrets or ConfigMaps which are
// not there: it would be created and never become ready. A dry run is told: they
// may be made before the cluster is.
func (a *app) checkReferences(ctx context.Context, c *connection, config *v1alpha1.Config, namespace string, dryRun bool) error {
	missing, err := missingReferences(ctx, c, config, namespace)
	switch {
	case err != nil || len(missing) == 0:
		return err
	case dryRun:
		for _, reference := range missing {
			a.warning("%s; without it the cluster is not created", reference)
		}
		return nil
	}
	return &management.RefusedError{Check: "references-missing", Reason: strings.Join(missing, "\n")}
}

func missingReferences(ctx context.Context, c *connection, config *v1alpha1.Config, namespace string) ([]string, error) {
	var missing []string
	for _, reference := range manifests.References(config) {
		data, exists, err := c.Data(ctx, reference.Kind, client.ObjectKey{Namespace: namespace, Name: reference.Name})
		if err != nil {
			return nil, err
		}
		lacks := slices.DeleteFunc(slices.Clone(reference.Keys), func(key string) bool { return slices.Contains(data.Keys, key) })
		switch {
		case !exists:
			missing = append(missing, fmt.Sprintf("%s %s/%s does not exist; create it%s, for %s", reference.Kind, namespace, reference.Name, described(reference), reference.For))
		case reference.Type != "" && data.Type != reference.Type:
			missing = append(missing, fmt.Sprintf("%s %s/%s is of type %s and must be of type %s, for %s; make it again", reference.Kind, namespace, reference.Name, data.Type, reference.Type, reference.For))
		case len(lacks) > 0:
			missing = append(missing, fmt.Sprintf("%s %s/%s has no %s; add it, for %s", reference.Kind, namespace, reference.Name, strings.Join(lacks, ", "), reference.For))
		}
	}
	return missing, nil
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

// sayReferences tells what is to be made beside the cluster's own objects.
func (a *app) sayReferences(config *v1alpha1.Config) {
	for _, reference := range manifests.References(config) {
		a.say("needs %s %s%s in the cluster's namespace, for %s", reference.Kind, reference.Name, described(reference), reference.For)
	}
}
