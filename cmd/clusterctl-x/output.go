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
		return fmt.Errorf("no output %q", a.options.Output)
	}
}

// result writes the one line that a command without other data ends with; as
// JSON it is one line too, the last one after those of the progress.
func (a *app) result(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	data := document("Result", struct {
		Message string `json:"message"`
	}{message})
	if a.options.Output == outputJSON {
		return json.NewEncoder(a.out).Encode(data)
	}
	return a.print(data, func() error {
		_, err := fmt.Fprintln(a.out, message)
		return err
	})
}

// write writes text that is complete to stdout.
func (a *app) write(text string) error {
	_, err := a.out.Write([]byte(text))
	return err
}
