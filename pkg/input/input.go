// Package input reads what a user names: files that describe clusters, one by one or in
// directories, standard input, ClusterClasses, plans, versions bundles, and folders of
// infrastructure providers.
package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/upgradeplan"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Reader reads what the flags of a command line name.
type Reader struct {
	// Stdin is what the file - stands for.
	Stdin io.Reader
	// Namespace is the one that the user names; a file that names another one is wrong.
	Namespace string
	// Bundles is a file with versions bundles to add to the built-in ones.
	Bundles string
	// ReplaceBundles leaves the built-in bundles out.
	ReplaceBundles bool
	// Providers is a directory of infrastructure providers to add to the built-in ones.
	Providers string
}

// ReadSpec reads the file of -f; "-" is standard input.
func (r *Reader) ReadSpec(file string) (lifecycle.Spec, error) {
	if file == "" {
		return lifecycle.Spec{}, usage.Errorf("-f FILE is required: the file that describes the cluster")
	}
	return r.ReadSpecOf("-f names the file that describes the cluster, and - is standard input", file)
}

// ReadSpecOf reads the file of a flag, which the remedy is about.
func (r *Reader) ReadSpecOf(remedy, file string) (lifecycle.Spec, error) {
	data, err := r.ReadFile("the cluster spec", remedy, file)
	if err != nil {
		return lifecycle.Spec{}, err
	}
	return r.Spec(FileName(file), data)
}

// ReadMetadata reads which cluster the file of -f describes.
func (r *Reader) ReadMetadata(file string) (v1alpha1.Meta, error) {
	spec, err := r.ReadSpec(file)
	if err != nil {
		return v1alpha1.Meta{}, err
	}
	if err := spec.Config.Problems.OrNil(); err != nil {
		return v1alpha1.Meta{}, err
	}
	return spec.Config.Cluster.Metadata, nil
}

// GroupsOf returns the names of the worker node groups of those files that can be read, each
// name once.
func (r *Reader) GroupsOf(files []string) []string {
	var names []string
	for _, file := range files {
		spec, err := r.ReadSpec(file)
		if err != nil {
			continue
		}
		for _, name := range spec.GroupNames() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ReadObjectKinds returns the kinds of the objects of the infrastructure providers, and of
// the objects in valid files. What the files would be warned of is left out.
func (r *Reader) ReadObjectKinds(named []string, namespace string) (rbac.Kinds, error) {
	known, err := r.ReadProviders()
	if err != nil {
		return rbac.Kinds{}, err
	}
	kinds := lifecycle.ObjectKinds(known)
	if len(named) == 0 {
		return kinds, nil
	}
	files, err := Files(named)
	if err != nil {
		return rbac.Kinds{}, err
	}
	var errs []error
	for _, file := range files {
		spec, err := r.ReadSpec(file)
		if err == nil {
			var of rbac.Kinds
			of, err = spec.ObjectKinds(namespace)
			kinds = kinds.With(of)
		}
		errs = append(errs, err)
	}
	return kinds, errors.Join(errs...)
}

// Spec decodes the content of a file, which people know by its name.
func (r *Reader) Spec(name string, data []byte) (lifecycle.Spec, error) {
	bundles, err := r.ReadBundles()
	if err != nil {
		return lifecycle.Spec{}, err
	}
	known, err := r.ReadProviders()
	if err != nil {
		return lifecycle.Spec{}, err
	}
	spec := lifecycle.ReadSpec(name, data, known, bundles)
	if config := spec.Config; config.Cluster != nil {
		config.Problems = append(config.Problems, config.Locate(v1alpha1.ClusterKind, r.checkNamespace(config.Cluster.Metadata.Namespace))...)
	}
	return spec, nil
}

// checkNamespace says where the namespace of a document is not the one that the user names.
func (r *Reader) checkNamespace(ofDocument string) field.ErrorList {
	if r.Namespace == "" || ofDocument == "" || r.Namespace == ofDocument {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "namespace"), ofDocument,
		fmt.Sprintf("does not match the namespace of the flag, --namespace %s; leave the flag out, or change the file", r.Namespace))}
}

// ReadClass reads the file of -f of a command about a ClusterClass.
func (r *Reader) ReadClass(file string) (clusterclass.File, error) {
	if file == "" {
		return clusterclass.File{}, usage.Errorf("-f FILE is required: the file with the ClusterClass")
	}
	data, err := r.ReadFile("the ClusterClass", "-f names the file with the ClusterClass and its templates, and - is standard input", file)
	if err != nil {
		return clusterclass.File{}, err
	}
	if len(data) > strictyaml.MaxFileSize {
		return clusterclass.File{}, usage.Errorf("%s has more than %d bytes: is this the right file?", FileName(file), strictyaml.MaxFileSize)
	}
	class, err := clusterclass.Decode(FileName(file), data)
	if err != nil {
		return class, err
	}
	if wrong := r.checkNamespace(class.Class.GetNamespace()); len(wrong) > 0 {
		return class, class.Locate(wrong)
	}
	return class, nil
}

// ReadPlan reads a plan that 'plan upgrade --out' wrote; it is nil without a file.
func ReadPlan(file string) (*plan.Plan, error) {
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usage.Errorf("reading the plan: %w; %s", err, plan.Remedy)
	}
	saved, err := plan.Decode(file, data)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	return &saved, nil
}

// ReadPlanOfStep reads the plan that a step is of, which --until-step names; it is nil where neither
// is given.
func ReadPlanOfStep(file string, step int) (*plan.Plan, error) {
	saved, err := ReadPlan(file)
	if err == nil && (saved == nil) != (step == 0) {
		err = usage.Errorf("--until-step and --plan must be set together: a step, and the plan that numbers it")
	}
	return saved, err
}

// ReadExchange reads the file of -f with the response of a runtime extension, and the request
// where it is in the file. What the flags say comes first.
func (r *Reader) ReadExchange(file string, flags upgradeplan.Exchange) (upgradeplan.Exchange, error) {
	if file == "" {
		return flags, usage.Errorf("-f FILE is required: the file with the GenerateUpgradePlanResponse")
	}
	data, err := r.ReadFile("the response", "-f names the file with the GenerateUpgradePlanResponse, and - is standard input", file)
	if err != nil {
		return flags, err
	}
	exchange, err := upgradeplan.ReadExchange(data, flags)
	if errors.Is(err, upgradeplan.ErrNoRequest) {
		err = fmt.Errorf("%w: give --control-plane and --target, and --workers where there are some, or add the GenerateUpgradePlanRequest to the file", err)
	}
	if err != nil {
		return flags, usage.Errorf("%s: %w", FileName(file), err)
	}
	return exchange, nil
}

// ReadBundles reads the versions bundles: the built-in ones with those of --bundles, or
// only these.
func (r *Reader) ReadBundles() (*versionsbundle.Bundles, error) {
	builtIn, err := versionsbundle.Parse("the bundles of clusterctl-x", config.Bundles)
	if err != nil || r.Bundles == "" {
		return builtIn, err
	}
	data, err := readFile(r.Bundles)
	if err != nil {
		return nil, usage.Errorf("reading the versions bundles: %w", err)
	}
	own, err := versionsbundle.Parse(r.Bundles, data)
	if err != nil {
		return nil, usage.Wrap(err)
	}
	if r.ReplaceBundles {
		return own, nil
	}
	return builtIn.Merge(own), nil
}

// ReadBundlesOf reads the versions bundles of these versions, each a minor or an exact one;
// all of them where none is named.
func (r *Reader) ReadBundlesOf(named []string) (*versionsbundle.Bundles, error) {
	all, err := r.ReadBundles()
	if err != nil || len(named) == 0 {
		return all, err
	}
	versions := make([]v1alpha1.KubernetesVersion, len(named))
	for i, name := range named {
		if versions[i], err = v1alpha1.ParseKubernetesVersion(name); err != nil {
			return nil, usage.Errorf("%q is no version: %w", name, err)
		}
	}
	some, missing := all.Of(versions)
	if some == nil {
		return nil, usage.Errorf("no versions bundle has %s; 'clusterctl-x get versions -o wide' lists the versions that there are", missing)
	}
	return some, nil
}

// ReadProviders reads the infrastructure providers: the built-in ones with those of
// --providers.
func (r *Reader) ReadProviders() (providers.Set, error) {
	if r.Providers == "" {
		return providers.BuiltIn(), nil
	}
	own, err := providers.Load(r.Providers, os.DirFS(r.Providers))
	if err == nil {
		own, err = providers.BuiltIn().With(own)
	}
	if err != nil {
		// Not all of what is wrong has a line.
		return nil, usage.Errorf("--providers: %s", err)
	}
	return own, nil
}

// SpecSchema is the JSON Schema of cluster specs with the documents of these providers.
func (r *Reader) SpecSchema() ([]byte, error) {
	if r.Providers == "" {
		return config.SpecSchema, nil // which has those of the built-in ones
	}
	known, err := r.ReadProviders()
	if err != nil {
		return nil, err
	}
	return known.AddTo(config.SpecSchema)
}

// ReadProvider returns the one of these providers that a flag names.
func (r *Reader) ReadProvider(name string) (providers.Provider, error) {
	known, err := r.ReadProviders()
	if err != nil {
		return providers.Provider{}, err
	}
	return known[name], usage.CheckChoice("provider", name, known.Names())
}
