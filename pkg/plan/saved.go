package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// Remedy says how a plan is saved that can be read.
const Remedy = "'clusterctl-x plan upgrade --out' writes one"

// Encode returns a plan as the content of a file, which Decode reads.
func Encode(p Plan) ([]byte, error) {
	data, err := json.MarshalIndent(p, "", "  ")
	return append(data, '\n'), err
}

// Decode reads a saved plan, from a file that people know by its name. A plan that was
// made without a cluster is an error, since no cluster can follow it.
func Decode(name string, data []byte) (Plan, error) {
	var header struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(data, &header); err != nil || header.Kind != DocumentKind || header.APIVersion != v1alpha1.APIVersion {
		return Plan{}, fmt.Errorf("%s is not a plan of this version of clusterctl-x, which has apiVersion %s and kind %s; %s", name, v1alpha1.APIVersion, DocumentKind, Remedy)
	}
	var saved Plan
	err := yaml.UnmarshalStrict(data, &saved)
	var sentence *json.UnmarshalTypeError
	if errors.As(err, &sentence) && sentence.Type == reflect.TypeFor[changes.Change]() {
		return Plan{}, fmt.Errorf("%s is a plan of an earlier version of clusterctl-x, whose changes are sentences without old values; plan again: %s", name, Remedy)
	}
	if err != nil {
		return Plan{}, fmt.Errorf("reading the plan %s: %w; %s", name, err, Remedy)
	}
	if saved.Metadata.UID == "" {
		return Plan{}, fmt.Errorf("%s was made from two files, with --from, and belongs to no live cluster; make a plan without --from", name)
	}
	return saved, nil
}
