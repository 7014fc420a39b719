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
		keys, exists, err := c.DataKeys(ctx, reference.Kind, client.ObjectKey{Namespace: namespace, Name: reference.Name})
		if err != nil {
			return nil, err
		}
		lacks := slices.DeleteFunc(slices.Clone(reference.Keys), func(key string) bool { return slices.Contains(keys, key) })
		switch {
		case !exists:
			missing = append(missing, fmt.Sprintf("%s %s/%s does not exist; create it%s, for %s", reference.Kind, namespace, reference.Name, withKeys(reference.Keys), reference.For))
		case len(lacks) > 0:
			missing = append(missing, fmt.Sprintf("%s %s/%s has no %s; add it, for %s", reference.Kind, namespace, reference.Name, strings.Join(lacks, ", "), reference.For))
		}
	}
	return missing, nil
}

func withKeys(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " with " + strings.Join(keys, " and ")
}
