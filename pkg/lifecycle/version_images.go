package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// missingImages returns the images of one version that templates of the cluster name, where new
// machines of another version would be made from them, since nothing says what that version has.
func (m *versionOnlyMode) missingImages(p plan.Plan) []plan.Finding {
	var findings []plan.Finding
	for _, part := range m.from.state.Parts() {
		// The class says what machines of a topology are made from.
		ofTopology := m.from.state.Topology != nil && !part.Detached
		live := m.object(part)
		if part.Unmanaged || part.InPlace || ofTopology || live == nil {
			continue
		}
		lacking := m.withoutImage(p, part.Name)
		template, name := m.referred(live)
		if template == nil || len(lacking) == 0 {
			continue
		}
		for _, path := range m.spec.providers.ImageFields(template.GroupVersionKind().GroupKind()) {
			if image := fieldOf(template, path); image != "" {
				findings = append(findings, missingImage(part, name, path, image, lacking))
			}
		}
	}
	return findings
}

// withoutImage returns the versions that the plan gives a part of which no entry says what its
// machines are made from.
func (m *versionOnlyMode) withoutImage(p plan.Plan, part string) []v1alpha1.Version {
	var lacking []v1alpha1.Version
	for i := range p.Steps {
		version := p.Versions(i + 1).Of(part)
		_, said := m.spec.change.Image(part, version)
		if version != p.Versions(i).Of(part) && !version.IsZero() && !said {
			lacking = append(lacking, version)
		}
	}
	return lacking
}

// fieldOf returns a field of the machines of a template; empty where it is not there or empty.
func fieldOf(template *unstructured.Unstructured, path string) changes.Value {
	found, _, err := unstructured.NestedFieldNoCopy(template.Object, append([]string{"spec", "template", "spec"}, strings.Split(path, ".")...)...)
	value, encodeErr := changes.ValueOf(found)
	if err != nil || encodeErr != nil || slices.Contains([]changes.Value{"null", `""`, "{}"}, value) {
		return ""
	}
	return value
}

// missingImage says how the user says what the versions of a part have.
func missingImage(part state.Part, template, path string, image changes.Value, lacking []v1alpha1.Version) plan.Finding {
	words := make([]string, len(lacking))
	for i, version := range lacking {
		words[i] = version.String()
	}
	of := "group " + part.Name
	if part.Name == v1alpha1.ControlPlaneName {
		of = "the control plane"
	}
	fields := strings.Split(path, ".")
	spec := strings.Join(fields, ": {") + ": IMAGE" + strings.Repeat("}", len(fields)-1)
	return plan.Finding{Check: validations.CheckMachineImage, Reason: fmt.Sprintf(
		"%s: spec.template.spec.%s is %s, an image of one version, and machines of %s at %s would be made from it; name a file by --images that has an entry for each of these versions, with {} as its spec where the present image is right: {apiVersion: %s, kind: MachineImages, images: [{kubernetesVersion: %q, parts: [%s], spec: {%s}}]}",
		template, path, image, of, inWords(words), v1alpha1.APIVersion, lacking[0].Minor(), part.Name, spec)}
}
