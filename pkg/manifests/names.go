package manifests

import (
	"encoding/json"
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

// templateName returns the name of an immutable template, after its owner and its spec.
func templateName(owner string, template templater.Object) (string, error) {
	var content struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(template.JSON, &content); err != nil {
		return "", fmt.Errorf("naming a template of %s: %w", owner, err)
	}
	return owner + "-" + changes.ContentHash(content.Spec), nil
}
