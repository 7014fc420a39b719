package versionsbundle

import (
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Text writes the bundles as YAML for people, with the fields in the order of their types.
func (b *Bundles) Text() (string, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return "", err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return "", err
	}
	asBlocks(&document)
	var text strings.Builder
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return "", err
	}
	return text.String(), nil
}

// asBlocks takes the style of JSON from a node.
func asBlocks(node *yaml.Node) {
	node.Style = 0
	for _, below := range node.Content {
		asBlocks(below)
	}
}
