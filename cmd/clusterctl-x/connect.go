package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Values of --management.
const (
	managementAuto       = "auto"
	managementKubeconfig = "kubeconfig"
	managementEmbedded   = "embedded"
)

// whichHome is the remedy where the state directory cannot be used.
const whichHome = "CLUSTERCTL_X_HOME names the directory of embedded management clusters"

// startTimeout is how long an embedded management cluster may take to start.
const startTimeout = 2 * time.Minute

// connection is a management cluster in use.
type connection struct {
	*management.Client
	namespace string // of the kubeconfig's context
	// certificates are shown to runtime extensions.
	certificates []tls.Certificate
}

// service works on the management cluster.
func (a *app) service(ctx context.Context) (*lifecycle.Service, error) {
	connection, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	return a.serviceOf(connection, nil), nil
}

// serviceWithBundles also knows the releases, for clusters whose file is not read.
func (a *app) serviceWithBundles(ctx context.Context) (*lifecycle.Service, error) {
	bundles, err := a.readBundles()
	if err != nil {
		return nil, err
	}
	connection, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	return a.serviceOf(connection, bundles), nil
}

func (a *app) serviceOf(c *connection, bundles *versionsbundle.Bundles) *lifecycle.Service {
	return lifecycle.New(c.Client, lifecycle.Options{
		Bundles: bundles, Namespace: a.namespaceOr(c.namespace), Certificates: c.certificates, Warn: a.warnText, Waiting: a.sayWaiting,
	})
}

// connect finds the management cluster, starts it where it is an embedded one
// that does not run, and says which it is.
func (a *app) connect(ctx context.Context) (*connection, error) {
	certificates, err := a.extensionCertificates()
	if err != nil {
		return nil, err
	}
	rules := a.loadingRules()
	what := "kubeconfig"
	if a.usesEmbedded(rules) {
		instance, err := a.startEmbedded(ctx)
		if err != nil {
			return nil, err
		}
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: instance.Kubeconfig()}
		what = fmt.Sprintf("embedded %q", instance.Name)
	}
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.options.Context})
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the kubeconfig of the management cluster: %w", unusable(rules, loaded, err))}
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the kubeconfig of the management cluster: %w", err)}
	}
	a.say("management cluster: %s, %s", what, config.Host)
	client, err := management.Connect(ctx, config)
	if err != nil {
		return nil, err
	}
	return &connection{Client: client, namespace: namespace, certificates: certificates}, nil
}

// loadingRules are those of kubectl.
func (a *app) loadingRules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.options.Kubeconfig
	return rules
}

// nameOne is the remedy where no kubeconfig that was named can be used.
const nameOne = "name one with --kubeconfig and --context, or use --management embedded"

// unusable says what is wrong with the files of the rules, and what to do.
func unusable(rules *clientcmd.ClientConfigLoadingRules, loaded clientcmd.ClientConfig, err error) error {
	paths := slices.DeleteFunc(rules.GetLoadingPrecedence(), func(path string) bool { return path == "" })
	for _, path := range paths {
		if _, err := clientcmd.LoadFromFile(path); runtime.IsNotRegisteredError(err) {
			return fmt.Errorf("%s is not a kubeconfig, which has apiVersion v1 and kind Config; %s", path, nameOne)
		}
	}
	if !clientcmd.IsEmptyConfig(err) {
		return fmt.Errorf("%w; %s", err, nameOne)
	}
	if !slices.ContainsFunc(paths, exists) {
		return fmt.Errorf("%s; %s", namedBy(paths), nameOne)
	}
	if raw, err := loaded.RawConfig(); err == nil && raw.CurrentContext == "" && len(raw.Contexts) > 0 {
		return fmt.Errorf("current-context is not set in %s; name a context with --context (%s), or set one with 'kubectl config use-context'",
			strings.Join(paths, ", "), strings.Join(slices.Sorted(maps.Keys(raw.Contexts)), ", "))
	}
	return fmt.Errorf("no cluster in %s; %s", strings.Join(paths, ", "), nameOne)
}

// namedBy says that no file is at the paths, and what names them.
func namedBy(paths []string) string {
	missing := strings.Join(paths, ", ") + ": no such file"
	switch variable := clientcmd.RecommendedConfigPathEnvVar; {
	case os.Getenv(variable) == "":
		return missing
	case len(paths) == 0:
		return variable + " names no file"
	default:
		return variable + " names " + missing
	}
}

// exists reports whether there is something at a path, whether it can be read or not.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// usesEmbedded decides for --management auto: a kubeconfig that the user names, by
// flag or in KUBECONFIG, is used or the command fails; without one it is the
// kubeconfig that kubectl uses by default where it exists, else the embedded
// management cluster.
func (a *app) usesEmbedded(rules *clientcmd.ClientConfigLoadingRules) bool {
	switch a.options.Management {
	case managementEmbedded:
		return true
	case managementKubeconfig:
		return false
	}
	if rules.ExplicitPath != "" || a.options.Context != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		return false
	}
	return !slices.ContainsFunc(rules.GetLoadingPrecedence(), exists)
}

func (a *app) instance() (embedded.Instance, error) {
	home, err := embedded.DefaultHome()
	if err != nil {
		return embedded.Instance{}, err
	}
	instance, err := embedded.Find(home, a.options.Instance)
	if err != nil {
		return embedded.Instance{}, usageError{err}
	}
	return instance, nil
}

// status is what the files of an instance say.
func (a *app) status(instance embedded.Instance) (embedded.Status, error) {
	status, err := instance.Status()
	if err != nil {
		err = fmt.Errorf("looking at embedded management cluster %q: %w; %s", instance.Name, err, whichHome)
	}
	return status, err
}

func (a *app) startEmbedded(ctx context.Context) (embedded.Instance, error) {
	instance, err := a.instance()
	if err != nil {
		return instance, err
	}
	status, err := a.status(instance)
	if err != nil || status.Ready {
		return instance, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	a.say("management cluster: embedded %q, which is being started", instance.Name)
	began := time.Now()
	err = instance.Start(ctx)
	if errors.Is(err, embedded.ErrNoProgram) && os.Getenv("CLUSTERCTL_X_EMBEDDED") != "" {
		err = fmt.Errorf("%w; set it to the program that 'make build' puts at bin/embedded/%s, or unset it", err, embedded.Exec)
	}
	if err != nil {
		return instance, err
	}
	a.say("it is ready after %.1fs", time.Since(began).Seconds())
	return instance, nil
}
