package main

import (
	"fmt"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// lineWidth is how long the lines of an explanation may be.
const lineWidth = 80

// printer collects the lines of an explanation.
type printer struct{ strings.Builder }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// wrap writes text in lines that are not too long.
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

// depth is how far below a place fields are listed.
type depth string

const (
	oneLevel  depth = "one level"
	allLevels depth = "all levels"
)

// explanation is what a person reads of a place, in the form of 'kubectl explain'.
func explanation(schema *specSchema, at fieldPlace, below depth) string {
	var p printer
	p.line("KIND:     %s", at.kind)
	p.line("VERSION:  %s", v1alpha1.APIVersion)
	if at.path != "" {
		p.line("\nFIELD: %s <%s>", at.path, schema.typeName(at.node))
	}
	p.line("\nDESCRIPTION:")
	for paragraph := range strings.SplitSeq(at.node.description(), "\n\n") {
		p.wrap("    ", paragraph)
	}
	p.choices("\n", "", "ENUM:    ", "DEFAULT: ", schema.inside(at.node), at.node)
	fields := schema.fields(at.node)
	if len(fields) == 0 {
		return p.String()
	}
	p.line("\nFIELDS:")
	if below == allLevels {
		p.tree(schema, at.node, "  ")
		return p.String()
	}
	for _, name := range fields {
		p.field(schema, at.node, name)
	}
	return p.String()
}

// field writes one of the fields of a node.
func (p *printer) field(schema *specSchema, parent schemaNode, name string) {
	node, _ := schema.field(parent, name)
	required := ""
	if schema.inside(parent).requires(name) {
		required = " -required-"
	}
	p.line("  %s <%s>%s", name, schema.typeName(node), required)
	form, _, _ := strings.Cut(node.description(), "\n\n") // without what is said of its type
	p.wrap("    ", form)
	p.choices("", "    ", "enum: ", "default: ", schema.inside(node), node)
}

// choices writes which values there are, of each item where it is a list, and
// which one a field has that is left out.
func (p *printer) choices(before, indent, enumLabel, defaultLabel string, values, node schemaNode) {
	enum := values.list("enum")
	if constant, ok := values["const"]; ok {
		enum = []any{constant}
	}
	if len(enum) > 0 {
		p.wrap(before+indent, enumLabel+listed(enum))
	}
	if value, ok := node["default"]; ok {
		p.wrap(before+indent, defaultLabel+fmt.Sprint(value))
	}
}

func listed(values []any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	return strings.Join(texts, ", ")
}

// tree writes names and types of all fields below a node.
func (p *printer) tree(schema *specSchema, parent schemaNode, indent string) {
	for _, name := range schema.fields(parent) {
		node, _ := schema.field(parent, name)
		p.line("%s%s <%s>", indent, name, schema.typeName(node))
		p.tree(schema, node, indent+"  ")
	}
}

// typeName is the type as 'kubectl explain' writes types.
func (s *specSchema) typeName(n schemaNode) string {
	if items := n.node("items"); items != nil {
		return "[]" + s.typeName(s.resolve(items))
	}
	if values := n.node("additionalProperties"); values != nil {
		return "map[string]" + s.typeName(s.resolve(values))
	}
	if title := n.title(); title != "" {
		return title
	}
	if name := n.text("type"); name != "" {
		return name
	}
	return "any"
}

// firstSentence is up to the first full stop that ends one.
func firstSentence(text string) string {
	sentence, rest, _ := strings.Cut(text, ". ")
	if rest != "" {
		return sentence + "."
	}
	return sentence
}
