package validations

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Class checks a valid spec against the ClusterClass that it names. provider is
// the one that the class was generated for; it is empty for a class of the
// user's own. variables are those of the Cluster that is made of the spec, and
// said is what Cluster API says about that Cluster. The error is of type Refused.
func Class(config *v1alpha1.Config, class *clusterv1.ClusterClass, provider string, variables []string, said field.ErrorList) error {
	c := classCheck{config: config, class: class, definitions: map[string]clusterv1.ClusterClassStatusVariableDefinition{}}
	for _, variable := range class.Status.Variables {
		if len(variable.Definitions) > 0 {
			c.definitions[variable.Name] = variable.Definitions[0]
		}
	}
	errs := slices.Concat(c.provider(provider), c.workerClasses(), c.unknown(variables), c.required(variables), c.values(said))
	if problems := config.Locate(v1alpha1.ClusterKind, errs); len(problems) > 0 {
		problems.Sort()
		return Refused{problems}
	}
	return nil
}

type classCheck struct {
	config      *v1alpha1.Config
	class       *clusterv1.ClusterClass
	definitions map[string]clusterv1.ClusterClassStatusVariableDefinition
}

func (c classCheck) spec() v1alpha1.ClusterSpec { return c.config.Cluster.Spec }

// provider compares that of the class with that of the spec.
func (c classCheck) provider(provider string) field.ErrorList {
	kinds := map[string]string{v1alpha1.InMemoryKind: "inmemory", v1alpha1.DockerKind: "docker"}
	wanted := kinds[c.spec().DatacenterRef.Kind]
	path := field.NewPath("spec", "clusterClass", "name")
	switch {
	case wanted == "" || wanted == provider:
		return nil
	case provider == "":
		return field.ErrorList{field.Invalid(path, c.class.Name, fmt.Sprintf(
			"with a datacenterRef it must be a class of 'clusterctl-x generate clusterclass --provider %s', and this one is not; name such a class, or remove spec.datacenterRef", wanted))}
	default:
		return field.ErrorList{field.Invalid(path, c.class.Name, fmt.Sprintf(
			"the class is for provider %s, and spec.datacenterRef says %s; use a class of 'clusterctl-x generate clusterclass --provider %s'", provider, wanted, wanted))}
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
				fmt.Sprintf("ClusterClass %s has no such class of workers; it has %s", c.class.Name, orNothing(strings.Join(names, ", ")))))
		}
	}
	return errs
}

// given visits the variables that the user sets, with their paths.
func (c classCheck) given(visit func(path *field.Path, name string)) {
	all := func(variables map[string]any, path *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(variables)) {
			visit(path.Child(name), name)
		}
	}
	spec := field.NewPath("spec")
	all(c.spec().ClusterClass.Variables, spec.Child("clusterClass", "variables"))
	all(c.spec().ControlPlaneConfiguration.Variables, spec.Child("controlPlaneConfiguration", "variables"))
	for i, group := range c.spec().WorkerNodeGroupConfigurations {
		all(group.Variables, spec.Child("workerNodeGroupConfigurations").Index(i).Child("variables"))
	}
}

// unknown returns the variables that the class does not have.
func (c classCheck) unknown(variables []string) field.ErrorList {
	var errs field.ErrorList
	told := map[string]bool{}
	c.given(func(path *field.Path, name string) {
		if _, defined := c.definitions[name]; defined {
			return
		}
		told[name] = true
		names := slices.Sorted(maps.Keys(c.definitions))
		detail := fmt.Sprintf("ClusterClass %s has no such variable; it has %s", c.class.Name, orNothing(strings.Join(names, ", ")))
		if similar := v1alpha1.Similar(name, names); similar != "" {
			detail = fmt.Sprintf("ClusterClass %s has no such variable; did you mean %s?", c.class.Name, similar)
		}
		errs = append(errs, field.Forbidden(path, detail))
	})
	for _, name := range variables {
		if _, defined := c.definitions[name]; !defined && !told[name] {
			told[name] = true
			errs = append(errs, field.Invalid(field.NewPath("spec", "clusterClass", "name"), c.class.Name,
				fmt.Sprintf("the class has no variable %s, which fields of this spec need; make the class anew with 'clusterctl-x generate clusterclass', or leave these fields out", name)))
		}
	}
	return errs
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
		detail := fmt.Sprintf("ClusterClass %s requires this variable: %s", c.class.Name, valueForm(definition))
		errs = append(errs, field.Required(field.NewPath("spec", "clusterClass", "variables").Child(name), detail))
	}
	return errs
}

// valueForm says what a variable is.
func valueForm(definition clusterv1.ClusterClassStatusVariableDefinition) string {
	schema := definition.Schema.OpenAPIV3Schema
	form := "a value of type " + schema.Type
	if schema.Description != "" {
		form += ", " + strings.TrimSuffix(schema.Description, ".")
	}
	if len(schema.Enum) > 0 {
		values := make([]string, len(schema.Enum))
		for i, value := range schema.Enum {
			values[i] = string(value.Raw)
		}
		form += "; one of " + strings.Join(values, ", ")
	}
	return form
}

// Paths of the Cluster that Cluster API's errors are about.
var (
	topLevelVariable     = regexp.MustCompile(`^spec\.topology\.variables\[([^\]]*)\](?:\.value)?(.*)$`)
	controlPlaneVariable = regexp.MustCompile(`^spec\.topology\.controlPlane\.variables\.overrides\[([^\]]*)\](?:\.value)?(.*)$`)
	groupVariable        = regexp.MustCompile(`^spec\.topology\.workers\.machineDeployments\[([^\]]*)\]\.variables\.overrides\[([^\]]*)\](?:\.value)?(.*)$`)
	groupField           = regexp.MustCompile(`^spec\.topology\.workers\.machineDeployments\[([^\]]*)\]\.(.*)$`)
)

// values are what Cluster API says besides the rules above, at the paths of the
// user's file.
func (c classCheck) values(said field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	for _, err := range said {
		at, name := c.place(err.Field)
		_, defined := c.definitions[name]
		switch {
		case name != "" && !defined, err.Type == field.ErrorTypeRequired && err.Field == "spec.topology.variables":
			continue // told already
		case strings.HasSuffix(err.Field, "].class") && groupField.MatchString(err.Field):
			continue // as well
		}
		known := *err
		known.Field = at
		if name != "" {
			known.Detail = strings.TrimSuffix(known.Detail, ".") + fmt.Sprintf("; ClusterClass %s takes %s", c.class.Name, valueForm(c.definitions[name]))
		}
		errs = append(errs, &known)
	}
	return errs
}

// place is where the user's file says what a field of the Cluster has, and the
// variable that it is about.
func (c classCheck) place(path string) (at, variable string) {
	spec := field.NewPath("spec")
	if m := topLevelVariable.FindStringSubmatch(path); m != nil {
		return spec.Child("clusterClass", "variables", m[1]).String() + m[2], m[1]
	}
	if m := controlPlaneVariable.FindStringSubmatch(path); m != nil {
		return spec.Child("controlPlaneConfiguration", "variables", m[1]).String() + m[2], m[1]
	}
	if m := groupVariable.FindStringSubmatch(path); m != nil {
		return c.group(m[1]).Child("variables", m[2]).String() + m[3], m[2]
	}
	if m := groupField.FindStringSubmatch(path); m != nil {
		return c.group(m[1]).String() + "." + m[2], ""
	}
	if path == "spec.topology.version" {
		return spec.Child("kubernetesVersion").String(), ""
	}
	return spec.Child("clusterClass").String(), ""
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
