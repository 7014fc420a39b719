package lifecycle

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
)

// managedStages renders the Cluster as it is written for each step, at the version
// that its topology has then, and the groups that the topology does not have.
func (p Upgrade) managedStages(first rollout.Objects, chain plan.Chain, own map[string]bool) ([]rollout.Objects, error) {
	stages := []rollout.Objects{first}
	at := chain.From
	for i, step := range p.Plan.Steps {
		if to := furthest(step); !step.Detached && to.After(at) {
			at = chain.Target(to)
		}
		if step.Kind == plan.Return {
			own = maps.Clone(own)
			for _, group := range step.WorkerNodeGroups {
				delete(own, group.Name)
			}
		}
		stage, err := p.managedStage(at, own, p.Plan.Versions(i+1))
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
	}
	return stages, nil
}

// dryRun returns the objects that the API server can check before the first step:
// those of the beginning, and those of later stages. A topology takes the version
// of the next leg only, and Cluster API owns a group until it is detached.
func (p Upgrade) dryRun() ([]*unstructured.Unstructured, []rollout.Objects) {
	if !p.spec.managed() {
		return p.States[0].All(), p.States[1:]
	}
	legBegun := false
	var stages []rollout.Objects
	for i, stage := range p.States {
		next := rollout.Objects{Parts: map[string][]*unstructured.Unstructured{}}
		if !legBegun && (len(stages) == 0 || !reflect.DeepEqual(stage.Cluster, p.States[0].Cluster)) {
			legBegun, next.Cluster = len(stages) > 0, stage.Cluster
			if i > 0 && p.Plan.Steps[i-1].Kind == plan.Return {
				next.Cluster = underPause(stage.Cluster)
			}
		}
		for name, objects := range stage.Parts {
			if part, exists := p.from.state.Group(name); !exists || part.Detached {
				next.Parts[name] = objects
			}
		}
		stages = append(stages, next)
	}
	return stages[0].All(), stages[1:]
}

// underPause are objects as they are written when a group is given back: the guardrails
// let nobody else put an entry of a detached group into the topology.
func underPause(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	marked := slices.Clone(objects)
	for i, object := range marked {
		if object.GetKind() != "Cluster" {
			continue
		}
		marked[i] = object.DeepCopy()
		annotations := maps.Clone(object.GetAnnotations())
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[management.PauseAnnotation] = "dry run of a return"
		marked[i].SetAnnotations(annotations)
	}
	return marked
}

// furthest is the version that a step leads to; zero for one that leads to none.
func furthest(step plan.Step) v1alpha1.Version {
	to := step.To
	for _, group := range step.WorkerNodeGroups {
		if group.To.After(to) {
			to = group.To
		}
	}
	return to
}

// managedStage renders the Cluster with a version of its topology, and the groups
// that the topology does not have.
func (p Upgrade) managedStage(at v1alpha1.Version, own map[string]bool, versions v1alpha1.ClusterVersions) (rollout.Objects, error) {
	without, given := own, map[string]string{}
	if p.topologyVersions {
		without = map[string]bool{}
		for name := range own {
			version, there := versions.WorkerNodeGroups[name]
			without[name], given[name] = !there, version.String()
		}
	}
	rendered, err := p.render(v1alpha1.ClusterVersions{ControlPlane: at}, without)
	if err != nil {
		return rollout.Objects{}, err
	}
	stage, err := decodeParts(rendered)
	if err != nil {
		return rollout.Objects{}, err
	}
	delete(stage.Parts, v1alpha1.ControlPlaneName)
	if p.topologyVersions {
		_, err := management.GiveVersions(stage.Cluster[0], given)
		return stage, err
	}
	parts, err := p.ownParts(own, versions)
	maps.Copy(stage.Parts, parts)
	return stage, err
}
