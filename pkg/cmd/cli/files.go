package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// ReadSpec reads the file of -f; "-" is standard input.
func (a *App) ReadSpec(file string) (lifecycle.Spec, error) {
	if file == "" {
		return lifecycle.Spec{}, Usagef("-f FILE is required: the file that describes the cluster")
	}
	return a.ReadSpecOf("-f names the file that describes the cluster, and - is standard input", file)
}

// ReadSpecOf reads the file of a flag, which the remedy is about.
func (a *App) ReadSpecOf(remedy, file string) (lifecycle.Spec, error) {
	data, err := a.ReadFile("the cluster spec", remedy, file)
	if err != nil {
		return lifecycle.Spec{}, err
	}
	return a.Spec(FileName(file), data)
}

// Spec decodes the content of a file, which people know by its name.
func (a *App) Spec(name string, data []byte) (lifecycle.Spec, error) {
	bundles, err := a.ReadBundles()
	if err != nil {
		return lifecycle.Spec{}, err
	}
	known, err := a.ReadProviders()
	if err != nil {
		return lifecycle.Spec{}, err
	}
	spec := lifecycle.ReadSpec(name, data, known, bundles)
	if config := spec.Config; config.Cluster != nil {
		if of := config.Cluster.Metadata.Namespace; a.Contradicts(of) != "" {
			wrong := field.Invalid(field.NewPath("metadata", "namespace"), of, a.Contradicts(of))
			config.Problems = append(config.Problems, config.Locate(v1alpha1.ClusterKind, field.ErrorList{wrong})...)
		}
	}
	return spec, nil
}

// AddFiles adds the flag -f of a command that takes several files.
func AddFiles(cmd *cobra.Command, files *[]string) {
	cmd.Flags().StringArrayVarP(files, "filename", "f", nil, "file that describes a cluster, or a directory of such files; - is standard input; may be repeated")
}

// Files returns the files that -f names, and those in the directories that it names.
func Files(named []string) ([]string, error) {
	if len(named) == 0 {
		return nil, Usagef("-f FILE is required: a file that describes a cluster, or a directory of such files")
	}
	seen := map[string]bool{}
	var files []string
	for _, name := range named {
		found, err := filesOf(name)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if seen[filepath.Clean(file)] {
				return nil, Usagef("-f names %s twice", FileName(file))
			}
			seen[filepath.Clean(file)] = true
			files = append(files, file)
		}
	}
	return files, nil
}

// filesOf returns the files that a name of -f stands for, sorted by their names.
func filesOf(name string) ([]string, error) {
	if info, err := os.Stat(name); name == "-" || err != nil || !info.IsDir() {
		return []string{name}, nil //nolint:nilerr // reading it says what is wrong
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return nil, Usagef("reading the directory %s: %w", name, err)
	}
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(specExtensions(), filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, Usagef("the directory %s has no file that ends in %s; its subdirectories are not read", name, strings.Join(specExtensions(), ", "))
	}
	return files, nil
}

// specExtensions are those that kubectl reads in a directory.
func specExtensions() []string { return []string{".json", ".yaml", ".yml"} }

// FileName is what people call the file of -f.
func FileName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// ReadFile reads a file, or standard input; the remedy is about the flag that names it.
func (a *App) ReadFile(what, remedy, file string) ([]byte, error) {
	if file == "-" {
		data, err := readStart(a.In)
		if err != nil {
			return nil, Usagef("reading %s: %w", what, err)
		}
		return data, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, Usagef("reading %s: %w; %s", what, err, remedy)
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

// replaceBundlesFlag is the flag that leaves the built-in bundles out.
const replaceBundlesFlag = "replace-bundles"

// ReadBundles reads the versions bundles: the built-in ones with those of --bundles, or
// only these.
func (a *App) ReadBundles() (*versionsbundle.Bundles, error) {
	builtIn, err := versionsbundle.Parse("the bundles of clusterctl-x", config.Bundles)
	if err != nil || a.Options.Bundles == "" {
		return builtIn, err
	}
	data, err := readFile(a.Options.Bundles)
	if err != nil {
		return nil, Usagef("reading the versions bundles: %w", err)
	}
	own, err := versionsbundle.Parse(a.Options.Bundles, data)
	if err != nil {
		return nil, Usage(err)
	}
	if a.Options.ReplaceBundles {
		return own, nil
	}
	return builtIn.Merge(own), nil
}

// providersFlag is the flag that adds infrastructure providers.
const providersFlag = "providers"

// ReadProviders reads the infrastructure providers: the built-in ones with those of
// --providers.
func (a *App) ReadProviders() (providers.Set, error) {
	if a.Options.Providers == "" {
		return providers.BuiltIn(), nil
	}
	own, err := providers.Load(a.Options.Providers, os.DirFS(a.Options.Providers))
	if err == nil {
		own, err = providers.BuiltIn().With(own)
	}
	if err != nil {
		// Not all of what is wrong has a line.
		return nil, Usagef("--%s: %s", providersFlag, err)
	}
	return own, nil
}

// SpecSchema is the JSON Schema of cluster specs with the documents of these providers.
func (a *App) SpecSchema() ([]byte, error) {
	if a.Options.Providers == "" {
		return config.SpecSchema, nil // which has those of the built-in ones
	}
	known, err := a.ReadProviders()
	if err != nil {
		return nil, err
	}
	return known.AddTo(config.SpecSchema)
}

// ReadProvider returns the one of these providers that a flag names.
func (a *App) ReadProvider(name string) (providers.Provider, error) {
	known, err := a.ReadProviders()
	if err != nil {
		return providers.Provider{}, err
	}
	return known[name], CheckChoice("provider", name, known.Names())
}

// ValidSpec reads the file of -f, which must describe a valid new cluster.
func (a *App) ValidSpec(file string) (lifecycle.Spec, validations.Resolved, error) {
	spec, err := a.ReadSpec(file)
	if err != nil {
		return spec, validations.Resolved{}, err
	}
	resolved, err := spec.Validate()
	a.WarnAll(resolved.Warnings)
	return spec, resolved, err
}

// SayReferences says what is to be made besides the cluster's own objects.
func (a *App) SayReferences(config *v1alpha1.Config) error {
	known, err := a.ReadProviders()
	if err != nil {
		return err
	}
	references, err := lifecycle.References(config, known)
	for _, reference := range references {
		a.Say("needs %s", reference)
	}
	return err
}
