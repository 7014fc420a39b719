package lifecycle

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// dryRun leaves out what the API server takes later only: a topology takes the version of
// the next segment, and Cluster API owns a group until it is detached.
func (m *classMode) dryRun(p plan.Plan, states []engine.Objects) ([]*unstructured.Unstructured, []engine.Objects) {
	segmentBegun := false
	var stages []engine.Objects
	for i, stage := range states {
		next := engine.Objects{Parts: map[string][]*unstructured.Unstructured{}}
		if !segmentBegun && (len(stages) == 0 || !reflect.DeepEqual(stage.Cluster, states[0].Cluster)) {
			segmentBegun, next.Cluster = len(stages) > 0, stage.Cluster
			if i > 0 && p.Steps[i-1].Kind == plan.Return {
				next.Cluster = underPause(stage.Cluster)
			}
		}
		for name, objects := range stage.Parts {
			if part, exists := m.from.state.Group(name); !exists || part.Detached {
				next.Parts[name] = objects
			}
		}
		stages = append(stages, next)
	}
	return stages[0].All(), stages[1:]
}

// underPause are objects as they are written when a group is given back: the guardrails
// let no one else put an entry of a detached group into the topology.
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
		annotations[v1alpha1.PauseAnnotation] = "dry run of a return"
		marked[i].SetAnnotations(annotations)
	}
	return marked
}
