package management

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Knowing returns a client of the same management cluster that knows further kinds.
func (c *Client) Knowing(kinds ...func(*runtime.Scheme) error) (client.Client, error) {
	scheme := runtime.NewScheme()
	builder := append(knownKinds(), kinds...)
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	bounded := rest.CopyConfig(c.config)
	bounded.Timeout = requestTimeout
	further, err := client.New(bounded, client.Options{HTTPClient: within(c.http, requestTimeout), Scheme: scheme, Mapper: c.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", c.config.Host, err)
	}
	return further, nil
}

// Explain adds the remedy to errors of an API server that have one, and the kind of error
// that the exit code depends on.
func (c *Client) Explain(ctx context.Context, err error) error { return c.explain(ctx, err) }

// Privilege is the use of a resource.
type Privilege struct {
	Group, Resource string
	Verbs           []string
}

// MissingPrivileges says which of these privileges the user does not have in a namespace, or,
// where that is empty, in all of them; each with the remedy.
func (c *Client) MissingPrivileges(ctx context.Context, namespace string, wanted []Privilege) ([]string, error) {
	privileges := make([]privilege, len(wanted))
	for i, one := range wanted {
		privileges[i] = privilege{group: one.Group, resource: one.Resource, verbs: one.Verbs}
	}
	missing, err := c.missingPrivileges(ctx, namespace, privileges)
	return missing, c.explain(ctx, err)
}

// ResourceOf returns the resource of a kind in this management cluster.
func (c *Client) ResourceOf(kind schema.GroupVersionKind) (schema.GroupResource, error) {
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return schema.GroupResource{}, err
	}
	return mapping.Resource.GroupResource(), nil
}

// PauseMark returns the value of the annotation that marks a pause as one of this run.
func (c *Client) PauseMark(of state.Pause) (string, error) {
	of.By, of.Since = c.identity(), c.opts().Clock.Now().UTC().Truncate(time.Second)
	mark, err := json.Marshal(of)
	return string(mark), err
}
