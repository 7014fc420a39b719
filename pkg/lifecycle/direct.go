package lifecycle

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// directMode is the mode of clusters without a ClusterClass.
type directMode struct {
	request
	source
	// standIns are for versions that parts run and no bundle has.
	standIns standIns
}

// newDirectMode returns the mode for a cluster that is at a point now. A template that a
// document gives the name of a live one with another content gets a name of its own, since no
// template is changed.
func newDirectMode(ctx context.Context, r request, with source, at point) (*directMode, error) {
	m := &directMode{request: r, source: with, standIns: standInsFor(r.spec.bundles, r.from)}
	if with.comparer == nil {
		return m, nil
	}
	objects, err := m.request.render(at.versions, nil, m.standIns.releases()...)
	if err != nil {
		return nil, err
	}
	m.renamed = map[string]bool{}
	for _, object := range objects.All() {
		if _, ours := object.GetLabels()[v1alpha1.ClusterLabel]; ours || !changes.IsTemplate(object.GetKind()) {
			continue
		}
		differs, err := with.Differs(ctx, object)
		if err != nil {
			return nil, err
		}
		m.renamed[manifests.Renamed(object.GetKind(), object.GetName())] = differs
	}
	return m, nil
}

func (m *directMode) render(_ context.Context, at point) (engine.Objects, error) {
	objects, err := m.request.render(at.versions, nil, m.standIns.releases()...)
	return m.scope.cut(objects), err
}

func (m *directMode) compare(ctx context.Context, first engine.Objects) (differences, error) {
	found, err := m.Compare(ctx, first.All())
	if err != nil {
		return differences{}, err
	}
	if err := m.checkImmutable(found); err != nil {
		return differences{}, err
	}
	found, others := adopted(found, m.resolved.Config.Cluster.Metadata.Name)
	d := differences{byPart: byPart(first, found, nil), restored: restored(first, found), adopted: others}
	if m.scope.Whole() {
		if d.removed, err = m.Unused(ctx, first.All()); err != nil {
			return differences{}, err
		}
		d.byPart.add("", removals(d.removed)...)
	}
	return d, m.calledOff(ctx, d.byPart)
}

// calledOff adds what groups that go back to what their nodes run would replace
// all the same: machines that were made from other templates than the ones that
// the file asks for at that version.
func (m *directMode) calledOff(ctx context.Context, sorted partChanges) error {
	versions := m.from.start.Versions()
	var back []string
	for name, part := range m.from.start.WorkerNodeGroups {
		if wanted, there := m.resolved.Versions.WorkerNodeGroups[name]; there && part.GoesBack(wanted) {
			versions.WorkerNodeGroups[name] = wanted
			back = append(back, name)
		}
	}
	if len(back) == 0 {
		return nil
	}
	objects, err := m.render(ctx, point{versions: versions})
	if err != nil {
		return err
	}
	for _, name := range back {
		templates := changes.Templates(objects.Parts[name])
		if former := m.from.start.WorkerNodeGroups[name].Former; !slices.Equal(templates, former) {
			of := sorted[name]
			of.Templates = &plan.TemplateChange{Old: former, New: templates}
			sorted[name] = of
		}
	}
	return nil
}

func (*directMode) path(context.Context, plan.Input, differences) (*plan.TopologyPath, error) {
	return nil, nil
}

func (m *directMode) check(_ context.Context, p plan.Plan) ([]string, error) {
	if err := m.standIns.check(p); err != nil {
		return nil, err
	}
	return m.standIns.notes(), nil
}

func (*directMode) dryRun(_ plan.Plan, states []engine.Objects) ([]*unstructured.Unstructured, []engine.Objects) {
	return states[0].All(), states[1:]
}

func (m *directMode) missing(p plan.Plan) []plan.Finding {
	return validations.MissingArtifacts(m.resolved, p, m.spec.bundles)
}

// drive leaves all steps to clusterctl-x.
func (*directMode) drive(*engine.Program) {}
