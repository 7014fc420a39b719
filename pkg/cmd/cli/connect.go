package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Values of --management.
const (
	managementAuto       = "auto"
	managementKubeconfig = "kubeconfig"
	managementEmbedded   = "embedded"
)

// Flags for the certificate that runtime extensions are asked with, named as those of
// Cluster API's core controller.
const (
	extensionCertificateFlag = "runtime-extension-client-cert-file"
	extensionKeyFlag         = "runtime-extension-client-key-file"
)

// startsAnnotation marks commands that start the embedded management cluster.
const startsAnnotation = "clusterctl-x.io/starts"

// defaultInstance is the embedded management cluster that --name names by default.
const defaultInstance = "default"

// WhichHome is the remedy where the state directory cannot be used.
const WhichHome = "CLUSTERCTL_X_HOME names the directory of embedded management clusters"

// StartTimeout is how long an embedded management cluster may take to start.
const StartTimeout = 2 * time.Minute

// Connection is a management cluster in use.
type Connection struct {
	*management.Client
	// Namespace of clusters that nothing else names a namespace for.
	Namespace string
	// certificates are shown to runtime extensions.
	certificates []tls.Certificate
}

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
	known, err := a.ReadProviders()
	if err != nil {
		return nil, err
	}
	c, err := a.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return lifecycle.New(c.Client, lifecycle.Options{
		Bundles: bundles, Providers: known, Command: a.command, Namespace: c.Namespace, Certificates: c.certificates, Warn: a.WarnText,
		Waiting: func(holding management.HeldLock) {
			a.Say("%s holds %s; waiting to see whether it is still running", holding.Holder, holding.What())
		},
	}), nil
}

// Connect finds the management cluster and says which it is. An embedded one that does not
// run is started for commands that Start names, and refused for others.
func (a *App) Connect(ctx context.Context) (*Connection, error) {
	certificates, err := a.extensionCertificates()
	if err != nil {
		return nil, err
	}
	kubeconfig, what := a.kubeconfig(), "kubeconfig"
	if a.usesEmbedded() {
		instance, err := a.runningEmbedded(ctx)
		if err != nil {
			return nil, err
		}
		kubeconfig.Path, what = instance.Kubeconfig(), fmt.Sprintf("embedded %q", instance.Name)
	}
	config, namespace, err := kubeconfig.Load()
	if err != nil {
		return nil, Usage(err)
	}
	a.Say("management cluster: %s, %s", what, config.Host)
	known, err := a.ReadProviders()
	if err != nil {
		return nil, err
	}
	client, err := management.Connect(ctx, config, management.Options{BootstrapFailures: known.BootstrapFailures()})
	if err != nil {
		return nil, err
	}
	return &Connection{Client: client, Namespace: a.NamespaceOr(namespace), certificates: certificates}, nil
}

func (a *App) kubeconfig() management.Kubeconfig {
	return management.Kubeconfig{Path: a.Options.Kubeconfig, Context: a.Options.Context}
}

// usesEmbedded decides for --management auto: a kubeconfig that the user names, by
// flag or in KUBECONFIG, is used or the command fails; without one it is the
// kubeconfig that kubectl uses by default where it exists, else the embedded
// management cluster.
func (a *App) usesEmbedded() bool {
	return a.Options.Management == managementEmbedded || a.Options.Management == managementAuto && !a.kubeconfig().Usable()
}

// AddExtensionCertificate adds the flags for the certificate that runtime extensions are
// asked with.
func (a *App) AddExtensionCertificate(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Options.ExtensionCertificate, extensionCertificateFlag, "", "path of the PEM-encoded client certificate for runtime extensions that demand one")
	cmd.Flags().StringVar(&a.Options.ExtensionKey, extensionKeyFlag, "", "path of the PEM-encoded key of that certificate")
}

// extensionCertificates are those that runtime extensions are asked with; none where
// the user has none.
func (a *App) extensionCertificates() ([]tls.Certificate, error) {
	certificate, key := a.Options.ExtensionCertificate, a.Options.ExtensionKey
	switch {
	case certificate == "" && key == "":
		return nil, nil
	case certificate == "" || key == "":
		return nil, Usagef("--%s and --%s must be set together: one names the certificate, the other its key", extensionCertificateFlag, extensionKeyFlag)
	}
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, Usagef("reading the client certificate for runtime extensions from %s and %s: %w; --%s and --%s name PEM files that belong together", certificate, key, err, extensionCertificateFlag, extensionKeyFlag)
	}
	return []tls.Certificate{pair}, nil
}

// Instance is the embedded management cluster of the flags.
func (a *App) Instance() (embedded.Instance, error) {
	home, err := embedded.DefaultHome()
	if err != nil {
		return embedded.Instance{}, err
	}
	instance, err := embedded.Find(home, a.Options.Instance)
	if err != nil {
		return embedded.Instance{}, Usage(err)
	}
	return instance, nil
}

// Status is what the files of an instance say.
func Status(instance embedded.Instance) (embedded.Status, error) {
	status, err := instance.Status()
	if err != nil {
		err = fmt.Errorf("looking at embedded management cluster %q: %w; %s", instance.Name, err, WhichHome)
	}
	return status, err
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

// runningEmbedded is the embedded management cluster of the flags, which runs.
func (a *App) runningEmbedded(ctx context.Context) (embedded.Instance, error) {
	if a.starts {
		return a.StartEmbedded(ctx)
	}
	instance, status, err := a.instanceStatus()
	if err != nil || status.Ready {
		return instance, err
	}
	start := "clusterctl-x management start"
	if instance.Name != defaultInstance {
		start += " --name " + instance.Name
	}
	refused := &management.RefusedError{Check: "not-running"}
	switch {
	case status.Running:
		refused.Reason = fmt.Sprintf("embedded management cluster %q is not ready yet; '%s' waits until it is", instance.Name, start)
	case status.Created:
		refused.Reason = fmt.Sprintf("embedded management cluster %q is stopped, and this command starts nothing; start it with '%s'", instance.Name, start)
	default:
		refused.Reason = fmt.Sprintf("there is no management cluster: no kubeconfig was found, and embedded management cluster %q was never started; name a kubeconfig with --kubeconfig, or start the embedded one with '%s' or by creating a cluster", instance.Name, start)
		if a.Options.Management == managementEmbedded {
			refused.Reason = fmt.Sprintf("embedded management cluster %q was never started, so it has no clusters; start it with '%s' or by creating a cluster", instance.Name, start)
		}
	}
	return instance, refused
}

// StartEmbedded starts the embedded management cluster, unless it runs.
func (a *App) StartEmbedded(ctx context.Context) (embedded.Instance, error) {
	instance, status, err := a.instanceStatus()
	if err != nil || status.Ready {
		return instance, err
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	a.Say("management cluster: embedded %q, which is starting", instance.Name)
	began := time.Now()
	err = instance.Start(ctx)
	if errors.Is(err, embedded.ErrNoProgram) && os.Getenv("CLUSTERCTL_X_EMBEDDED") != "" {
		err = fmt.Errorf("%w; set it to the program that 'make build' puts at bin/embedded/%s, or unset it", err, embedded.Exec)
	}
	if err != nil {
		return instance, err
	}
	a.Say("it is ready after %.1fs", time.Since(began).Seconds())
	return instance, nil
}

func (a *App) embeddedRuns() bool {
	_, status, err := a.instanceStatus()
	return err == nil && status.Ready
}

// instanceStatus returns the embedded management cluster that the flags name, and how it is.
func (a *App) instanceStatus() (embedded.Instance, embedded.Status, error) {
	instance, err := a.Instance()
	if err != nil {
		return instance, embedded.Status{}, err
	}
	status, err := Status(instance)
	return instance, status, err
}
