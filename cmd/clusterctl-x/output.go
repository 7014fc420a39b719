package main

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"
)

// Values of --output.
const (
	outputText = "text"
	outputJSON = "json"
	outputYAML = "yaml"
)

// print writes a result: as text by the given function, else as data.
func (a *app) print(data any, text func() error) error {
	switch a.options.Output {
	case outputText:
		return text()
	case outputJSON:
		encoder := json.NewEncoder(a.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(data)
	case outputYAML:
		out, err := yaml.Marshal(data)
		if err != nil {
			return err
		}
		_, err = a.out.Write(out)
		return err
	default:
		return usageError{fmt.Errorf("--output must be one of text, json, yaml, not %q", a.options.Output)}
	}
}
