package main

import (
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// document is one object of a YAML stream, with the comments in it.
type document struct {
	Kind string
	Name string
	// Text ends in exactly one newline and has no separator.
	Text string
}

// id is kind and name, for messages.
func (d document) id() string { return d.Kind + "/" + d.Name }

// splitDocuments takes a YAML stream apart and leaves the text of its objects
// as it is, but for empty lines around it. Documents of comments alone are left
// out.
func splitDocuments(stream string) ([]document, error) {
	texts, err := splitText(stream)
	if err != nil {
		return nil, err
	}
	var documents []document
	for _, text := range texts {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if isComment(text) {
			continue
		}
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			return nil, fmt.Errorf("parse document %q: %w", firstLine(text), err)
		}
		if object.Kind == "" || object.Metadata.Name == "" {
			return nil, fmt.Errorf("document %q has no kind or no name", firstLine(text))
		}
		documents = append(documents, document{Kind: object.Kind, Name: object.Metadata.Name, Text: text})
	}
	return documents, nil
}

// splitText splits at the lines that are nothing but a separator. A separator
// with more in its line is valid too but refused: nothing here needs it, and
// one that is overlooked hides an object.
func splitText(stream string) ([]string, error) {
	var texts []string
	var text strings.Builder
	flush := func() {
		if trimmed := strings.Trim(text.String(), "\n"); trimmed != "" {
			texts = append(texts, trimmed+"\n")
		}
		text.Reset()
	}
	for line := range strings.Lines(stream) {
		switch {
		case strings.TrimRight(line, " \n") == "---":
			flush()
		case strings.HasPrefix(line, "---"):
			return nil, fmt.Errorf("separator %q is not known here", strings.TrimSuffix(line, "\n"))
		default:
			text.WriteString(line)
		}
	}
	flush()
	return texts, nil
}

func isComment(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// joinDocuments is the stream of the documents, with a comment before it.
func joinDocuments(comment string, documents ...document) string {
	var stream strings.Builder
	stream.WriteString(comment)
	for _, d := range documents {
		stream.WriteString("---\n" + d.Text)
	}
	return stream.String()
}
