package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// spec is a decoded file with the bundles to resolve it.
type spec struct {
	data    []byte // as it was read
	config  *v1alpha1.Config
	bundles *versionsbundle.Bundles
	// class is the ClusterClass that the file names; nil as long as no management
	// cluster was asked for it.
	class *topology.Class
}

// fileFlag is the value of -f, which is given once.
type fileFlag string

func (f *fileFlag) String() string { return string(*f) }

// Type is what help calls the value.
func (f *fileFlag) Type() string { return "string" }

func (f *fileFlag) Set(file string) error {
	if *f != "" {
		return fmt.Errorf("one file is read, and %q was given before it", string(*f))
	}
	*f = fileFlag(file)
	return nil
}

// addFile adds the flag -f to a command.
func addFile(cmd *cobra.Command, file *string, usage string) {
	cmd.Flags().VarP((*fileFlag)(file), "filename", "f", usage)
}

// claims are the groups that the cluster of the file may have under the names that
// clusterctl-x gives them. A ClusterClass has its MachineDeployments under other names,
// but for pinned groups.
func (s spec) claims() []string {
	var names []string
	for _, group := range s.config.Cluster.Spec.WorkerNodeGroupConfigurations {
		if !s.managed() || group.Pinned() {
			names = append(names, group.Name)
		}
	}
	return names
}

// readSpec reads the file of -f; "-" is standard input.
func (a *app) readSpec(file string) (spec, error) {
	if file == "" {
		return spec{}, usageError{errors.New("-f FILE is required: the file that describes the cluster")}
	}
	return a.readSpecOf("-f names the file that describes the cluster, and - is standard input", file)
}

// readSpecOf reads the file of a flag, which the remedy is about.
func (a *app) readSpecOf(remedy, file string) (spec, error) {
	data, err := a.readFile("the cluster spec", remedy, file)
	if err != nil {
		return spec{}, err
	}
	decoded := v1alpha1.Decode(fileName(file), data)
	if decoded.Cluster != nil {
		if of := decoded.Cluster.Metadata.Namespace; a.contradicts(of) != "" {
			wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.contradicts(of))
			decoded.Problems = append(decoded.Problems, decoded.Locate(v1alpha1.ClusterKind, field.ErrorList{wrong})...)
		}
	}
	bundles, err := a.readBundles()
	return spec{data: data, config: decoded, bundles: bundles}, err
}

// fileName is what people call the file of -f.
func fileName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

func (a *app) readFile(what, remedy, file string) ([]byte, error) {
	if file == "-" {
		data, err := readStart(a.in)
		if err != nil {
			return nil, usageError{fmt.Errorf("reading %s: %w", what, err)}
		}
		return data, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("reading %s: %w; %s", what, err, remedy)}
	}
	return data, nil
}

func readFile(path string) (data []byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return readStart(file)
}

// readStart reads no more than shows that a file is too large to be read: it
// may be a device, which has no end.
func readStart(r io.Reader) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, strictyaml.MaxFileSize+1))
}

func (a *app) readBundles() (*versionsbundle.Bundles, error) {
	_, bundles, err := a.bundlesFile()
	return bundles, err
}

// bundlesFile are the versions bundles as they stand in their file, and as they are read.
func (a *app) bundlesFile() ([]byte, *versionsbundle.Bundles, error) {
	if a.options.Bundles == "" {
		bundles, err := versionsbundle.Parse("the bundles of clusterctl-x", config.Bundles)
		return config.Bundles, bundles, err
	}
	data, err := readFile(a.options.Bundles)
	if err != nil {
		return nil, nil, usageError{fmt.Errorf("reading the versions bundles: %w", err)}
	}
	bundles, err := versionsbundle.Parse(a.options.Bundles, data)
	if err != nil {
		return nil, nil, usageError{err}
	}
	return data, bundles, nil
}

// resolve validates the spec. Where it is not valid, the warnings are told now.
func (a *app) resolve(s spec, running v1alpha1.ClusterVersions) (validations.Resolved, error) {
	resolved, err := validations.Create(s.config, s.releases(), running)
	if err == nil && s.managed() {
		_, err = a.render(s, resolved, "") // tells which variables are given twice
	}
	if err != nil {
		a.warn(resolved)
	}
	return resolved, s.byClass(err)
}

// warn tells what is read and not acted on, or acts otherwise than expected.
func (a *app) warn(resolved validations.Resolved) {
	for _, warning := range resolved.Warnings {
		a.warning("%s", warning)
	}
}

// render makes the objects of the cluster, in the given namespace where nothing
// else names one.
func (a *app) render(s spec, resolved validations.Resolved, namespace string) ([]templater.Object, error) {
	objects, err := manifests.Render(manifests.Input{
		Config:    resolved.Config,
		Versions:  resolved.Versions,
		Set:       resolved.Set,
		Namespace: a.namespace(resolved.Config.Cluster.Metadata.Namespace, namespace),
		Downloads: s.bundles.Releases(),
	})
	return objects.All(), err
}
