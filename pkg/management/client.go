// Package management observes, changes and watches clusters on a management
// cluster. It is the only package of the core that talks to an API server.
package management

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	addonsv1 "sigs.k8s.io/cluster-api/api/addons/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// FieldOwner is the name under which clusterctl-x owns fields.
const FieldOwner = client.FieldOwner("clusterctl-x")

// SkippedPreflightChecks lets a detached group have machines of another version
// than the control plane.
const SkippedPreflightChecks = string(clusterv1.MachineSetPreflightCheckKubeadmVersionSkew) + "," + string(clusterv1.MachineSetPreflightCheckControlPlaneVersionSkew)

// requestTimeout bounds every request but watches, so that an API server that
// accepts connections and never answers is an error and not a hang.
const requestTimeout = 20 * time.Second

// Client is a connection to a management cluster.
type Client struct {
	client.Client
	config  *rest.Config // without a timeout, for watches, as is http
	http    *http.Client
	options Options
	scheme  *runtime.Scheme
	// discovery takes no context; its requests end with requestTimeout.
	discovery *discovery.DiscoveryClient
}

// Connect returns a client, after the API server has answered and the kinds of
// Cluster API's v1beta2 contract were found.
func Connect(ctx context.Context, config *rest.Config, options Options) (*Client, error) {
	if err := options.withDefaults().check(); err != nil {
		return nil, fmt.Errorf("options of the management cluster %s: %w", config.Host, err)
	}
	scheme := runtime.NewScheme()
	builder := knownKinds()
	if err := builder.AddToScheme(scheme); err != nil {
		return nil, err
	}
	unbounded := rest.CopyConfig(config)
	unbounded.QPS = -1 // API servers look after themselves (priority and fairness)
	unbounded.WarningHandler = rest.NoWarnings{}
	unbounded.UserAgent = "clusterctl-x"
	bounded := rest.CopyConfig(unbounded)
	bounded.Timeout = requestTimeout

	watching, err := httpClient(unbounded)
	if err != nil {
		return nil, err
	}
	asking := within(watching, requestTimeout)
	mapper, err := apiutil.NewDynamicRESTMapper(bounded, asking)
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	c, err := client.New(bounded, client.Options{HTTPClient: asking, Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(bounded, asking)
	if err != nil {
		return nil, fmt.Errorf("connecting to the management cluster %s: %w", config.Host, err)
	}
	connection := &Client{Client: c, config: unbounded, http: watching, options: options, scheme: scheme, discovery: discoverer}
	if err := connection.ping(ctx); err != nil {
		return nil, err
	}
	return connection, connection.checkClusterAPI(ctx)
}

// knownKinds are those that a Client has Go types for.
func knownKinds() runtime.SchemeBuilder {
	return runtime.NewSchemeBuilder(clusterv1.AddToScheme, addonsv1.AddToScheme, controlplanev1.AddToScheme, corev1.AddToScheme, coordinationv1.AddToScheme,
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, policyv1.AddToScheme, runtimev1.AddToScheme, metav1.AddMetaToScheme)
}

// opts returns the options with their defaults.
func (c *Client) opts() Options { return c.options.withDefaults() }

// ping asks for the API server's version, which needs no privileges.
func (c *Client) ping(ctx context.Context) error {
	if _, err := c.discovery.ServerVersion(); err != nil {
		return c.explain(ctx, fmt.Errorf("asking for its version: %w", err))
	}
	return nil
}

func (c *Client) checkClusterAPI(ctx context.Context) error {
	missing := &RefusedError{Check: "cluster-api-missing", Reason: fmt.Sprintf(
		"the management cluster %s has no Cluster API v1beta2: install Cluster API 1.14 or newer with its kubeadm providers, for instance with 'clusterctl-x management init', or use the embedded management cluster with --management embedded", c.config.Host)}
	for _, kind := range []runtime.Object{&clusterv1.Cluster{}, &controlplanev1.KubeadmControlPlane{}} {
		gvk, err := apiutil.GVKForObject(kind, c.scheme)
		if err != nil {
			return err
		}
		_, err = c.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
		if meta.IsNoMatchError(err) {
			return missing
		}
		if err != nil {
			return c.explain(ctx, fmt.Errorf("looking for Cluster API in the management cluster %s: %w", c.config.Host, err))
		}
	}
	return nil
}

// RefusedError reports that the current state of the management cluster does not allow
// a command.
type RefusedError struct {
	Check  string // a stable name
	Reason string // with the remedy
}

func (e *RefusedError) Error() string { return e.Reason }

// ErrTimeout says that something did not happen in time.
var ErrTimeout = errors.New("timed out")
