package v1alpha1

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// rulePaths are the paths of all rules, each with its kind in front.
func rulePaths() []string {
	paths := slices.Collect(maps.Keys(fieldRules))
	for kind := range documentKinds() {
		for path := range objectRules {
			paths = append(paths, kind+"."+path)
		}
	}
	slices.Sort(paths)
	return paths
}

// TestFieldRulesAreAboutMissingFields: a rule for a field that the Go types
// have would never be asked, and so would one below a field that they lack.
func TestFieldRulesAreAboutMissingFields(t *testing.T) {
	t.Parallel()
	for _, rule := range rulePaths() {
		kind, path, _ := strings.Cut(rule, ".")
		goType, known := documentKinds()[kind]
		if !known {
			t.Errorf("%s: there is no such kind", rule)
			continue
		}
		names := strings.Split(path, ".")
		for i, name := range names {
			index, is := strictyaml.FieldsOf(goType)[name]
			if last := i == len(names)-1; is == last {
				t.Errorf("%s: %s is a field of %s: %t", rule, name, goType, is)
				break
			}
			if is {
				goType = goType.Field(index).Type
				for goType.Kind() == reflect.Pointer || goType.Kind() == reflect.Slice {
					goType = goType.Elem()
				}
			}
		}
	}
}

// TestFieldRulesAreApplied puts each field that has a rule into a file, and
// finds the rule's text in the answer, at the field's line and path.
func TestFieldRulesAreApplied(t *testing.T) {
	t.Parallel()
	for _, rule := range rulePaths() {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			kind, path, _ := strings.Cut(rule, ".")
			name := path[strings.LastIndexByte(path, '.')+1:]
			text, line, fullPath := fileWith(kind, path, "{a: b}")
			known, ok := fieldRules[rule]
			if !ok {
				known = objectRules[path]
			}
			want := fmt.Sprintf("f.yaml:%d: %s: Forbidden: %s", line, fullPath, known.text)
			if known.warning {
				want = fmt.Sprintf("warning f.yaml:%d: %s: %s", line, fullPath, known.text)
			}
			if diff := cmp.Diff([]string{want}, answers(t, text)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			text, _, _ = fileWith(kind, path, "null")
			if diff := cmp.Diff([]string(nil), answers(t, text)); diff != "" {
				t.Errorf("%s: null (-want +got):\n%s", name, diff)
			}
		})
	}
}

// fileWith is a cluster spec with a value at a path, its line, and the path
// with the indices of lists.
func fileWith(kind, path, value string) (text string, line int, fullPath string) {
	lines := []string{"apiVersion: " + APIVersionEKSA, "kind: " + kind}
	names := strings.Split(path, ".")
	indent := ""
	for i, name := range names {
		switch {
		case i == len(names)-1:
			lines = append(lines, indent+name+": "+value)
		case name == "workerNodeGroupConfigurations", name == "taints":
			lines = append(lines, indent+name+":", indent+"-")
			names[i] += "[0]"
		default:
			lines = append(lines, indent+name+":")
		}
		indent += "  "
	}
	line = len(lines)
	if kind != ClusterKind {
		lines = append(lines, "---", "apiVersion: "+APIVersion, "kind: Cluster")
	}
	if kind == OIDCKind || kind == AWSIamKind {
		lines = append(lines, "spec: {identityProviderRefs: [{kind: "+kind+"}]}")
	}
	return strings.Join(lines, "\n"), line, strings.Join(names, ".")
}

// answers are the problems of a file, or else its warnings.
func answers(t *testing.T, text string) []string {
	config := Decode("f.yaml", []byte(text), twoProviders(t))
	if err := config.Problems.OrNil(); err != nil {
		return strings.Split(err.Error(), "\n")
	}
	var warnings []string
	for _, warning := range config.Warnings {
		warnings = append(warnings, "warning "+warning.String())
	}
	return warnings
}
