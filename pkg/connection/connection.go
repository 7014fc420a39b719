// Package connection finds the management cluster that a user means, the one of a kubeconfig
// or an embedded one, and connects to it.
package connection

import (
	"context"
	"crypto/tls"
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Kinds of management clusters; Auto means the one of a kubeconfig where there is one.
const (
	Auto       = "auto"
	Kubeconfig = "kubeconfig"
	Embedded   = "embedded"
)

// Kinds returns all kinds.
func Kinds() []string { return []string{Auto, Kubeconfig, Embedded} }

// Flags for the certificate that runtime extensions are asked with, named as those of
// Cluster API's core controller.
const (
	CertificateFlag = "runtime-extension-client-cert-file"
	KeyFlag         = "runtime-extension-client-key-file"
)

// Choice says which management cluster is meant.
type Choice struct {
	// Kind is one of Kinds.
	Kind string
	// Kubeconfig is where it is found, unless it is embedded.
	Kubeconfig management.Kubeconfig
	// InstanceName is the name of an embedded one.
	InstanceName string
	// Starts says that an embedded one is started which does not run; otherwise it is refused.
	Starts bool
	// CertificateFile and KeyFile are what runtime extensions are asked with that demand a
	// certificate of their clients; PEM files.
	CertificateFile, KeyFile string
	// Report is given what a person may want to know meanwhile.
	Report func(format string, args ...any)
}

// Connection is a management cluster in use.
type Connection struct {
	*management.Client
	// Namespace of clusters that nothing else names a namespace for.
	Namespace string
	// Certificates are shown to runtime extensions.
	Certificates []tls.Certificate
	// PrepareContainers makes sure that the container engine of the management cluster can be
	// used, and has a network; nil where the management cluster is not embedded.
	PrepareContainers func(ctx context.Context, network string) error
}

// Connect finds the management cluster and reports which it is.
func (c *Choice) Connect(ctx context.Context, options management.Options) (*Connection, error) {
	certificates, err := c.certificates()
	if err != nil {
		return nil, err
	}
	kubeconfig, what := c.Kubeconfig, "kubeconfig"
	var prepare func(context.Context, string) error
	if c.UsesEmbedded() {
		instance, err := c.running(ctx)
		if err != nil {
			return nil, err
		}
		kubeconfig.Path, what = instance.Kubeconfig(), fmt.Sprintf("embedded %q", instance.Name)
		prepare = func(ctx context.Context, network string) error { return c.prepareContainers(ctx, instance, network) }
	}
	config, namespace, err := kubeconfig.Load()
	if err != nil {
		return nil, usage.Wrap(err)
	}
	c.Report("management cluster: %s, %s", what, config.Host)
	client, err := management.Connect(ctx, config, options)
	if err != nil {
		return nil, err
	}
	return &Connection{Client: client, Namespace: namespace, Certificates: certificates, PrepareContainers: prepare}, nil
}

// UsesEmbedded decides for Auto: a kubeconfig that the user names, by flag or in KUBECONFIG,
// is used or the command fails; without one it is the kubeconfig that kubectl uses by
// default where it exists, else the embedded management cluster.
func (c *Choice) UsesEmbedded() bool {
	return c.Kind == Embedded || c.Kind == Auto && !c.Kubeconfig.Usable()
}

// Ready reports whether there is something to connect to without starting it.
func (c *Choice) Ready() bool {
	if !c.UsesEmbedded() {
		return true
	}
	_, status, err := c.status()
	return err == nil && status.Ready
}

// certificates are those that runtime extensions are asked with; none where the user has
// none.
func (c *Choice) certificates() ([]tls.Certificate, error) {
	switch {
	case c.CertificateFile == "" && c.KeyFile == "":
		return nil, nil
	case c.CertificateFile == "" || c.KeyFile == "":
		return nil, usage.Errorf("--%s and --%s must be set together: one names the certificate, the other its key", CertificateFlag, KeyFlag)
	}
	pair, err := tls.LoadX509KeyPair(c.CertificateFile, c.KeyFile)
	if err != nil {
		return nil, usage.Errorf("reading the client certificate for runtime extensions from %s and %s: %w; --%s and --%s name PEM files that belong together", c.CertificateFile, c.KeyFile, err, CertificateFlag, KeyFlag)
	}
	return []tls.Certificate{pair}, nil
}

// Instances returns the embedded management clusters of the user.
func Instances() ([]embedded.Instance, error) {
	home, err := embedded.DefaultHome()
	if err != nil {
		return nil, err
	}
	instances, err := embedded.List(home)
	if err != nil {
		err = fmt.Errorf("%w; %s", err, whichHome)
	}
	return instances, err
}

// InstanceNames returns the names of the embedded management clusters of the user.
func InstanceNames() ([]string, error) {
	all, err := Instances()
	var names []string
	for _, instance := range all {
		names = append(names, instance.Name)
	}
	return names, err
}
