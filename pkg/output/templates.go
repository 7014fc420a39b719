package output

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/jsonpath"
)

// render writes a document with a template.
type render func(w io.Writer, document map[string]any) error

// parseTemplate parses the template of a format; formats without one have none. As in
// kubectl, a field that a document does not have is empty.
func parseTemplate(format string) (render, error) {
	for prefix, parse := range map[string]func(string) (render, error){
		jsonPath: parseJSONPath, goTemplate: parseGoTemplate, customColumns: parseColumns,
	} {
		if template, has := strings.CutPrefix(format, prefix); has {
			r, err := parse(template)
			if err != nil {
				return nil, fmt.Errorf("--output %s: %w", format, err)
			}
			return r, nil
		}
	}
	return nil, nil
}

func parseJSONPath(template string) (render, error) {
	path := jsonpath.New("output").AllowMissingKeys(true)
	if err := path.Parse(template); err != nil {
		return nil, err
	}
	return func(w io.Writer, document map[string]any) error { return path.Execute(w, document) }, nil
}

func parseGoTemplate(template string) (render, error) {
	printer, err := printers.NewGoTemplatePrinter([]byte(template))
	if err != nil {
		return nil, err
	}
	printer.AllowMissingKeys(true)
	return func(w io.Writer, document map[string]any) error {
		return printer.PrintObj(&unstructured.Unstructured{Object: document}, w)
	}, nil
}

// column of a table, as kubectl has it: HEADER:.path.
type column struct {
	header string
	path   *jsonpath.JSONPath
}

// relaxed matches a path in all forms that kubectl takes: x.y, .x.y, {x.y} and {.x.y}.
var relaxed = regexp.MustCompile(`^(?:\{\.?([^{}]+)\}|\.?([^{}]+))$`)

func parseColumns(spec string) (render, error) {
	var columns []column
	for part := range strings.SplitSeq(spec, ",") {
		header, path, _ := strings.Cut(part, ":")
		match := relaxed.FindStringSubmatch(path)
		if header == "" || match == nil {
			return nil, fmt.Errorf("%q is not HEADER:PATH, such as VERSION:.controlPlane.version", part)
		}
		c := column{header: header, path: jsonpath.New(header).AllowMissingKeys(true)}
		if err := c.path.Parse("{." + match[1] + match[2] + "}"); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	var buffer bytes.Buffer
	table := printers.GetNewTabWriter(&buffer) // remembers how wide the columns are
	headed := false
	return func(w io.Writer, document map[string]any) error {
		var rows strings.Builder
		if !headed {
			headed = true
			rows.WriteString(strings.Join(headers(columns), "\t") + "\n")
		}
		for _, item := range items(document) {
			cells, err := cells(columns, item)
			if err != nil {
				return err
			}
			rows.WriteString(strings.Join(cells, "\t") + "\n")
		}
		if _, err := io.WriteString(table, rows.String()); err != nil {
			return err
		}
		if err := table.Flush(); err != nil {
			return err
		}
		_, err := buffer.WriteTo(w)
		return err
	}, nil
}

func headers(columns []column) []string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = c.header
	}
	return texts
}

func cells(columns []column, item any) ([]string, error) {
	texts := make([]string, len(columns))
	for i, c := range columns {
		text, err := c.of(item)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// of returns the value of the column in a row; several are separated by commas.
func (c column) of(item any) (string, error) {
	results, err := c.path.FindResults(item)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, values := range results {
		for _, value := range values {
			texts = append(texts, fmt.Sprint(value.Interface()))
		}
	}
	if len(texts) == 0 {
		return "<none>", nil
	}
	return strings.Join(texts, ","), nil
}

// items are those of a document with a list; another document is the only one.
func items(document map[string]any) []any {
	data := document["data"]
	if list, ok := data.([]any); ok {
		return list
	}
	return []any{data}
}

// generic returns a document as templates see it: as it is written with -o json.
func generic(document any) (map[string]any, error) {
	data, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	err = json.Unmarshal(data, &values)
	return values, err
}
