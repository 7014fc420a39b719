package lifecycle

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// owned is what clusterctl-x has applied of a live object.
func owned(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return changes.Owned(live, string(management.FieldOwner))
}

// versioned is what clusterctl-x has applied of a live object, with a version.
func versioned(live *unstructured.Unstructured, version v1alpha1.Version) (*unstructured.Unstructured, error) {
	object, err := owned(live)
	if err != nil {
		return nil, err
	}
	if err := changes.SetVersion(object, live, version); err != nil {
		return nil, fmt.Errorf("giving %s its version: %w", changes.ObjectName(live), err)
	}
	return object, nil
}

// template returns the template for machines of a part at a version; nil where the present
// one is for that version, too.
func (m *versionOnlyMode) template(part string, live *unstructured.Unstructured, version v1alpha1.Version) (*unstructured.Unstructured, error) {
	image, _ := m.spec.change.Image(part, version)
	if len(image) == 0 {
		return nil, nil
	}
	present, err := m.presentTemplate(live)
	if err != nil {
		return nil, err
	}
	template, changed, err := withImage(present, image)
	if err != nil || !changed {
		return nil, err
	}
	content, err := json.Marshal(template.Object["spec"])
	if err != nil {
		return nil, fmt.Errorf("naming a template for %s: %w", changes.ObjectName(live), err)
	}
	cluster := m.from.state.Name
	template.SetLabels(map[string]string{clusterv1.ClusterNameLabel: cluster, v1alpha1.ClusterLabel: cluster})
	template.SetName(live.GetName() + "-" + changes.ContentHash(content))
	return template, nil
}

// presentTemplate is the template that a part has now.
func (m *versionOnlyMode) presentTemplate(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	present, name := m.referred(live)
	if present == nil {
		return nil, &management.RefusedError{Check: "no-machine-template", Reason: fmt.Sprintf(
			"%s has no template that --images could change: it refers to %q, which is not there or no template; leave its part out of the images", changes.ObjectName(live), name)}
	}
	return present, nil
}

// referred is the template that a live object refers to, with its Kind/name; nil where it is not
// there or no template.
func (m *versionOnlyMode) referred(live *unstructured.Unstructured) (*unstructured.Unstructured, string) {
	kind, called, _ := changes.Referred(live, changes.MachineTemplate(live))
	name := kind.Kind + "/" + called
	return m.live.ByName[name], name
}

// withImage returns a template like another one, with what belongs to a version. It has
// nothing that belongs to the other object alone: no owners, no marks of the tools that
// keep it, and no part in a topology.
func withImage(present *unstructured.Unstructured, image map[string]any) (*unstructured.Unstructured, bool, error) {
	before, err := json.Marshal(present.Object["spec"])
	if err != nil {
		return nil, false, err
	}
	patch, err := json.Marshal(map[string]any{"template": map[string]any{"spec": image}})
	if err != nil {
		return nil, false, err
	}
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, false, fmt.Errorf("merging an image into %s: %w", changes.ObjectName(present), err)
	}
	template := &unstructured.Unstructured{Object: map[string]any{}}
	var spec map[string]any
	if err := utiljson.Unmarshal(after, &spec); err != nil {
		return nil, false, err
	}
	template.Object["spec"] = spec
	template.SetGroupVersionKind(present.GroupVersionKind())
	template.SetNamespace(present.GetNamespace())
	return template, !jsonpatch.Equal(before, after), nil
}

// refer makes an object refer to a template in the place of its live one.
func refer(object, live, template *unstructured.Unstructured) error {
	path := changes.MachineTemplate(live)
	reference, _, err := unstructured.NestedMap(live.Object, path...)
	if err != nil {
		return fmt.Errorf("reading the template of %s: %w", changes.ObjectName(live), err)
	}
	reference["name"] = template.GetName()
	return unstructured.SetNestedMap(object.Object, reference, path...)
}
