package manifests

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	jsonpatch "github.com/evanphx/json-patch/v5"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// imagePlace is where a machine template has something of an entry of a list of images.
type imagePlace struct {
	path string
	// text has markers of fields, and what is around them.
	text string
	// merged are fields whose own fields are merged over the base, which is empty where the
	// place has nothing else.
	merged []string
	base   map[string]any
}

// images are the patches that put the entry for a version into the template of machines. Where
// it belongs is seen from the template of the provider, rendered with an entry of markers.
func (t patchTarget) images(of role) error {
	variable, listed := t.maker.images[*of.ref]
	if !listed {
		return nil
	}
	last := t.maker.Releases[len(t.maker.Releases)-1]
	marked, kubeadm, err := t.maker.machineSpec(of, last, map[v1alpha1.Ref][]any{*of.ref: {any(variable.marked())}})
	if err != nil {
		return fmt.Errorf("the template of the machines needs a field of %s that no class has: %w", t.maker.Provider.Spec.Images, err)
	}
	if markers.MatchString(kubeadm) {
		return t.inexpressible(of)
	}
	places := variable.places(marked, "/spec")
	var patches []clusterv1.JSONPatch
	for _, place := range places {
		text, err := variable.value(place, of.version())
		if err != nil {
			return err
		}
		patch := fromTemplate(place.path, text)
		patch.Op = "replace"
		patches = append(patches, patch)
	}
	if err := t.checkImages(of, variable, patches); err != nil || len(patches) == 0 {
		return err
	}
	return t.add(t.name+"-"+variable.name, "", patches...)
}

// inexpressible refuses a template of a provider that a class cannot stand for.
func (t patchTarget) inexpressible(of role) error {
	return fmt.Errorf("provider %s puts %s of %s where no patch of a ClusterClass can put them; make clusters of it without a class", t.maker.Provider.Name, t.maker.Provider.Spec.Images, of.ref.Name)
}

// machineSpec returns the spec of the machine template of a role, unchecked, and the text of
// what the provider has kubeadm do on the machines.
func (m *classMaker) machineSpec(of role, release versionsbundle.Release, images map[v1alpha1.Ref][]any) (map[string]any, string, error) {
	r, err := m.renderer(release, images)
	if err != nil {
		return nil, "", err
	}
	data := r.machineData("", machinePart{controlPlane: of.controlPlane, ref: of.ref}, release)
	text, err := r.templates.Render(providers.MachineTemplate, data)
	if err != nil {
		return nil, "", err
	}
	var object struct {
		Spec map[string]any `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		return nil, "", fmt.Errorf("decoding what %s renders: %w", providers.MachineTemplate, err)
	}
	if !m.Provider.Has(providers.KubeadmTemplate) {
		return object.Spec, "", nil
	}
	kubeadm, err := r.templates.Render(providers.KubeadmTemplate, data)
	return object.Spec, string(kubeadm), err
}

// places returns where a value at a path has something of an entry, outer places first.
func (v imagesVariable) places(value any, path string) []imagePlace {
	var places []imagePlace
	switch value := value.(type) {
	case map[string]any:
		place := imagePlace{path: path}
		for _, name := range v.fields {
			if _, marked := value[marker(name)]; marked {
				place.merged = append(place.merged, name)
				delete(value, marker(name))
			}
		}
		if len(place.merged) > 0 {
			place.base, _ = withoutMarkers(value).(map[string]any)
			places = append(places, place)
		}
		for _, name := range sortedKeys(value) {
			places = append(places, v.places(value[name], path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name))...)
		}
	case []any:
		for i, item := range value {
			places = append(places, v.places(item, path+"/"+strconv.Itoa(i))...)
		}
	case string:
		if markers.MatchString(value) {
			places = append(places, imagePlace{path: path, text: value})
		}
	}
	return places
}

// withoutMarkers returns a value without what has markers, which places of its own replace.
func withoutMarkers(value any) any {
	switch value := value.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, field := range value {
			if text, is := field.(string); !markers.MatchString(name) && !(is && markers.MatchString(text)) {
				kept[name] = withoutMarkers(field)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(value))
		for i, item := range value {
			kept[i] = withoutMarkers(item)
		}
		return kept
	}
	return value
}

// entryAt sets $image to the entry for a version: that of the exact version, else that of its
// minor, as Provider.Image has it. What the variable lacks is in the list that the class was
// made with: Cluster API writes the default of a variable into a Cluster once, when it is
// created, and a class that is made anew has images of further versions.
func (v imagesVariable) entryAt(version string) string {
	return `{{- $version := trimPrefix "v" ` + version + ` -}}{{- $image := "" -}}` +
		`{{- range $list := list (fromJson ` + literal(v.list) + `) (index $ "` + v.name + `") -}}` +
		`{{- range $wanted := list (regexFind "^[0-9]+[.][0-9]+" $version) $version -}}{{- range $list -}}` +
		`{{- if eq (trimPrefix "v" .` + providers.VersionField + `) $wanted -}}{{- $image = . -}}{{- end -}}{{- end -}}{{- end -}}{{- end -}}` +
		`{{- if not $image -}}{{- fail (printf "neither the variable ` + v.name + ` nor the class has an image for Kubernetes %s; add an entry to the variable" ` + version + `) -}}{{- end -}}`
}

// mergeFields merges mappings: the second of a list over the first.
const mergeFields = `{{- define "merge" -}}{{- $into := index . 0 -}}{{- range $name, $value := index . 1 -}}` +
	`{{- if and (kindIs "map" $value) (kindIs "map" (get $into $name)) -}}{{- template "merge" (list (get $into $name) $value) -}}` +
	`{{- else -}}{{- $_ := set $into $name $value -}}{{- end -}}{{- end -}}{{- end -}}`

// value is the template of the value at a place.
func (v imagesVariable) value(place imagePlace, version string) (string, error) {
	field := func(name string) string { return `(index $image "` + name + `")` }
	text := v.entryAt(version)
	switch whole := markers.FindStringSubmatch(place.text); {
	case len(place.merged) == 1 && len(place.base) == 0:
		return text + "{{- " + field(place.merged[0]) + " | toJson }}", nil
	case len(place.merged) > 0:
		base, err := json.Marshal(place.base)
		if err != nil {
			return "", err
		}
		text = mergeFields + text + "{{- $value := fromJson " + literal(string(base)) + " -}}"
		for _, name := range place.merged {
			text += `{{- template "merge" (list $value ` + field(name) + `) -}}`
		}
		return text + "{{- $value | toJson }}", nil
	case whole[0] == place.text:
		return text + "{{- " + field(whole[1]) + " | toJson }}", nil
	}
	var pieces []string
	rest := place.text
	for _, at := range markers.FindAllStringSubmatch(place.text, -1) {
		before, after, _ := strings.Cut(rest, at[0])
		pieces, rest = append(pieces, literal(before), field(at[1])), after
	}
	return text + "{{- print " + strings.Join(append(pieces, literal(rest)), " ") + " | toJson }}", nil
}

// checkImages carries the patches out and compares with what the provider renders, for each
// version, with the list of the document and with an entry of markers: a template may do with
// an entry what a patch cannot.
func (t patchTarget) checkImages(of role, variable imagesVariable, patches []clusterv1.JSONPatch) error {
	for _, release := range t.maker.Releases {
		standIn, _, err := t.maker.machineSpec(of, release, t.maker.standIns())
		if err != nil {
			return err
		}
		marked := variable.marked()
		marked[providers.VersionField] = release.Version.String()
		version := map[string]any{"version": release.Version.String()}
		for _, list := range [][]any{t.maker.Provider.ListedImages(t.maker.Documents.Machines[*of.ref]), {marked}} {
			want, _, err := t.maker.machineSpec(of, release, map[v1alpha1.Ref][]any{*of.ref: list})
			if err != nil {
				return err
			}
			got, err := carriedOut(patches, standIn, map[string]any{
				variable.name: list,
				"builtin":     map[string]any{"cluster": map[string]any{"name": nameOfCluster}, "controlPlane": version, "machineDeployment": version},
			})
			if err != nil {
				return err
			}
			if !reflect.DeepEqual(want, got) {
				return t.inexpressible(of)
			}
		}
	}
	return nil
}

// carriedOut does to the spec of a template what Cluster API does with patches.
func carriedOut(patches []clusterv1.JSONPatch, spec map[string]any, variables map[string]any) (map[string]any, error) {
	var operations []map[string]any
	for _, patch := range patches {
		parsed, err := template.New(patch.Path).Funcs(sprig.HermeticTxtFuncMap()).Parse(patch.ValueFrom.Template)
		if err != nil {
			return nil, err
		}
		var value strings.Builder
		if err := parsed.Execute(&value, variables); err != nil {
			return nil, err
		}
		operations = append(operations, map[string]any{"op": patch.Op, "path": patch.Path, "value": json.RawMessage(value.String())})
	}
	object, err := json.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(operations)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, err
	}
	if object, err = decoded.Apply(object); err != nil {
		return nil, err
	}
	var patched struct {
		Spec map[string]any `json:"spec"`
	}
	return patched.Spec, json.Unmarshal(object, &patched)
}
