package providers_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

var (
	kindHeading = regexp.MustCompile("^## ([A-Za-z]+)\n")
	fieldRow    = regexp.MustCompile("^\\| `(spec\\.[^`]+)` \\| [^|]+ \\|\n")
)

// TestDocs: the pages of providers have one row for each field of their documents, and no
// other rows.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/providers/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			t.Parallel()
			name := strings.TrimSuffix(filepath.Base(page), ".md")
			var want []string
			for kind, of := range providers.BuiltIn().Kinds() {
				if of.Provider == name {
					want = append(want, fieldsOf(of.Schema().Definition(), kind+".spec")...)
				}
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, rowsOf(t, page)); diff != "" {
				t.Errorf("fields (-schemas +%s):\n%s", page, diff)
			}
		})
	}
}

// fieldsOf are the paths of the fields of a schema that have no fields of their own.
func fieldsOf(schema apiextensionsv1.JSONSchemaProps, path string) []string {
	if schema.Items != nil {
		return fieldsOf(*schema.Items.Schema, path)
	}
	if len(schema.Properties) == 0 {
		return []string{path}
	}
	var paths []string
	for name, property := range schema.Properties {
		paths = append(paths, fieldsOf(property, path+"."+name)...)
	}
	return paths
}

// rowsOf are the fields that a page has rows of, below the heading of their kind.
func rowsOf(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	kind := ""
	for line := range strings.Lines(string(text)) {
		if heading := kindHeading.FindStringSubmatch(line); heading != nil {
			kind = heading[1]
		}
		if row := fieldRow.FindStringSubmatch(line); row != nil {
			rows = append(rows, kind+"."+row[1])
		}
	}
	slices.Sort(rows)
	return rows
}
