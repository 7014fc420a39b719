package management

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// nameOne is the remedy where no kubeconfig that was named can be used.
const nameOne = "name one with --kubeconfig and --context, or use --management embedded"

// Kubeconfig is a kubeconfig that is found as kubectl finds it.
type Kubeconfig struct {
	// Path of the file; if empty, that of KUBECONFIG, else kubectl's default.
	Path string
	// Context of the file; empty for its current one.
	Context string
}

func (k Kubeconfig) rules() *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = k.Path
	return rules
}

// Usable reports whether the user names a kubeconfig, or kubectl would find one.
func (k Kubeconfig) Usable() bool {
	return k.Path != "" || k.Context != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" ||
		slices.ContainsFunc(k.rules().GetLoadingPrecedence(), exists)
}

// Load returns how the management cluster is reached, and the namespace of the context.
func (k Kubeconfig) Load() (*rest.Config, string, error) {
	rules := k.rules()
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: k.Context})
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig of the management cluster: %w", unusable(rules, loaded, err))
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, "", fmt.Errorf("reading the kubeconfig of the management cluster: %w", err)
	}
	return config, namespace, nil
}

// Contexts returns the names of the contexts, sorted.
func (k Kubeconfig) Contexts() ([]string, error) {
	config, err := k.rules().Load()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the management cluster: %w", err)
	}
	return slices.Sorted(maps.Keys(config.Contexts)), nil
}

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

// SameAuthority reports whether two kubeconfigs are of API servers with the same certificate
// authority.
func SameAuthority(a, b []byte) bool {
	first, second := authority(a), authority(b)
	return first != nil && bytes.Equal(first, second)
}

// authority returns the certificate authority of a kubeconfig; nil where it has none.
func authority(kubeconfig []byte) []byte {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil
	}
	return config.CAData
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
