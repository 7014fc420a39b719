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
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

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

// readSpec reads the file of -f; "-" is standard input.
func (a *app) readSpec(file string) (lifecycle.Spec, error) {
	if file == "" {
		return lifecycle.Spec{}, usageError{errors.New("-f FILE is required: the file that describes the cluster")}
	}
	return a.readSpecOf("-f names the file that describes the cluster, and - is standard input", file)
}

// readSpecOf reads the file of a flag, which the remedy is about.
func (a *app) readSpecOf(remedy, file string) (lifecycle.Spec, error) {
	data, err := a.readFile("the cluster spec", remedy, file)
	if err != nil {
		return lifecycle.Spec{}, err
	}
	bundles, err := a.readBundles()
	if err != nil {
		return lifecycle.Spec{}, err
	}
	spec := lifecycle.ReadSpec(fileName(file), data, bundles)
	if config := spec.Config; config.Cluster != nil {
		if of := config.Cluster.Metadata.Namespace; a.contradicts(of) != "" {
			wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.contradicts(of))
			config.Problems = append(config.Problems, config.Locate(v1alpha1.ClusterKind, field.ErrorList{wrong})...)
		}
	}
	return spec, nil
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

// validSpec reads the file of -f, which must describe a valid new cluster.
func (a *app) validSpec(file string) (lifecycle.Spec, validations.Resolved, error) {
	spec, err := a.readSpec(file)
	if err != nil {
		return spec, validations.Resolved{}, err
	}
	resolved, err := spec.Validate()
	a.warn(resolved.Warnings)
	return spec, resolved, err
}

// warn says what is read of a spec and not acted on, or acts otherwise than expected.
func (a *app) warn(warnings []strictyaml.Warning) {
	for _, warning := range warnings {
		a.warning("%s", warning)
	}
}
