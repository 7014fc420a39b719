package manifests

import (
	"fmt"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// OtherObjects returns the further objects of the provider that clusters have without the
// class, as Kind/name, where NAME stands for that of the cluster. No class can have them. The
// class must have a release.
func (c Class) OtherObjects() ([]string, error) {
	if c.Documents == nil || !c.Provider.Has(providers.ResourcesTemplate) {
		return nil, nil
	}
	m := classMaker{Class: c, workers: workerRoles(c.Documents)}
	r, err := m.renderer(c.Releases[0], nil)
	if err != nil {
		return nil, err
	}
	_, resources, err := r.infrastructureObjects()
	var names []string
	for _, object := range resources {
		names = append(names, fmt.Sprintf("%s/%s", object.Kind.Kind, strings.ReplaceAll(object.Name, nameOfCluster, "NAME")))
	}
	return names, err
}
