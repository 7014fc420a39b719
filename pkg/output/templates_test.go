package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type machine struct {
	Name  string `json:"name"`
	Ready int    `json:"ready,omitempty"`
	Nodes []node `json:"nodes,omitempty"`
}

type node struct {
	Name string `json:"name"`
}

// formatted is a Printer with a format.
func formatted(t *testing.T, format string) (*Printer, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	p := New(&out)
	p.Format = format
	if err := p.Use(ListFormats(Name), ""); err != nil {
		t.Fatal(err)
	}
	return p, &out
}

// TestPrint writes the list that the text is about in each format.
func TestPrint(t *testing.T) {
	t.Parallel()
	list := Document("List", []machine{{Name: "one", Ready: 1, Nodes: []node{{"a"}, {"b"}}}, {Name: "two"}})
	for format, want := range map[string]string{
		"text": "some text\n",
		"wide": "some text\n",
		"name": "some text\n",
		"json": `{
  "apiVersion": "clusterctl-x.io/v1alpha1",
  "kind": "List",
  "data": [
    {
      "name": "one",
      "ready": 1,
      "nodes": [
        {
          "name": "a"
        },
        {
          "name": "b"
        }
      ]
    },
    {
      "name": "two"
    }
  ]
}
`,
		"yaml": `apiVersion: clusterctl-x.io/v1alpha1
data:
- name: one
  nodes:
  - name: a
  - name: b
  ready: 1
- name: two
kind: List
`,
		"jsonpath={.data[*].name}":                                          "one two",
		`jsonpath={range .data[*]}{.name}={.ready}{"\n"}{end}`:              "one=1\ntwo=\n",
		"jsonpath={.metadata.name}":                                         "",
		`go-template={{range .data}}{{.name}} {{.ready}}{{"\n"}}{{end}}`:    "one 1\ntwo <no value>\n",
		`go-template={{if exists . "data"}}{{len .data}}{{end}}`:            "2",
		"custom-columns=NAME:.name,READY:ready":                             "NAME   READY\none    1\ntwo    <none>\n",
		"custom-columns=A LONG HEADER:{.name},NODES:{nodes[*].name}":        "A LONG HEADER   NODES\none             a,b\ntwo             <none>\n",
		"custom-columns=NAME:.name,FIRST:.nodes[0].name,X:.metadata.labels": "NAME   FIRST    X\none    a        <none>\ntwo    <none>   <none>\n",
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p, out := formatted(t, format)
			if err := p.Print(list, func() error { return p.Write("some text\n") }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPrintEvents writes one cluster, and then another.
func TestPrintEvents(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"name":                            "text\ntext\n",
		"json":                            `{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"Machine","data":{"name":"a-long-name"}}` + "\n" + `{"apiVersion":"clusterctl-x.io/v1alpha1","kind":"Machine","data":{"name":"two","ready":2}}` + "\n",
		"yaml":                            "---\napiVersion: clusterctl-x.io/v1alpha1\ndata:\n  name: a-long-name\nkind: Machine\n---\napiVersion: clusterctl-x.io/v1alpha1\ndata:\n  name: two\n  ready: 2\nkind: Machine\n",
		`jsonpath={.data.name} `:          "a-long-name two ",
		"custom-columns=N:.name,R:.ready": "N             R\na-long-name   <none>\ntwo           2\n",
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p, out := formatted(t, format)
			for _, event := range []machine{{Name: "a-long-name"}, {Name: "two", Ready: 2}} {
				if err := p.PrintEvents([]any{Document("Machine", event)}, func() error { return p.Write("text\n") }); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPrintAllOrNothing: what a template wrote before it failed is not a result.
func TestPrintAllOrNothing(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"jsonpath={.data[0].name} {.data[7].name}": "array index out of bounds: index 7, length 1; the template is about the document that -o json writes",
		`go-template={{.kind}} {{index .data 7}}`:  `error executing template "{{.kind}} {{index .data 7}}": template: output:1:12: executing "output" at <index .data 7>: error calling index: index out of range: 7; the template is about the document that -o json writes`,
		"custom-columns=N:.name,X:.nodes[9].name":  "array index out of bounds: index 9, length 1; the template is about the document that -o json writes",
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			p, out := formatted(t, format)
			err := p.Print(Document("List", []machine{{Name: "one", Nodes: []node{{"a"}}}}), nil)
			if err == nil {
				t.Fatal("no error")
			}
			if diff := cmp.Diff("writing the result as --output says: "+want, err.Error()); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if out.String() != "" {
				t.Errorf("it wrote %q", out.String())
			}
		})
	}
}
