package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// Values of --output. Every command has the first three.
const (
	OutputText = "text"
	OutputJSON = "json"
	OutputYAML = "yaml"
	// OutputMarkdown is that of commands that have something for a pull request.
	OutputMarkdown = "markdown"
	OutputWide     = "wide"
	OutputName     = "name"
)

// Lossy keeps the error of what cobra writes, helps and completions, and of events:
// cobra and view.Progress drop it.
type Lossy struct {
	io.Writer
	err error
}

func (l *Lossy) Write(data []byte) (int, error) {
	if _, err := l.Writer.Write(data); l.err == nil && err != nil {
		l.err = err
	}
	return len(data), nil
}

// Unwritten is the first error of writing.
func (l *Lossy) Unwritten() error {
	if l.err == nil {
		return nil
	}
	return fmt.Errorf("writing the output: %w", l.err)
}

// Document wraps data for programs.
func Document(kind string, data any) any {
	return struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Data       any    `json:"data"`
	}{v1alpha1.APIVersion, kind, data}
}

// Print writes a result: as text by the given function, which knows whether it is to be
// short or wide, else as data.
func (a *App) Print(data any, text func() error) error {
	switch a.Options.Output {
	case OutputText, OutputWide, OutputName:
		return text()
	case OutputJSON:
		encoder := json.NewEncoder(a.Out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(data)
	case OutputYAML:
		out, err := yaml.Marshal(data)
		if err != nil {
			return err
		}
		_, err = a.Out.Write(out)
		return err
	default:
		return a.printTemplate(data)
	}
}

// PrintEvents writes results of which more may follow: as text by the given function, else
// each as data, JSON on a line of its own and YAML as a document of its own.
func (a *App) PrintEvents(events []any, text func() error) error {
	switch a.Options.Output {
	case OutputText, OutputWide, OutputName:
		return text()
	}
	for _, event := range events {
		if err := a.printEvent(event); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) printEvent(event any) error {
	switch a.Options.Output {
	case OutputJSON:
		return json.NewEncoder(a.Out).Encode(event)
	case OutputYAML:
		if err := a.Write("---\n"); err != nil {
			return err
		}
	}
	return a.Print(event, nil)
}

// printTemplate writes all of a result with the template of --output, or nothing.
func (a *App) printTemplate(data any) error {
	document, err := generic(data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := a.render(&out, document); err != nil {
		return fmt.Errorf("writing the result as --output says: %w; the template is about the document that -o json writes", err)
	}
	_, err = out.WriteTo(a.Out)
	return err
}

// Result writes the one line that a command without other data ends with; as
// JSON it is one line too, the last one after those of the progress.
func (a *App) Result(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	data := Document("Result", struct {
		Message string `json:"message"`
	}{message})
	if a.Options.Output == OutputJSON {
		return json.NewEncoder(a.Out).Encode(data)
	}
	return a.Print(data, func() error { return a.Write(message + "\n") })
}

// Write writes text that is complete to stdout.
func (a *App) Write(text string) error {
	_, err := a.Out.Write([]byte(text))
	return err
}

// WriteSecret writes credentials to standard output, or to a file that only
// its owner may read.
func (a *App) WriteSecret(file string, data []byte) error {
	if file == "" {
		return a.Write(string(data))
	}
	if err := embedded.WriteFile(file, data); err != nil {
		return fmt.Errorf("writing the kubeconfig: %w", err)
	}
	a.Say("kubeconfig written to %s", file)
	return nil
}

// Warning tells a person that the result is not all that was asked for, which
// is more than progress: --quiet does not hide it.
func (a *App) Warning(format string, args ...any) { a.Tell(fmt.Sprintf("warning: "+format, args...)) }

// WarnText is Warning for a text that is complete.
func (a *App) WarnText(text string) { a.Warning("%s", text) }

// WarnAll prints the warnings about a spec.
func (a *App) WarnAll(warnings []strictyaml.Warning) {
	for _, warning := range warnings {
		a.Warning("%s", warning)
	}
}

// Say tells a person how far things are, on stderr.
func (a *App) Say(format string, args ...any) {
	if !a.Options.Quiet {
		a.Tell(fmt.Sprintf(format, args...))
	}
}

// Tell writes to stderr. Where that fails, there is nowhere left to say so.
func (a *App) Tell(text string) { _, _ = fmt.Fprintln(a.Err, text) }
