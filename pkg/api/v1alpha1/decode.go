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

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Config is a cluster spec: one Cluster and the documents that it names.
type Config struct {
	Cluster *Cluster // nil where there is none that can be read
	// Datacenter is the document that datacenterRef names; nil where it names none.
	Datacenter *InfrastructureConfig
	// Machines are the documents that a machineGroupRef names.
	Machines map[Ref]*InfrastructureConfig
	OIDC     *OIDCConfig   // set where identityProviderRefs names one
	AWSIam   *AWSIamConfig // set where identityProviderRefs names one
	// Problems are what could not be read, sorted. What could be is in the
	// documents all the same, so that further mistakes are found with it.
	Problems strictyaml.Problems
	// Warnings are about fields that are read and not acted on.
	Warnings []strictyaml.Warning

	// documents by kind, those of machines by kind and name.
	documents map[string]strictyaml.Document
	// origins are the indices in the file of the worker node groups, where these are not
	// those of the file.
	origins []int
}

// Locate returns errors about the document of a kind with their places in the file.
// An error about what was not read is left out: it follows from a problem that
// Problems has.
func (c *Config) Locate(kind string, errs field.ErrorList) strictyaml.Problems {
	document := c.documents[kind]
	return document.Locate(document.OmitUnread(c.inFile(kind, errs)))
}

// LocateIn returns errors about the document of an infrastructure provider with their
// places in the file, as Locate does.
func (c *Config) LocateIn(document *InfrastructureConfig, errs field.ErrorList) strictyaml.Problems {
	return c.Locate(document.document, errs)
}

// LocateWarningsIn returns warnings about the document of an infrastructure provider with
// their places in the file.
func (c *Config) LocateWarningsIn(document *InfrastructureConfig, warnings []strictyaml.Warning) []strictyaml.Warning {
	return c.LocateWarnings(document.document, warnings)
}

// Unread reports whether the value at a path of the document of a kind, or one
// that contains it, is in the file and could not be read.
func (c *Config) Unread(kind, path string) bool { return c.documents[kind].Unread(path) }

// LocateWarnings returns warnings about the document of a kind with their places in
// the file.
func (c *Config) LocateWarnings(kind string, warnings []strictyaml.Warning) []strictyaml.Warning {
	return c.documents[kind].LocateWarnings(c.warningsInFile(kind, warnings))
}

// documentKinds are the kinds that every file may hold, with their Go types.
func documentKinds() map[string]reflect.Type {
	return map[string]reflect.Type{
		ClusterKind: reflect.TypeFor[Cluster](),
		OIDCKind:    reflect.TypeFor[OIDCConfig](),
		AWSIamKind:  reflect.TypeFor[AWSIamConfig](),
	}
}

// Decode reads a cluster spec strictly: every unknown, misspelt or doubled
// field, every value of the wrong type and every document too many is a
// problem, and all of them are found. Defaults are applied. The name of the
// file is used in messages only. The file may have documents of the infrastructure
// kinds besides those that every file may have.
func Decode(file string, data []byte, infrastructure InfrastructureKinds) *Config {
	d := decoder{
		config: &Config{Machines: map[Ref]*InfrastructureConfig{}, documents: map[string]strictyaml.Document{}}, file: file,
		infrastructure: infrastructure, values: map[string]any{}, machines: map[Ref]*InfrastructureConfig{},
	}
	documents, problems := strictyaml.Split(file, data)
	d.problems, d.unread = problems, len(problems) > 0
	for _, document := range documents {
		d.document(document)
	}
	d.tellProvider()
	switch {
	case d.config.Cluster != nil:
		d.attachDatacenter()
		d.attachMachines()
		d.attachIdentityProviders()
		setDefaults(d.config.Cluster)
	case !d.unread:
		d.problems = append(d.problems, strictyaml.NewProblem(file, 0, field.Required(nil, "no document of kind Cluster: 'clusterctl-x generate clusterconfig NAME --provider inmemory' writes a sample")))
	}
	d.problems.Sort()
	d.config.Problems = d.problems
	return d.config
}

type decoder struct {
	config         *Config
	file           string
	infrastructure InfrastructureKinds
	values         map[string]any // pointers to the documents, by kind
	machines       map[Ref]*InfrastructureConfig
	problems       strictyaml.Problems
	// unread is true where something in the file could not be read, or is of no
	// known kind: it might be what is missing.
	unread bool
	// ofProvider are problems with what belongs to other infrastructure providers,
	// and providers the names of these.
	ofProvider strictyaml.Problems
	providers  []string
}

func (d *decoder) document(node *yaml.Node) {
	header := strictyaml.HeaderOf(node)
	kind := header.Kind
	if d.foreign(header) {
		text := fmt.Sprintf("a document of kind %s (%s) is not part of a cluster spec and is not applied; apply it yourself, for instance with kubectl", kind, header.APIVersion)
		d.config.Warnings = append(d.config.Warnings, strictyaml.Warning{File: d.file, Line: header.KindLine, Path: "kind", Text: text})
		return
	}
	if text, idle := idleKinds()[kind]; idle {
		d.config.Warnings = append(d.config.Warnings, strictyaml.Warning{File: d.file, Line: header.KindLine, Path: "kind", Text: text})
		return
	}
	if problems := strictyaml.CheckHeader(d.file, node, d.supported()); len(problems) > 0 {
		d.unread = true
		if provider, of := d.otherProviderOf(kind); of {
			d.ofProvider, d.providers = append(d.ofProvider, problems...), append(d.providers, provider)
			return
		}
		d.problems = append(d.problems, problems...)
		return
	}
	if d.infrastructure[kind].Machines {
		d.machineDocument(node, header)
		return
	}
	if first, twice := d.config.documents[kind]; twice {
		d.twice(node, "kind", kind, fmt.Sprintf("the document on line %d has this kind already; a file describes one cluster: put the others into files of their own", first.Line("")))
		return
	}
	if of, is := d.infrastructure[kind]; is {
		d.values[kind] = d.readInfrastructure(node, header, of.Schema(), kind)
		return
	}
	d.values[kind] = reflect.New(documentKinds()[kind]).Interface()
	d.read(kind, node, header, d.values[kind])
	if cluster, ok := d.values[kind].(*Cluster); ok {
		d.config.Cluster = cluster
	}
}

// read reads a document into a pointer to a struct.
func (d *decoder) read(kind string, node *yaml.Node, header strictyaml.Header, into any) {
	result := strictyaml.Read(d.file, node, into, d.readOptions(header))
	d.config.documents[kind] = result.Document
	d.problems = append(d.problems, result.Problems...)
	d.ofProvider = append(d.ofProvider, result.SetAside...)
	d.config.Warnings = append(d.config.Warnings, result.Warnings...)
}

// twice adds the problem of a document that there is already.
func (d *decoder) twice(node *yaml.Node, path, value, detail string) {
	d.problems = append(d.problems, strictyaml.NewProblem(d.file, node.Line, &field.Error{Type: field.ErrorTypeDuplicate, Field: path, BadValue: value, Detail: detail}))
}

// machineDocument reads a document of machines, of which a file may have several.
func (d *decoder) machineDocument(node *yaml.Node, header strictyaml.Header) {
	at := func(name string) string { return header.Kind + "/" + name }
	if first, twice := d.config.documents[at(header.Name)]; twice {
		d.twice(node, "metadata.name", header.Name, fmt.Sprintf("the document on line %d has this kind and name already; give each a name of its own", first.Line("")))
		return
	}
	d.machines[Ref{header.Kind, header.Name}] = d.readInfrastructure(node, header, d.infrastructure[header.Kind].Schema(), at(header.Name))
}

// readInfrastructure reads a document of an infrastructure provider.
func (d *decoder) readInfrastructure(node *yaml.Node, header strictyaml.Header, schema *strictyaml.Schema, document string) *InfrastructureConfig {
	read := infrastructureDocument{Spec: strictyaml.Described{Schema: schema}}
	d.read(document, node, header, &read)
	config, errs := read.config(document)
	for _, problem := range d.config.Locate(document, errs) {
		if problem.Err.Type == field.ErrorTypeForbidden { // by a rule of the schema
			problem.Err = strictyaml.Lead(problem.Err)
		}
		d.problems = append(d.problems, problem)
	}
	return config
}

// supported returns the documents that Decode reads.
func (d *decoder) supported() strictyaml.Supported {
	kinds := slices.Concat(slices.Collect(maps.Keys(documentKinds())), slices.Collect(maps.Keys(d.infrastructure)))
	slices.Sort(kinds)
	return strictyaml.Supported{Kinds: kinds, APIVersions: []string{APIVersion, APIVersionEKSA}, Remedies: kindRules(d.infrastructure)}
}

// readOptions returns how a document is read. Names of fields in a document of EKS
// Anywhere may have any case, as there.
func (d *decoder) readOptions(header strictyaml.Header) strictyaml.Options {
	rules := ruleBook{kind: header.Kind, answers: d.infrastructure[header.Kind].Answers}
	var options strictyaml.Options
	if header.APIVersion == APIVersionEKSA {
		rules.anyCase = true
		options.FoldCase = "EKS Anywhere ignores the case of field names, and other readers of YAML do not"
	}
	options.Rule = rules.verdict
	return options
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
