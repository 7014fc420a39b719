package components

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Wanted says which versions are asked for.
type Wanted struct {
	// ClusterAPI is the version of Cluster API and of its kubeadm providers; TestedVersion where
	// it is empty.
	ClusterAPI string
	// Providers are the versions of other providers by their names, such as
	// infrastructure-NAME. An empty version is the newest of the contract.
	Providers map[string]string
}

// String lists what is wanted, with the versions that are known before the components are read.
func (w Wanted) String() string {
	var all []string
	for _, name := range clusterAPI() {
		all = append(all, name+" "+cmp.Or(w.ClusterAPI, TestedVersion))
	}
	for _, name := range slices.Sorted(maps.Keys(w.Providers)) {
		all = append(all, strings.TrimSuffix(name+" "+w.Providers[name], " "))
	}
	return strings.Join(all, ", ")
}

// ParseWanted returns what the flags --cluster-api-version and --with ask for. Each of providers is
// NAME or NAME=VERSION.
func ParseWanted(clusterAPI string, providers []string) (Wanted, error) {
	wanted := Wanted{ClusterAPI: clusterAPI, Providers: map[string]string{}}
	if err := checkVersion(clusterAPI); clusterAPI != "" && err != nil {
		return wanted, usage.Errorf("--cluster-api-version: %w", err)
	}
	for _, provider := range providers {
		name, version, given := strings.Cut(provider, "=")
		if err := checkProvider(name); err != nil {
			return wanted, usage.Errorf("--with %s: %w", provider, err)
		}
		if err := checkVersion(version); given && err != nil {
			return wanted, usage.Errorf("--with %s: %w", provider, err)
		}
		wanted.Providers[name] = version
	}
	return wanted, nil
}

// checkVersion refuses what is not the version of a component.
func checkVersion(text string) error {
	if _, err := version.ParseSemantic(text); err != nil {
		return fmt.Errorf("%q is no version of a component; use one such as %s", text, TestedVersion)
	}
	return nil
}

// checkProvider refuses names that are not those of providers that users may name.
func checkProvider(name string) error {
	if slices.Contains(clusterAPI(), name) {
		return fmt.Errorf("%s has the version of --cluster-api-version", name)
	}
	_, _, err := parseLabel(name)
	return err
}
