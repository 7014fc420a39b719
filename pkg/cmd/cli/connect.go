package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/selfmanaged"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// startsAnnotation marks commands that start the embedded management cluster.
const startsAnnotation = "clusterctl-x.io/starts"

// Service works on the management cluster.
func (a *App) Service(ctx context.Context) (*lifecycle.Service, error) { return a.service(ctx, nil) }

// ServiceWithBundles also knows the releases, for clusters whose file is not read.
func (a *App) ServiceWithBundles(ctx context.Context) (*lifecycle.Service, error) {
	bundles, err := a.ReadBundles()
	if err != nil {
		return nil, err
	}
	return a.service(ctx, bundles)
}

// ServiceOnceChecked is Service after a check without a management cluster, which gave
// warnings and perhaps an error. People learn first which management cluster it is.
func (a *App) ServiceOnceChecked(ctx context.Context, warnings []strictyaml.Warning, err error) (*lifecycle.Service, error) {
	if err != nil {
		a.WarnAll(warnings)
		return nil, err
	}
	service, err := a.Service(ctx)
	if err == nil {
		a.WarnAll(warnings)
	}
	return service, err
}

func (a *App) service(ctx context.Context, bundles *versionsbundle.Bundles) (*lifecycle.Service, error) {
	on, err := a.serviceOn(ctx, &a.Management, bundles)
	return on.Clusters, err
}

// serviceOn works on a management cluster.
func (a *App) serviceOn(ctx context.Context, choice *connection.Choice, bundles *versionsbundle.Bundles) (on selfmanaged.ManagementCluster, err error) {
	known, err := a.ReadProviders()
	if err != nil {
		return on, err
	}
	c, err := a.connectTo(ctx, choice)
	if err != nil {
		return on, err
	}
	on.Client, on.Clusters = c.Client, lifecycle.New(c.Client, lifecycle.Options{
		Bundles: bundles, Providers: known, Command: a.command, Namespace: c.Namespace, Certificates: c.Certificates,
		PrepareContainers: c.PrepareContainers, Warn: a.WarnText,
		Waiting: a.SayWaiting,
	})
	return on, nil
}

// SayWaiting says which run of another a lock is waited for.
func (a *App) SayWaiting(holding management.HeldLock) {
	a.Say("%s holds %s; waiting to see whether it is still running", holding.Holder, holding.What())
}

// Connect connects to the management cluster that the flags mean.
func (a *App) Connect(ctx context.Context) (*connection.Connection, error) {
	return a.connectTo(ctx, &a.Management)
}

func (a *App) connectTo(ctx context.Context, choice *connection.Choice) (*connection.Connection, error) {
	known, err := a.ReadProviders()
	if err != nil {
		return nil, err
	}
	c, err := choice.Connect(ctx, management.Options{BootstrapFailures: known.BootstrapFailures()})
	if err == nil {
		c.Namespace = a.NamespaceOr(c.Namespace)
	}
	return c, err
}

// AddExtensionCertificate adds the flags for the certificate that runtime extensions are
// asked with.
func (a *App) AddExtensionCertificate(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Management.CertificateFile, connection.CertificateFlag, "", "path of the PEM-encoded client certificate for runtime extensions that demand one")
	cmd.Flags().StringVar(&a.Management.KeyFile, connection.KeyFlag, "", "path of the PEM-encoded key of that certificate")
}

// Starts has a command start the embedded management cluster if that does not run: it
// writes. What only reads starts nothing.
func Starts(cmd *cobra.Command) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[startsAnnotation] = ""
	return cmd
}
