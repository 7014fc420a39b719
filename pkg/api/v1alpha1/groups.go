package v1alpha1

import (
	"regexp"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// WithGroups returns the spec with other worker node groups. Origins has for each of them the
// index in the file of the group that it comes from, where errors about it are.
func (c *Config) WithGroups(groups []WorkerNodeGroupConfiguration, origins []int) *Config {
	other, cluster := *c, *c.Cluster
	cluster.Spec.WorkerNodeGroupConfigurations = groups
	other.Cluster, other.origins = &cluster, origins
	return &other
}

var ofGroup = regexp.MustCompile(`^spec\.workerNodeGroupConfigurations\[([0-9]+)\]`)

// inFile returns errors about the document of a kind with the paths that they have in the
// file, each once.
func (c *Config) inFile(kind string, errs field.ErrorList) field.ErrorList {
	if kind != ClusterKind || c.origins == nil {
		return errs
	}
	var inFile field.ErrorList
	for _, err := range errs {
		moved := *err
		moved.Field = c.pathInFile(err.Field)
		same := func(other *field.Error) bool { return other.Field == moved.Field && other.Error() == moved.Error() }
		if !slices.ContainsFunc(inFile, same) {
			inFile = append(inFile, &moved)
		}
	}
	return inFile
}

// warningsInFile does the same with warnings.
func (c *Config) warningsInFile(kind string, warnings []strictyaml.Warning) []strictyaml.Warning {
	if kind != ClusterKind || c.origins == nil {
		return warnings
	}
	var inFile []strictyaml.Warning
	for _, warning := range warnings {
		warning.Path = c.pathInFile(warning.Path)
		if !slices.Contains(inFile, warning) {
			inFile = append(inFile, warning)
		}
	}
	return inFile
}

// pathInFile returns the path that a field of the Cluster has in the file.
func (c *Config) pathInFile(path string) string {
	match := ofGroup.FindStringSubmatch(path)
	if match == nil {
		return path
	}
	i, err := strconv.Atoi(match[1])
	if err != nil || i >= len(c.origins) {
		return path
	}
	return "spec.workerNodeGroupConfigurations[" + strconv.Itoa(c.origins[i]) + "]" + path[len(match[0]):]
}
