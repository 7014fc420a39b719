package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// Limits of the schema of ClusterClass.
const (
	maxVersions  = 100   // spec.kubernetesVersions
	maxPatchName = 256   // spec.patches[].name
	maxCondition = 256   // spec.patches[].enabledIf
	maxValue     = 10240 // spec.patches[].definitions[].jsonPatches[].valueFrom.template
)

// absent is the value of a field in a release that does not have it.
const absent = ""

// addition is a list of a template that a variable adds to.
type addition struct {
	variable string
	paths    []string // of KubeadmConfigSpec
	before   bool     // what the variable has comes before what the template has
	named    bool     // what the variable has replaces what the template has of the same name
}

// additions returns the additions to kubeadm's configuration of every machine.
func additions() []addition {
	return []addition{
		{variable: variableFiles, paths: []string{"/files"}, before: true},
		{variable: variableCommands, paths: []string{"/preKubeadmCommands"}, before: true},
		{variable: variableKubeletArgs, paths: []string{"/initConfiguration/nodeRegistration/kubeletExtraArgs", "/joinConfiguration/nodeRegistration/kubeletExtraArgs"}, named: true},
	}
}

// template makes one of the templates of the class: as it is at the newest
// release, with patches for what is otherwise at others.
func (m *classMaker) template(of role, kindSuffix string, content func(parts) (map[string]any, error)) (*unstructured.Unstructured, error) {
	leaves := map[string][]string{} // path -> JSON at each release
	objects := make([]map[string]any, len(m.rendered))
	for i, rendered := range m.rendered {
		var err error
		if objects[i], err = content(rendered); err != nil {
			return nil, err
		}
	}
	last := &unstructured.Unstructured{Object: objects[len(objects)-1]}
	whole := map[string]bool{}
	if of == ofCluster() { // in those of machines, variables add to fields of objects
		whole = inSome(objects)
	}
	for i, object := range objects {
		err := eachLeaf(object["spec"], "/spec", whole, func(path, value string) {
			if leaves[path] == nil {
				leaves[path] = make([]string, len(m.rendered))
			}
			leaves[path][i] = value
		})
		if err != nil {
			return nil, err
		}
	}
	maps.DeleteFunc(leaves, func(path string, _ []string) bool {
		// Is empty in some releases, and has fields in others.
		return slices.ContainsFunc(slices.Collect(maps.Keys(leaves)), func(other string) bool { return strings.HasPrefix(other, path+"/") })
	})
	template := &unstructured.Unstructured{Object: map[string]any{"spec": last.Object["spec"]}}
	template.SetAPIVersion(last.GetAPIVersion())
	template.SetKind(last.GetKind() + kindSuffix)
	template.SetNamespace(m.Namespace)
	own := ownMetadata(last)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if err := unstructured.SetNestedField(template.Object, own[name], "metadata", name); err != nil {
			return nil, err
		}
	}
	if err := m.patch(template, of, leaves); err != nil {
		return nil, err
	}
	spec, err := template.MarshalJSON()
	if err != nil {
		return nil, err
	}
	name, err := templateName(m.Name+of.suffix, templater.Object{JSON: spec})
	template.SetName(name)
	return template, err
}

// patch adds the patches of one template to the class.
func (m *classMaker) patch(template *unstructured.Unstructured, of role, leaves map[string][]string) error {
	target := patchTarget{maker: m, template: template, name: strings.TrimPrefix(of.suffix+"-"+template.GetKind(), "-"), version: of.version()}
	target.selector = clusterv1.PatchSelector{APIVersion: template.GetAPIVersion(), Kind: template.GetKind()}
	switch match := &target.selector.MatchResources; {
	case of.workers != "":
		match.MachineDeploymentClass = &clusterv1.PatchSelectorMatchMachineDeploymentClass{Names: []string{of.workers}}
	case of.controlPlane:
		match.ControlPlane = new(true)
	default:
		match.InfrastructureCluster = new(true)
	}
	switch base := map[string]string{"KubeadmControlPlaneTemplate": "/spec/template/spec/kubeadmConfigSpec", "KubeadmConfigTemplate": "/spec/template/spec"}[template.GetKind()]; {
	case base != "":
		if err := target.lists(base, leaves); err != nil {
			return err
		}
	case of.ref != nil:
		if err := target.images(of); err != nil {
			return err
		}
	}
	for _, path := range slices.Sorted(maps.Keys(leaves)) {
		if err := target.byVersion(path, leaves[path]); err != nil {
			return err
		}
	}
	return nil
}

// version is the builtin variable of Cluster API for the version of a part.
func (r role) version() string {
	switch {
	case r.workers != "":
		return ".builtin.machineDeployment.version"
	case r.controlPlane:
		return ".builtin.controlPlane.version"
	}
	return ".builtin.cluster.topology.version" // patches of the infrastructure cluster know no other
}

// patchTarget is the template that patches are made for.
type patchTarget struct {
	maker    *classMaker
	template *unstructured.Unstructured
	name     string
	version  string // the builtin variable
	selector clusterv1.PatchSelector
}

func (t patchTarget) add(name, condition string, patches ...clusterv1.JSONPatch) error {
	if len(name) > maxPatchName {
		return fmt.Errorf("patch %s: its name has %d characters, and Cluster API allows %d", name, len(name), maxPatchName)
	}
	if len(condition) > maxCondition {
		return fmt.Errorf("patch %s: its condition has %d characters, and Cluster API allows %d", name, len(condition), maxCondition)
	}
	for _, patch := range patches {
		if patch.ValueFrom != nil && len(patch.ValueFrom.Template) > maxValue {
			return fmt.Errorf("patch %s: the value of %s has %d characters, and Cluster API allows %d; use bundles with fewer releases", name, patch.Path, len(patch.ValueFrom.Template), maxValue)
		}
	}
	t.maker.patches = append(t.maker.patches, clusterv1.ClusterClassPatch{
		Name: name, EnabledIf: condition, Definitions: []clusterv1.PatchDefinition{{Selector: t.selector, JSONPatches: patches}},
	})
	return nil
}

func fromTemplate(path, text string) clusterv1.JSONPatch {
	return clusterv1.JSONPatch{Op: "add", Path: path, ValueFrom: &clusterv1.JSONPatchValue{Template: text}}
}

func given(variable string) string { return `{{ hasKey . "` + variable + `" }}` }

// filled is true if there is something to add to a list. An absent list differs from an
// empty one, which API servers reject.
func filled(variable string) string { return "not (empty ." + variable + ")" }

// lists are the patches of what variables add to.
func (t patchTarget) lists(base string, leaves map[string][]string) error {
	for _, a := range additions() {
		if err := t.addition(a, base, leaves); err != nil {
			return err
		}
	}
	if t.template.GetKind() != "KubeadmControlPlaneTemplate" {
		return nil
	}
	return errors.Join(
		t.program(base+"/clusterConfiguration/apiServer", variableAPIServer, leaves),
		t.program(base+"/clusterConfiguration/controllerManager", variableControllerManager, leaves),
	)
}

func (t patchTarget) addition(a addition, base string, leaves map[string][]string) error {
	var patches []clusterv1.JSONPatch
	condition := "{{ " + filled(a.variable) + " }}"
	if err := t.ofOtherClasses(a, base, condition); err != nil {
		return err
	}
	for _, path := range a.paths {
		if strings.HasPrefix(path, "/init") && t.template.GetKind() == "KubeadmConfigTemplate" {
			continue
		}
		path = base + path
		values := leaves[path]
		delete(leaves, path)
		if values == nil {
			patches = append(patches, clusterv1.JSONPatch{Op: "add", Path: path, ValueFrom: &clusterv1.JSONPatchValue{Variable: a.variable}})
			continue
		}
		switch {
		case slices.Contains(values, absent):
			// The paths of one variable are in the same releases.
			t.remove(path)
			condition = "{{ or (" + filled(a.variable) + ") (" + t.oneOf(t.versionsWith(values), t.version) + ") }}"
		case differ(values) || ofEachCluster(values[0]):
			condition = ""
		}
		list := fmt.Sprintf("(default (list) .%s)", a.variable)
		merged := "{{- concat (fromJson $value) " + list + " | toJson }}"
		switch {
		case a.before:
			merged = "{{- concat " + list + " (fromJson $value) | toJson }}"
		case a.named:
			merged = mergedArguments(list) + "{{- $args | toJson }}"
		}
		patches = append(patches, fromTemplate(path, t.valueAt(values, "[]")+merged))
	}
	return t.add(t.name+"-"+a.variable, condition, patches...)
}

// ofOtherClasses gives workers of classes that users add what a variable has:
// what their templates have of it themselves is not known here.
func (t patchTarget) ofOtherClasses(a addition, base, condition string) error {
	name := a.variable + "-of-any-class"
	if t.selector.MatchResources.MachineDeploymentClass == nil || slices.ContainsFunc(t.maker.patches, func(p clusterv1.ClusterClassPatch) bool { return p.Name == name }) {
		return nil
	}
	t.selector.MatchResources.MachineDeploymentClass = &clusterv1.PatchSelectorMatchMachineDeploymentClass{Names: []string{"*"}}
	path := base + a.paths[len(a.paths)-1]
	return t.add(name, condition, clusterv1.JSONPatch{Op: "add", Path: path, ValueFrom: &clusterv1.JSONPatchValue{Variable: a.variable}})
}

// versionsWith returns the versions that have a field.
func (t patchTarget) versionsWith(values []string) []string {
	var versions []string
	for i, value := range values {
		if value != absent {
			versions = append(versions, t.maker.Releases[i].Version.String())
		}
	}
	return versions
}

func differ(values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool { return value != values[0] })
}

// byVersion is the patch of a field whose value depends on the release. One that
// some releases do not have is left out of the template.
func (t patchTarget) byVersion(path string, values []string) error {
	if !differ(values) && !ofEachCluster(values[0]) {
		return nil
	}
	name := t.name + "-" + strings.ReplaceAll(strings.TrimPrefix(path, "/spec/template/spec/"), "/", "-")
	if !slices.Contains(values, absent) {
		return t.add(name, "", fromTemplate(path, t.valueAt(values, absent)+"{{- $value }}"))
	}
	t.remove(path)
	chunks := t.having(values)
	for _, chunk := range chunks {
		part := name
		if len(chunks) > 1 {
			part += "-" + chunk.versions[0]
		}
		if err := t.add(part, t.condition(chunk.versions), fromTemplate(path, t.valueAt(chunk.values, absent)+"{{- $value }}")); err != nil {
			return err
		}
	}
	return nil
}

// remove takes a field out of the template.
func (t patchTarget) remove(path string) {
	fields := strings.Split(path, "/")[1:]
	for i, field := range fields {
		fields[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(field)
	}
	unstructured.RemoveNestedField(t.template.Object, fields...)
}

// chunk is as many releases as one condition has room for.
type chunk struct {
	versions []string
	values   []string // of a field at each release, absent at those of other chunks
}

// having are the releases that have a field.
func (t patchTarget) having(values []string) []chunk {
	var chunks []chunk
	for i, value := range values {
		if value == absent {
			continue
		}
		version := t.maker.Releases[i].Version.String()
		last := len(chunks) - 1
		if last < 0 || len(t.condition(append(slices.Clip(chunks[last].versions), version))) > maxCondition {
			chunks = append(chunks, chunk{values: make([]string, len(values))})
			last++
		}
		chunks[last].versions = append(chunks[last].versions, version)
		chunks[last].values[i] = value
	}
	return chunks
}

func (t patchTarget) condition(versions []string) string {
	return "{{ " + t.oneOf(versions, t.version) + " }}"
}

// oneOf is a condition on a version.
func (t patchTarget) oneOf(versions []string, variable string) string {
	if len(versions) == 1 {
		return "eq " + variable + " " + strconv.Quote(versions[0])
	}
	quoted := make([]string, len(versions))
	for i, version := range versions {
		quoted[i] = strconv.Quote(version)
	}
	return "has " + variable + " (list " + strings.Join(quoted, " ") + ")"
}

// valueAt sets $value to the JSON of a field at the rendered version, or to otherwise
// if the release has none. The most frequent value comes first.
func (t patchTarget) valueAt(values []string, otherwise string) string {
	versions := map[string][]string{}
	for i, value := range values {
		if value = cmp.Or(value, otherwise); value != absent {
			versions[value] = append(versions[value], t.maker.Releases[i].Version.String())
		}
	}
	sorted := slices.SortedFunc(maps.Keys(versions), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(versions[b]), len(versions[a])), cmp.Compare(a, b))
	})
	if len(sorted) == 1 {
		return "{{- $value := " + literal(sorted[0]) + " -}}"
	}
	var b strings.Builder
	b.WriteString(`{{- $value := "" -}}`)
	keyword := "if"
	for _, value := range sorted {
		fmt.Fprintf(&b, "{{- %s %s -}}{{- $value = %s -}}", keyword, t.oneOf(versions[value], t.version), literal(value))
		keyword = "else if"
	}
	// A version that was added to the class by hand must not get what another one has.
	fmt.Fprintf(&b, "{{- else -}}{{- fail (printf %q %s) -}}{{- end -}}", "this ClusterClass was made without Kubernetes %s; make it anew with 'clusterctl-x generate clusterclass --bundles FILE' and an entry for that version in FILE", t.version)
	return b.String()
}

// literal is a string of the language of templates, with what the cluster that they are
// rendered for has in place of the placeholders.
func literal(text string) string {
	quoted := "`" + text + "`"
	if strings.ContainsAny(text, "`\r") { // which cannot stand between backquotes
		quoted = strconv.Quote(text)
	}
	own := placeholders()
	for _, placeholder := range slices.Sorted(maps.Keys(own)) {
		if strings.Contains(text, placeholder) {
			quoted = fmt.Sprintf("(replace %q %s %s)", placeholder, own[placeholder], quoted)
		}
	}
	return quoted
}
