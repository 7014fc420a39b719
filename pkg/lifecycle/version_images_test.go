package lifecycle

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// imagesIn is a provider whose machine templates name an image in a field.
func imagesIn(fields ...string) providers.Set {
	return providers.Set{"a": {Name: "a", Spec: providers.Spec{Infrastructure: &providers.Infrastructure{
		APIVersion: "cluster.x-k8s.io/v1", MachineTemplate: "AMachineTemplate", ImageFields: fields,
	}}}}
}

// TestImageOfAnotherVersion: a template that names an image of one version fits another one
// only where the user says so.
func TestImageOfAnotherVersion(t *testing.T) {
	t.Parallel()
	const (
		file = "; name a file by --images that has an entry for each of these versions, with {} as its spec where the present image is right: {apiVersion: clusterctl-x.io/v1alpha1, kind: MachineImages, images: [{kubernetesVersion: "
		is   = "AMachineTemplate/shared: spec.template.spec.image is of-v1.31.9, an image of one version, and machines of "
	)
	controlPlane := is + `the control plane at v1.32.5 and v1.33.1 would be made from it` + file + `"1.32", parts: [control-plane], spec: {image: IMAGE}}]}`
	pool := is + `group pool at v1.33.1 would be made from it` + file + `"1.33", parts: [pool], spec: {image: IMAGE}}]}`
	md1 := is + `group md-1 at v1.33.1 would be made from it` + file + `"1.33", parts: [md-1], spec: {image: IMAGE}}]}`
	entry := func(version string, spec map[string]any, parts ...string) plan.VersionImage {
		return plan.VersionImage{KubernetesVersion: kubernetesVersion(t, version), Parts: parts, Spec: spec}
	}
	another, same := map[string]any{"image": "new"}, map[string]any{}
	set := func(value any, path ...string) func(*current) {
		return func(from *current) {
			template := from.live.ByName["AMachineTemplate/shared"]
			if err := unstructured.SetNestedField(template.Object, value, append([]string{"spec", "template", "spec"}, path...)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	unchanged := func(*current) {}
	for name, test := range map[string]struct {
		known  providers.Set
		images []plan.VersionImage
		change func(*current)
		group  string
		want   []string
	}{
		"nothing is said":            {imagesIn("image"), nil, unchanged, "1.33", []string{controlPlane, pool, md1}},
		"a group stays":              {imagesIn("image"), nil, unchanged, "1.31", []string{controlPlane, md1}},
		"said for all":               {imagesIn("image"), []plan.VersionImage{entry("1.32", another), entry("1.33", another)}, unchanged, "1.33", nil},
		"nothing of its own for all": {imagesIn("image"), []plan.VersionImage{entry("1.32", nil), entry("1.33", nil)}, unchanged, "1.33", nil},
		"right for all":              {imagesIn("image"), []plan.VersionImage{entry("1.32", same), entry("1.33", same)}, unchanged, "1.33", nil},
		"said for a part":            {imagesIn("image"), []plan.VersionImage{entry("1.33", another, "pool", "md-1")}, unchanged, "1.33", []string{is + "the control plane at v1.32.5 and v1.33.1 would be made from it" + file + `"1.32", parts: [control-plane], spec: {image: IMAGE}}]}`}},
		"said for a minor":           {imagesIn("image"), []plan.VersionImage{entry("1.32", another), entry("1.33", another, "pool", "md-1")}, unchanged, "1.33", []string{is + "the control plane at v1.33.1 would be made from it" + file + `"1.33", parts: [control-plane], spec: {image: IMAGE}}]}`}},
		"templates without a field":  {imagesIn(), nil, unchanged, "1.33", nil},
		"an unknown provider":        {providers.Set{}, nil, unchanged, "1.33", nil},
		"no image":                   {imagesIn("ami.id"), nil, unchanged, "1.33", nil},
		"an empty image":             {imagesIn("image"), nil, set("", "image"), "1.33", nil},
		"deeper": {imagesIn("ami.id"), []plan.VersionImage{entry("1.32", same), entry("1.33", same, "control-plane", "pool")}, set("ami-31", "ami", "id"), "1.33", []string{
			`AMachineTemplate/shared: spec.template.spec.ami.id is ami-31, an image of one version, and machines of group md-1 at v1.33.1 would be made from it` + file + `"1.33", parts: [md-1], spec: {ami: {id: IMAGE}}}]}`,
		}},
		"by a filter": {imagesIn("image"), []plan.VersionImage{entry("1.32", same), entry("1.33", same, "control-plane", "pool")}, set(map[string]any{"name": "x"}, "image"), "1.33", []string{
			`AMachineTemplate/shared: spec.template.spec.image is {"name":"x"}, an image of one version, and machines of group md-1 at v1.33.1 would be made from it` + file + `"1.33", parts: [md-1], spec: {image: IMAGE}}]}`,
		}},
		"upgraded in place": {imagesIn("image"), []plan.VersionImage{entry("1.33", same, "pool", "md-1")}, func(from *current) { from.state.ControlPlane.InPlace = true }, "1.33", nil},
		"no template":       {imagesIn("image"), nil, func(from *current) { delete(from.live.ByName, "AMachineTemplate/shared") }, "1.33", nil},
		"of a class":        {imagesIn("image"), nil, func(from *current) { from.state.Topology = &state.Topology{} }, "1.33", nil},
		"detached from a class": {imagesIn("image"), nil, func(from *current) {
			from.state.Topology = &state.Topology{}
			from.state.WorkerNodeGroups[0].Detached = true
		}, "1.33", []string{pool}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := existing("v1.31.9")
			change := VersionChange{KubernetesVersion: kubernetesVersion(t, "1.33"), WorkerNodeGroups: map[string]v1alpha1.KubernetesVersion{"pool": kubernetesVersion(t, test.group)}, Images: test.images}
			service := New(nil, Options{Bundles: bundlesOf("v1.31.9", "v1.32.5", "v1.33.1"), Providers: test.known})
			spec, err := service.specOf(change, from)
			if err != nil {
				t.Fatal(err)
			}
			u, err := prepare(t.Context(), spec, from, source{}, UpgradeOptions{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := u.execution.(*versionOnlyMode)
			test.change(&m.from)
			var got []string
			for _, finding := range m.missing(u.Plan) {
				got = append(got, finding.Check+" "+finding.Reason)
			}
			var want []string
			for _, reason := range test.want {
				want = append(want, "machine-image "+reason)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("findings (-want +got):\n%s", diff)
			}
		})
	}
}
