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
// not there: it would be created and never become ready.
func checkReferences(ctx context.Context, c *connection, config *v1alpha1.Config, namespace string) error {
	var missing []string
	for _, reference := range manifests.References(config) {
		keys, exists, err := c.DataKeys(ctx, reference.Kind, client.ObjectKey{Namespace: namespace, Name: reference.Name})
		if err != nil {
			return err
		}
		lacks := slices.DeleteFunc(slices.Clone(reference.Keys), func(key string) bool { return slices.Contains(keys, key) })
		switch {
		case !exists:
			missing = append(missing, fmt.Sprintf("%s %s/%s does not exist; create it%s, for %s", reference.Kind, namespace, reference.Name, withKeys(reference.Keys), reference.For))
		case len(lacks) > 0:
			missing = append(missing, fmt.Sprintf("%s %s/%s has no %s; add it, for %s", reference.Kind, namespace, reference.Name, strings.Join(lacks, ", "), reference.For))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &management.RefusedError{Check: "references-missing", Reason: strings.Join(missing, "\n")}
}

func withKeys(keys []string) string {
	if len(keys) == 0 {
		return ""
	}
	return " with " + strings.Join(keys, " and ")
}
