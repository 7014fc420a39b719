package validations

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Class checks a valid spec against the ClusterClass that it names. wanted is the name of
// the provider that the spec names, and provider the one that the class was generated for;
// it is empty for a user's own class. variables are
// those of the Cluster that is rendered from the spec, and said are Cluster API's
// errors about that Cluster. The error is of type Refused.
func Class(config *v1alpha1.Config, wanted string, class *clusterv1.ClusterClass, provider string, variables GivenVariables, said field.ErrorList) error {
	c := classCheck{config: config, wanted: wanted, class: class, definitions: map[string]clusterv1.ClusterClassStatusVariableDefinition{}}
	for _, variable := range class.Status.Variables {
		if len(variable.Definitions) > 0 {
			c.definitions[variable.Name] = variable.Definitions[0]
		}
	}
	if errs := c.provider(provider); len(errs) > 0 {
		return Refused{config.Locate(v1alpha1.ClusterKind, errs)} // another class has other variables
	}
	unknown, meant := c.unknown(variables.Anywhere)
	errs := slices.Concat(c.workerClasses(), unknown, c.unknownFields(), c.required(append(meant, variables.Cluster...)), c.values(said))
	if problems := config.Locate(v1alpha1.ClusterKind, errs); len(problems) > 0 {
		problems.Sort()
		return Refused{problems}
	}
	return nil
}

// GivenVariables are the names of the variables that a Cluster sets.
type GivenVariables struct {
	// Cluster are the variables of the cluster as a whole: a class can require only
	// these.
	Cluster []string
	// Anywhere are the variables of the cluster or of parts of it.
	Anywhere []string
}

type classCheck struct {
	config      *v1alpha1.Config
	wanted      string // provider
	class       *clusterv1.ClusterClass
	definitions map[string]clusterv1.ClusterClassStatusVariableDefinition
}

func (c classCheck) spec() v1alpha1.ClusterSpec { return c.config.Cluster.Spec }

// provider compares that of the class with that of the spec.
func (c classCheck) provider(provider string) field.ErrorList {
	path := field.NewPath("spec", "clusterClass", "name")
	switch {
	case c.wanted == "" || c.wanted == provider:
		return nil
	case provider == "":
		return field.ErrorList{field.Invalid(path, c.class.Name, fmt.Sprintf(
			"with a datacenterRef it must be a class of 'clusterctl-x generate clusterclass --provider %s', and this one is not; name such a class, or remove spec.datacenterRef", c.wanted))}
	default:
		return field.ErrorList{field.Invalid(path, c.class.Name, fmt.Sprintf(
			"the class is for provider %s, and spec.datacenterRef says %s; use a class of 'clusterctl-x generate clusterclass --provider %s'", provider, c.wanted, c.wanted))}
	}
}

// workerClasses returns the groups whose class there is not.
func (c classCheck) workerClasses() field.ErrorList {
	var names []string
	for _, workers := range c.class.Spec.Workers.MachineDeployments {
		names = append(names, workers.Class)
	}
	var errs field.ErrorList
	for i, group := range c.spec().WorkerNodeGroupConfigurations {
		if !slices.Contains(names, group.WorkerClass()) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "workerNodeGroupConfigurations").Index(i).Child("class"), group.WorkerClass(),
				fmt.Sprintf("ClusterClass %s has no such class of workers; %s", c.class.Name, orSimilar(group.WorkerClass(), names))))
		}
	}
	return errs
}

// orSimilar says what there is instead of a name that there is not.
func orSimilar(name string, names []string) string {
	if similar := strictyaml.Similar(name, names); similar != "" {
		return "did you mean " + similar + "?"
	}
	return "it has " + cmp.Or(strings.Join(names, ", "), "none")
}

// given visits the variables that the user sets, with their paths.
func (c classCheck) given(visit func(path *field.Path, name string, value any)) {
	all := func(variables map[string]any, path *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			visit(path.Child(strictyaml.FieldName(name)), name, variables[name])
		}
	}
	spec := field.NewPath("spec")
	all(c.spec().ClusterClass.Variables, spec.Child("clusterClass", "variables"))
	all(c.spec().ControlPlaneConfiguration.Variables, spec.Child("controlPlaneConfiguration", "variables"))
	for i, group := range c.spec().WorkerNodeGroupConfigurations {
		all(group.Variables, spec.Child("workerNodeGroupConfigurations").Index(i).Child("variables"))
	}
}

// unknown returns the variables that the class does not have, and those that they
// probably mean.
func (c classCheck) unknown(variables []string) (errs field.ErrorList, meant []string) {
	told := map[string]bool{}
	names := slices.Sorted(maps.Keys(c.definitions))
	c.given(func(path *field.Path, name string, _ any) {
		if _, defined := c.definitions[name]; defined {
			return
		}
		told[name] = true
		meant = append(meant, strictyaml.Similar(name, names))
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("ClusterClass %s has no such variable; %s", c.class.Name, orSimilar(name, names))))
	})
	for _, name := range variables {
		if _, defined := c.definitions[name]; !defined && !told[name] {
			told[name] = true
			errs = append(errs, c.ofTheSpec(fmt.Sprintf("the class has no variable %s, which fields of this spec need", name)))
		}
	}
	return errs, meant
}

// ofTheSpec returns an error about a variable that fields of the spec set.
func (c classCheck) ofTheSpec(detail string) *field.Error {
	return field.Invalid(field.NewPath("spec", "clusterClass", "name"), c.class.Name,
		detail+"; make the class anew with 'clusterctl-x generate clusterclass', or leave these fields out")
}

// required returns the variables that are missing.
func (c classCheck) required(variables []string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(c.definitions)) {
		definition := c.definitions[name]
		_, topLevel := c.spec().ClusterClass.Variables[name]
		if definition.Required == nil || !*definition.Required || topLevel || slices.Contains(variables, name) {
			continue
		}
		schema := definition.Schema.OpenAPIV3Schema
		detail := fmt.Sprintf("ClusterClass %s requires this variable; set it to %s", c.class.Name, valueForm(schema))
		if schema.Description != "" {
			detail += ": " + strings.TrimSuffix(schema.Description, ".")
		}
		errs = append(errs, field.Required(field.NewPath("spec", "clusterClass", "variables").Child(name), detail))
	}
	return errs
}

// Paths of the Cluster that Cluster API's errors are about.
var (
	topLevelVariable     = regexp.MustCompile(`^spec\.topology\.variables\[([^\]]*)\](?:\.value)?(.*)$`)
	controlPlaneVariable = regexp.MustCompile(`^spec\.topology\.controlPlane\.variables\.overrides\[([^\]]*)\](?:\.value)?(.*)$`)
	groupVariable        = regexp.MustCompile(`^spec\.topology\.workers\.machineDeployments\[([^\]]*)\]\.variables\.overrides\[([^\]]*)\](?:\.value)?(.*)$`)
	groupField           = regexp.MustCompile(`^spec\.topology\.workers\.machineDeployments\[([^\]]*)\]\.(.*)$`)
)

// values returns Cluster API's errors other than those of the rules above, at the paths
// of the user's file.
func (c classCheck) values(said field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, err := range fewestWords(said) {
		at, name, rest := c.place(err.Field)
		definition, defined := c.definitions[name]
		switch {
		case name != "" && !defined, err.Type == field.ErrorTypeRequired && err.Field == "spec.topology.variables":
			continue // told already
		case err.Type == field.ErrorTypeInvalid && name != "" && strings.HasSuffix(err.Field, "["+name+"]"):
			continue // about unknown fields, which are told with their places
		case strings.HasSuffix(err.Field, "].class") && groupField.MatchString(err.Field):
			continue // as well
		case name == "":
			errs = append(errs, ofTopology(*err, at))
		case !c.isGiven(strings.TrimSuffix(at, rest)):
			errs = append(errs, c.ofTheSpec(fmt.Sprintf("its variable %s does not accept the value that fields of this spec give it: %s", name, err.Detail)))
		default:
			errs = append(errs, c.value(err, at, rest, definition.Schema.OpenAPIV3Schema))
		}
	}
	return errs
}

// fewestWords has of several errors about one field the one that says it in the
// fewest words.
func fewestWords(errs field.ErrorList) field.ErrorList {
	var kept field.ErrorList
	for _, err := range errs {
		i := slices.IndexFunc(kept, func(other *field.Error) bool {
			return other.Field == err.Field && err.Field != "spec.topology.variables"
		})
		switch {
		case i < 0:
			kept = append(kept, err)
		case len(err.Detail) < len(kept[i].Detail):
			kept[i] = err
		}
	}
	return kept
}

// isGiven reports whether the user sets the variable at a path.
func (c classCheck) isGiven(at string) bool {
	given := false
	c.given(func(path *field.Path, _ string, _ any) { given = given || path.String() == at })
	return given
}

// place is where the user's file says what a field of the Cluster has, the
// variable that it is about, and the path inside of that.
func (c classCheck) place(path string) (at, variable, rest string) {
	spec := field.NewPath("spec")
	if m := topLevelVariable.FindStringSubmatch(path); m != nil {
		return spec.Child("clusterClass", "variables", strictyaml.FieldName(m[1])).String() + m[2], m[1], m[2]
	}
	if m := controlPlaneVariable.FindStringSubmatch(path); m != nil {
		return spec.Child("controlPlaneConfiguration", "variables", strictyaml.FieldName(m[1])).String() + m[2], m[1], m[2]
	}
	if m := groupVariable.FindStringSubmatch(path); m != nil {
		return c.group(m[1]).Child("variables", strictyaml.FieldName(m[2])).String() + m[3], m[2], m[3]
	}
	if m := groupField.FindStringSubmatch(path); m != nil {
		return c.group(m[1]).String() + "." + ofPart(m[2]), "", ""
	}
	if part, found := strings.CutPrefix(path, "spec.topology.controlPlane."); found {
		return spec.Child("controlPlaneConfiguration").String() + "." + ofPart(part), "", ""
	}
	switch {
	case path == "spec.topology.version":
		return spec.Child("kubernetesVersion").String(), "", ""
	case strings.HasPrefix(path, "spec.topology.workers"):
		return spec.Child("workerNodeGroupConfigurations").String(), "", ""
	case strings.HasPrefix(path, "spec.clusterNetwork"), strings.HasPrefix(path, "metadata."):
		return path, "", ""
	}
	return spec.Child("clusterClass").String(), "", ""
}

// ofPart is the field of the spec that a field of a part of the topology comes
// from.
func ofPart(path string) string {
	for _, names := range [][2]string{
		{"replicas", "count"}, {"healthCheck", "machineHealthCheck"}, {"deletion", "machineDeletion"}, {"rollout", "upgradeRolloutStrategy"},
		{"metadata.labels", "labels"}, {"metadata.annotations", "annotations"},
	} {
		if rest, found := strings.CutPrefix(path, names[0]); found && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			return names[1]
		}
	}
	return path
}

// group is the path of a worker node group that Cluster API names, or counts.
func (c classCheck) group(key string) *field.Path {
	path := field.NewPath("spec", "workerNodeGroupConfigurations")
	for i, group := range c.spec().WorkerNodeGroupConfigurations {
		if group.Name == key || strconv.Itoa(i) == key {
			return path.Index(i)
		}
	}
	return path
}
