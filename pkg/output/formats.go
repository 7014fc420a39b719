package output

import (
	"fmt"
	"slices"
	"strings"
)

// Formats without a template. Every command has the first three.
const (
	Text = "text"
	JSON = "json"
	YAML = "yaml"
	// Markdown is that of commands that have something for a pull request.
	Markdown = "markdown"
	Wide     = "wide"
	Name     = "name"
)

// Formats with a template, up to where it begins.
const (
	jsonPath      = "jsonpath="
	goTemplate    = "go-template="
	customColumns = "custom-columns="
)

// Formats are the output formats of a command, the default first; those with a template are
// written as jsonpath=TEMPLATE.
type Formats []string

// ListFormats are those of commands that list something, with more of them after the wide one.
func ListFormats(more ...string) Formats {
	return slices.Concat(Formats{Text, Wide}, more, Formats{JSON, YAML, jsonPath + "TEMPLATE", goTemplate + "TEMPLATE", customColumns + "HEADER:PATH,..."})
}

// String writes the formats as a sentence does.
func (f Formats) String() string {
	if len(f) == 1 {
		return f[0]
	}
	return strings.Join(f[:len(f)-1], ", ") + " or " + f[len(f)-1]
}

// Complete returns those that begin as a person typed, up to where a template begins.
func (f Formats) Complete(typed string) []string {
	var names []string
	for _, format := range f {
		name, _, template := strings.Cut(format, "=")
		if template {
			name += "="
		}
		if strings.HasPrefix(name, typed) {
			names = append(names, name)
		}
	}
	return names
}

// Use checks the format against those of a command, and parses its template. The remedy, if
// there is one, is about another format. After an error the format is text, which the error
// is to be written in.
func (p *Printer) Use(formats Formats, remedy string) error {
	format := p.Format
	if !slices.ContainsFunc(formats, func(name string) bool { return is(format, name) }) {
		err := fmt.Errorf("--output must be one of %s, not %q", strings.Join(formats, ", "), format)
		if len(formats) == 1 {
			err = fmt.Errorf("--output must be %s, not %q", formats[0], format)
		}
		if remedy != "" {
			err = fmt.Errorf("%w; %s", err, remedy)
		}
		p.Format = Text
		return err
	}
	render, err := parseTemplate(format)
	p.render = render
	return err
}

// is reports whether a format is the one of a name.
func is(format, name string) bool {
	prefix, _, template := strings.Cut(name, "=")
	if !template {
		return format == name
	}
	argument, has := strings.CutPrefix(format, prefix+"=")
	return has && argument != ""
}
