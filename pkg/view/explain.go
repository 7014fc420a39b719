package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/explain"
)

// lineWidth is the length that lines of an explanation may have.
const lineWidth = 80

// Depth is how far below a field fields are listed.
type Depth string

// Depths of an explanation.
const (
	OneLevel  Depth = "one level"  // the fields below, with their descriptions
	AllLevels Depth = "all levels" // all fields below, with their types only
)

// Field writes the explanation of a field in the form of 'kubectl explain'.
func Field(w io.Writer, field explain.Field, depth Depth) error {
	var p printer
	p.line("KIND:     %s", field.Kind)
	p.line("VERSION:  %s", v1alpha1.APIVersion)
	if field.Path != "" {
		p.line("\nFIELD: %s <%s>", field.Path, field.Type)
	}
	p.line("\nDESCRIPTION:")
	for paragraph := range strings.SplitSeq(field.Description, "\n\n") {
		p.wrap("    ", paragraph)
	}
	p.values(field, "\n", "ENUM: ", "DEFAULT: ")
	fields := field.Fields()
	if len(fields) > 0 {
		p.line("\nFIELDS:")
		p.fields(fields, depth)
	}
	return p.writeTo(w)
}

// Kinds writes the kinds of documents with what each of them is.
func Kinds(w io.Writer, kinds []explain.Field, depth Depth) error {
	var p printer
	p.line("KINDS:")
	for _, kind := range kinds {
		p.line("  %s", kind.Kind)
		if depth == AllLevels {
			p.tree(kind.Fields(), "    ")
			continue
		}
		p.wrap("    ", firstSentence(kind.Description))
	}
	return p.writeTo(w)
}

// printer collects the lines of an explanation.
type printer struct{ strings.Builder }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

func (p *printer) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, p.String())
	return err
}

// wrap writes text in lines of at most lineWidth.
func (p *printer) wrap(indent, text string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > lineWidth {
			p.line("%s%s", indent, line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		p.line("%s%s", indent, line)
	}
}

func (p *printer) fields(fields []explain.Field, depth Depth) {
	if depth == AllLevels {
		p.tree(fields, "  ")
		return
	}
	for _, field := range fields {
		required := ""
		if field.Required {
			required = " -required-"
		}
		p.line("  %s <%s>%s", field.Name, field.Type, required)
		form, _, _ := strings.Cut(field.Description, "\n\n") // without the description of its type
		p.wrap("    ", form)
		p.values(field, "    ", "enum: ", "default: ")
	}
}

// values writes the choices and the default of a field, where it has any.
func (p *printer) values(field explain.Field, indent, choicesLabel, defaultLabel string) {
	if len(field.Choices) > 0 {
		p.wrap(indent, choicesLabel+listed(field.Choices))
	}
	if field.Default != nil {
		p.wrap(indent, defaultLabel+fmt.Sprint(field.Default))
	}
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ", ")
}

// tree writes names and types of fields and of all fields below them.
func (p *printer) tree(fields []explain.Field, indent string) {
	for _, field := range fields {
		p.line("%s%s <%s>", indent, field.Name, field.Type)
		p.tree(field.Fields(), indent+"  ")
	}
}

// firstSentence returns the text up to the first full stop that ends a sentence.
func firstSentence(text string) string {
	sentence, rest, _ := strings.Cut(text, ". ")
	if rest != "" {
		return sentence + "."
	}
	return sentence
}
