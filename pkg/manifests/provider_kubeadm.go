package manifests

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// kubeadmField of a document is a KubeadmConfigSpec of Cluster API, which the fields of the
// Cluster must not contradict.
const kubeadmField = "kubeadmConfigSpec"

// completeKubeadm returns how kubeadm makes the machines of a part: what clusterctl-x
// writes by default, below what the provider and its documents say, below what the fields
// of the Cluster say. render renders the part without the provider's template.
func (r renderer) completeKubeadm(data machineData, ref *v1alpha1.Ref, release versionsbundle.Release, render func(renderer, versionsbundle.Release) (bootstrapv1.KubeadmConfigSpec, error)) (bootstrapv1.KubeadmConfigSpec, error) {
	full, err := render(r, release)
	if err != nil || !r.Provider.Has(providers.KubeadmTemplate) {
		return full, err
	}
	own, err := r.ownKubeadm(data, ref)
	if err != nil {
		return full, err
	}
	alone, unversioned := r.ofSpecAlone()
	alone.exact = r.withoutDefaults(ref)
	said, err := render(alone, unversioned)
	if err != nil {
		return full, err
	}
	defaults, fields, err := fieldsOfBoth(full, said)
	if err != nil {
		return full, err
	}
	if alone.exact {
		defaults = nil
	}
	if err := r.contradicted(ref, fields); err != nil {
		return full, err
	}
	return r.decodeKubeadm(ref, overlay(overlay(defaults, own), fields))
}

// ownKubeadm returns what the template of the provider renders for a part.
func (r renderer) ownKubeadm(data machineData, ref *v1alpha1.Ref) (map[string]any, error) {
	text, err := r.templates.Render(providers.KubeadmTemplate, data)
	if err != nil {
		return nil, err
	}
	var own map[string]any
	if err := yaml.UnmarshalStrict(text, &own); err != nil {
		return nil, fmt.Errorf("decoding what %s renders: %w", providers.KubeadmTemplate, err)
	}
	if !data.ControlPlane && !r.ofWorkersAlone(ref) {
		delete(own, "clusterConfiguration")
		delete(own, "initConfiguration")
	}
	return own, nil
}

// ofWorkersAlone reports whether the document of a part is complete and not that of the control
// plane too, whose changes must replace no worker.
func (r renderer) ofWorkersAlone(ref *v1alpha1.Ref) bool {
	controlPlane := r.Config.Cluster.Spec.ControlPlaneConfiguration.MachineGroupRef
	return r.withoutDefaults(ref) && (controlPlane == nil || *controlPlane != *ref)
}

func fieldsOfBoth(a, b bootstrapv1.KubeadmConfigSpec) (ofA, ofB map[string]any, err error) {
	fields := func(spec bootstrapv1.KubeadmConfigSpec) map[string]any {
		data, failed := json.Marshal(spec)
		values := map[string]any{}
		err = errors.Join(err, failed, json.Unmarshal(data, &values))
		return values
	}
	return fields(a), fields(b), err
}

// contradicted returns what the document of a part says and the fields of the Cluster say
// otherwise. The error is of type strictyaml.Problems.
func (r renderer) contradicted(ref *v1alpha1.Ref, said map[string]any) error {
	if ref == nil {
		return nil
	}
	document := r.Config.Machines[*ref]
	given, is := document.Complete[kubeadmField].(map[string]any)
	if !is {
		return nil
	}
	var errs field.ErrorList
	for _, found := range contradictions(given, said, field.NewPath("spec", kubeadmField)) {
		errs = append(errs, field.Invalid(found.path, found.given, fmt.Sprintf("contradicts %s of the Cluster, which makes it %s; remove one of the two", sourceOf(found.path), asText(found.said))))
	}
	return r.Config.LocateIn(document, errs).OrNil()
}

// sourceOf names the fields of a Cluster from which a field of a KubeadmConfigSpec comes.
func sourceOf(path *field.Path) string {
	for _, of := range []struct{ part, source string }{
		{".apiServer.extraArgs", "apiServerExtraArgs, or another field about the API server,"},
		{".etcd", "externalEtcdConfiguration"},
		{".controllerManager", "clusterNetwork.nodes.cidrMaskSize"},
		{".taints", "taints"},
		{".kubeletExtraArgs", "labels, kubeletConfiguration or clusterNetwork"},
		{".patches", "kubeletConfiguration"},
	} {
		if strings.Contains(path.String(), of.part) {
			return of.source
		}
	}
	return "a field"
}

// asText writes a value on one line.
func asText(value any) string {
	if text, is := value.(string); is {
		return strconv.Quote(text)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// decodeKubeadm reads the merged fields. What Cluster API does not have is an error at the
// document of the part.
func (r renderer) decodeKubeadm(ref *v1alpha1.Ref, merged map[string]any) (bootstrapv1.KubeadmConfigSpec, error) {
	var spec bootstrapv1.KubeadmConfigSpec
	data, err := json.Marshal(merged)
	if err != nil {
		return spec, err
	}
	strict, err := kjson.UnmarshalStrict(data, &spec)
	if err = errors.Join(append(strict, err)...); err == nil || ref == nil {
		return spec, err
	}
	document := r.Config.Machines[*ref]
	path := field.NewPath("spec", kubeadmField)
	return spec, r.Config.LocateIn(document, field.ErrorList{field.Forbidden(path, "is no KubeadmConfigSpec of Cluster API: "+strings.ReplaceAll(err.Error(), "\n", ", "))}).OrNil()
}

func sortedKeys(values map[string]any) []string { return slices.Sorted(maps.Keys(values)) }
