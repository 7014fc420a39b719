package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Config is a cluster spec: one Cluster and the documents that it names.
type Config struct {
	Cluster  *Cluster                  // nil where there is none that can be read
	InMemory *InMemoryDatacenterConfig // set where datacenterRef names this kind
	Docker   *DockerDatacenterConfig   // set where datacenterRef names this kind
	OIDC     *OIDCConfig               // set where identityProviderRefs names one
	AWSIam   *AWSIamConfig             // set where identityProviderRefs names one
	// Problems are what could not be read, sorted. What could be is in the
	// documents all the same, so that further mistakes are found with it.
	Problems Problems
	// Warnings are about fields that are read and not acted on.
	Warnings []Warning

	documents map[string]Document // by kind
}

// Locate gives errors about the document of a kind their place in the file. An
// error about what could not be read is left out: it has been told.
func (c *Config) Locate(kind string, errs field.ErrorList) Problems {
	return c.documents[kind].locate(errs)
}

// Unread tells whether the value at a path of the document of a kind, or one
// that contains it, is in the file and could not be read.
func (c *Config) Unread(kind, path string) bool { return c.documents[kind].isUnread(path) }

// LocateWarnings gives warnings about the document of a kind their place in the file.
func (c *Config) LocateWarnings(kind string, warnings []Warning) []Warning {
	document := c.documents[kind]
	located := make([]Warning, len(warnings))
	for i, warning := range warnings {
		warning.File, warning.Line = document.file, document.line(warning.Path)
		located[i] = warning
	}
	return located
}

// documentKinds are the kinds that a file may hold, with their Go types.
func documentKinds() map[string]reflect.Type {
	return map[string]reflect.Type{
		ClusterKind:  reflect.TypeFor[Cluster](),
		InMemoryKind: reflect.TypeFor[InMemoryDatacenterConfig](),
		DockerKind:   reflect.TypeFor[DockerDatacenterConfig](),
		OIDCKind:     reflect.TypeFor[OIDCConfig](),
		AWSIamKind:   reflect.TypeFor[AWSIamConfig](),
	}
}

// Decode reads a cluster spec strictly: every unknown, misspelt or doubled
// field, every value of the wrong type and every document too many is a
// problem, and all of them are found. Defaults are applied. The name of the
// file is used in messages only.
func Decode(file string, data []byte) *Config {
	d := decoder{config: &Config{documents: map[string]Document{}}, file: file, values: map[string]any{}}
	documents, problems := splitDocuments(file, data)
	d.problems, d.unread = problems, len(problems) > 0
	for _, document := range documents {
		d.document(document)
	}
	d.tellProvider()
	switch {
	case d.config.Cluster != nil:
		d.attachDatacenter()
		d.attachIdentityProviders()
		setDefaults(d.config.Cluster)
	case !d.unread:
		d.problems = append(d.problems, newProblem(file, 0, field.Required(nil, "no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes one to begin with")))
	}
	d.problems.Sort()
	d.config.Problems = d.problems
	return d.config
}

type decoder struct {
	config   *Config
	file     string
	values   map[string]any // pointers to the documents, by kind
	problems Problems
	// unread is true where something in the file could not be read, or is of no
	// known kind: it might be what is missing.
	unread bool
	// ofProvider are problems with what belongs to other infrastructure providers,
	// and providers the names of these.
	ofProvider Problems
	providers  []string
}

func (d *decoder) document(node *yaml.Node) {
	of := typeOf(node)
	kind := of.kind
	if of.foreign() {
		text := fmt.Sprintf("a document of kind %s (%s) is no part of a cluster spec, and is not applied; apply it yourself, with kubectl for instance", kind, of.apiVersion)
		d.config.Warnings = append(d.config.Warnings, Warning{File: d.file, Line: of.kindLine, Path: "kind", Text: text})
		return
	}
	if problems := checkHeader(d.file, node, slices.Sorted(maps.Keys(documentKinds())), []string{APIVersion, APIVersionEKSA}); len(problems) > 0 {
		d.unread = true
		if provider, of := providerOfKind(kind); of {
			d.ofProvider, d.providers = append(d.ofProvider, problems...), append(d.providers, provider)
			return
		}
		d.problems = append(d.problems, problems...)
		return
	}
	if first, twice := d.config.documents[kind]; twice {
		detail := fmt.Sprintf("the document in line %d is of this kind already; a file describes one cluster: put others into files of their own", first.line(""))
		d.problems = append(d.problems, newProblem(d.file, node.Line, &field.Error{Type: field.ErrorTypeDuplicate, Field: "kind", BadValue: kind, Detail: detail}))
		return
	}
	r := newReader(d.file, of)
	value := reflect.New(documentKinds()[kind])
	r.into(node, value)
	d.config.documents[kind] = r.document
	d.problems = append(d.problems, r.problems...)
	d.ofProvider = append(d.ofProvider, r.ofProvider...)
	d.config.Warnings = append(d.config.Warnings, r.warnings...)
	d.values[kind] = value.Interface()
	if cluster, ok := d.values[kind].(*Cluster); ok {
		d.config.Cluster = cluster
	}
}

func setDefaults(c *Cluster) {
	if c.Spec.ControlPlaneConfiguration.Count == nil {
		c.Spec.ControlPlaneConfiguration.Count = new(defaultReplicas)
	}
	groups := c.Spec.WorkerNodeGroupConfigurations
	if len(groups) == 1 && groups[0].Name == "" {
		groups[0].Name = defaultGroup
	}
	for i := range groups {
		if groups[i].Count == nil && groups[i].AutoscalingConfiguration == nil {
			groups[i].Count = new(defaultReplicas)
		}
	}
	if mirror := c.Spec.RegistryMirrorConfiguration; mirror != nil && mirror.Port == 0 {
		mirror.Port = 443
	}
	if policy := &c.Spec.UpgradePolicy; policy.MaxConcurrentWorkerGroups == nil {
		policy.MaxConcurrentWorkerGroups = new(defaultConcurrency)
	}
	setNetworkPluginDefault(&c.Spec.ClusterNetwork)
	setHealthCheckDefaults(&c.Spec)
}

// setNetworkPluginDefault turns the old way to name the network plugin into
// the new one. Where both are given, both stay, and are a mistake.
func setNetworkPluginDefault(network *ClusterNetwork) {
	if network.CNIConfig != nil {
		return
	}
	switch network.CNI {
	case "cilium":
		network.CNIConfig = &CNIConfig{Cilium: &Cilium{}}
	case "kindnetd":
		network.CNIConfig = &CNIConfig{Kindnetd: &Kindnetd{}}
	}
}

// setHealthCheckDefaults completes the health check of each part with the
// cluster's, and that with the defaults of EKS Anywhere.
func setHealthCheckDefaults(spec *ClusterSpec) {
	complete := func(own *MachineHealthCheck, maxUnhealthy IntOrPercent) *MachineHealthCheck {
		if own == nil && spec.MachineHealthCheck == nil {
			return nil
		}
		check := MachineHealthCheck{
			NodeStartupTimeout:      &Duration{10 * time.Minute},
			UnhealthyMachineTimeout: &Duration{5 * time.Minute},
			MaxUnhealthy:            &maxUnhealthy,
		}
		for _, given := range []*MachineHealthCheck{spec.MachineHealthCheck, own} {
			if given != nil {
				check = MachineHealthCheck{
					NodeStartupTimeout:      cmp.Or(given.NodeStartupTimeout, check.NodeStartupTimeout),
					UnhealthyMachineTimeout: cmp.Or(given.UnhealthyMachineTimeout, check.UnhealthyMachineTimeout),
					MaxUnhealthy:            cmp.Or(given.MaxUnhealthy, check.MaxUnhealthy),
				}
			}
		}
		return &check
	}
	controlPlane := &spec.ControlPlaneConfiguration
	controlPlane.MachineHealthCheck = complete(controlPlane.MachineHealthCheck, IntOrPercent{100, true})
	for i := range spec.WorkerNodeGroupConfigurations {
		group := &spec.WorkerNodeGroupConfigurations[i]
		group.MachineHealthCheck = complete(group.MachineHealthCheck, IntOrPercent{40, true})
	}
}
