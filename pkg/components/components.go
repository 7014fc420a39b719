// Package components installs and upgrades the components of a management cluster: Cluster API,
// its providers, and cert-manager, which their webhooks need. clusterctl's own library does the
// work; this package decides which versions, and refuses before anything is written.
package components

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/config"
	clusterctllog "sigs.k8s.io/cluster-api/cmd/clusterctl/log"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// TestedVersion is the version of Cluster API that clusterctl-x is built and tested with.
const TestedVersion = "v1.14.0"

// certManager is the component that is no provider.
const certManager = "cert-manager"

// Options say which management cluster is meant, and where its components come from.
type Options struct {
	// Kubeconfig and Context are as kubectl has them: both may be empty.
	Kubeconfig, Context string
	// Embedded says that the management cluster is embedded, and has no components of its own.
	Embedded bool
	// Dir holds the components, in the layout of clusterctl's local repositories:
	// LABEL/VERSION/*-components.yaml and metadata.yaml, and cert-manager/VERSION/cert-manager.yaml.
	// Without it they come from where clusterctl's configuration says, mostly GitHub.
	Dir string
	// Getenv returns the variables that components of Dir are templates of; "" is none.
	Getenv func(name string) string
	// Log gets what clusterctl's library logs.
	Log logr.Logger
}

// Client works on the components of one management cluster.
type Client struct {
	library client.Client
	// folder has the names of the components of Options.Dir; nil without it.
	folder     map[string]bool
	cluster    cluster.Client
	kubeconfig client.Kubeconfig
}

// New returns a client. It connects to nothing yet. The error is about Options.Dir, about
// clusterctl's configuration file, or about an embedded management cluster.
func New(ctx context.Context, o Options) (*Client, error) {
	if o.Embedded {
		return nil, &management.RefusedError{Check: "embedded-components", Reason: "the components of an embedded management cluster are part of clusterctl-x, and change with it; name another management cluster with --kubeconfig"}
	}
	var options []config.Option
	var folder map[string]bool
	if o.Dir != "" {
		reader, found, err := readFolder(o.Dir, o.Getenv)
		if err != nil {
			return nil, usage.Wrap(err)
		}
		options, folder = append(options, config.InjectReader(reader)), found
	}
	configuration, err := config.New(ctx, "", options...)
	if err != nil {
		return nil, fmt.Errorf("reading clusterctl's configuration: %w", err)
	}
	library, err := client.New(ctx, "", client.InjectConfig(configuration))
	if err != nil {
		return nil, fmt.Errorf("setting up clusterctl's library: %w", err)
	}
	clusterctllog.SetLogger(o.Log)
	kubeconfig := client.Kubeconfig{Path: o.Kubeconfig, Context: o.Context}
	return &Client{
		library:    library,
		folder:     folder,
		cluster:    cluster.New(cluster.Kubeconfig(kubeconfig), configuration),
		kubeconfig: kubeconfig,
	}, nil
}

// Component is one of the components of a management cluster.
type Component struct {
	// Name is that of a folder of clusterctl: cluster-api, bootstrap-kubeadm,
	// infrastructure-NAME, cert-manager.
	Name string `json:"name"`
	// Namespace that it is installed in.
	Namespace string `json:"namespace,omitempty"`
	// From is the version that is installed; empty where there is none.
	From string `json:"from,omitempty"`
	// To is the version that is to be installed; From where it stays.
	To string `json:"to"`

	provider clusterctlv1.Provider // the zero value for cert-manager
}

// Changes reports whether the component is installed or upgraded.
func (c Component) Changes() bool { return c.From != c.To }

// reference is the component as clusterctl's options name it; the newest version without To.
func (c Component) reference() string {
	return strings.TrimSuffix(c.provider.ProviderName+":"+c.To, ":")
}

// Plan is what is to be done to the components of a management cluster.
type Plan struct {
	Components []Component
}

// Empty reports whether nothing changes.
func (p Plan) Empty() bool {
	for _, component := range p.Components {
		if component.Changes() {
			return false
		}
	}
	return true
}

// String lists the components that change, with their versions.
func (p Plan) String() string {
	var changed []string
	for _, component := range p.Components {
		if component.Changes() {
			changed = append(changed, component.Name+" "+component.To)
		}
	}
	return strings.Join(changed, ", ")
}

// Inventory returns the providers that are installed, as clusterctl has written them down. Without
// an inventory there are none.
func (c *Client) Inventory(ctx context.Context) ([]Component, error) {
	list, err := c.cluster.ProviderInventory().List(ctx)
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading clusterctl's inventory of providers: %w", err)
	}
	components := make([]Component, len(list.Items))
	for i, provider := range list.Items {
		components[i] = Component{Name: provider.ManifestLabel(), Namespace: provider.Namespace, From: provider.Version, To: provider.Version, provider: provider}
	}
	return components, nil
}
