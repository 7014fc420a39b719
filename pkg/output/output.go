// Package output writes the results of a command: for people as text, which the caller
// writes, and for programs as JSON, as YAML or with a template.
package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// Document wraps data for programs.
func Document(kind string, data any) any {
	return struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Data       any    `json:"data"`
	}{v1alpha1.APIVersion, kind, data}
}

// Printer writes results in a format.
type Printer struct {
	out io.Writer
	// Format is the format; Use checks it, and parses its template.
	Format string
	// render is for formats with a template.
	render render
}

// New returns a Printer that writes text.
func New(out io.Writer) *Printer { return &Printer{out: out, Format: Text} }

// Print writes a result: as text by the given function, which knows whether it is to be
// short or wide, else as data.
func (p *Printer) Print(data any, text func() error) error {
	switch p.Format {
	case Text, Wide, Name:
		return text()
	case JSON:
		encoder := json.NewEncoder(p.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(data)
	case YAML:
		out, err := yaml.Marshal(data)
		if err != nil {
			return err
		}
		_, err = p.out.Write(out)
		return err
	default:
		return p.printTemplate(data)
	}
}

// PrintDocument prints data as a Document.
func (p *Printer) PrintDocument(kind string, data any, text func() error) error {
	return p.Print(Document(kind, data), text)
}

// PrintEvents writes results of which more may follow: as text by the given function, else
// each as data, JSON on a line of its own and YAML as a document of its own.
func (p *Printer) PrintEvents(events []any, text func() error) error {
	switch p.Format {
	case Text, Wide, Name:
		return text()
	}
	for _, event := range events {
		if err := p.printEvent(event); err != nil {
			return err
		}
	}
	return nil
}

func (p *Printer) printEvent(event any) error {
	switch p.Format {
	case JSON:
		return json.NewEncoder(p.out).Encode(event)
	case YAML:
		if err := p.Write("---\n"); err != nil {
			return err
		}
	}
	return p.Print(event, nil)
}

// printTemplate writes all of a result with the template of the format, or nothing.
func (p *Printer) printTemplate(data any) error {
	document, err := generic(data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := p.render(&out, document); err != nil {
		return fmt.Errorf("writing the result as --output says: %w; the template is about the document that -o json writes", err)
	}
	_, err = out.WriteTo(p.out)
	return err
}

// Result writes the one line that a command without other data ends with; as
// JSON it is one line too, the last one after those of the progress.
func (p *Printer) Result(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	data := Document("Result", struct {
		Message string `json:"message"`
	}{message})
	if p.Format == JSON {
		return json.NewEncoder(p.out).Encode(data)
	}
	return p.Print(data, func() error { return p.Write(message + "\n") })
}

// Write writes text that is complete.
func (p *Printer) Write(text string) error {
	_, err := io.WriteString(p.out, text)
	return err
}
