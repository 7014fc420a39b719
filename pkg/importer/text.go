package importer

import (
	"bytes"

	"go.yaml.in/yaml/v3"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// ordered are fields in the order in which they are written.
type ordered []entry

// entry is a field. One without a value is not written.
type entry struct {
	name  string
	value any
}

// MarshalYAML returns the fields in their order.
func (o ordered) MarshalYAML() (any, error) {
	mapping := &yaml.Node{Kind: yaml.MappingNode}
	for _, of := range o {
		if isEmpty(of.value) {
			continue
		}
		var name, value yaml.Node
		if err := name.Encode(of.name); err != nil {
			return nil, err
		}
		if err := value.Encode(of.value); err != nil {
			return nil, err
		}
		mapping.Content = append(mapping.Content, &name, &value)
	}
	return mapping, nil
}

func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	case ordered:
		for _, of := range value {
			if !isEmpty(of.value) {
				return false
			}
		}
		return true
	case []ordered:
		return len(value) == 0
	}
	return false
}

// document is one of a spec.
func document(kind, name, namespace string, spec ordered) ordered {
	return ordered{
		{"apiVersion", v1alpha1.APIVersion}, {"kind", kind},
		{"metadata", ordered{{"name", name}, {"namespace", namespace}}}, {"spec", spec},
	}
}

// write returns documents as text.
func write(documents []ordered) ([]byte, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	for _, of := range documents {
		if err := encoder.Encode(of); err != nil {
			return nil, err
		}
	}
	err := encoder.Close()
	return text.Bytes(), err
}
