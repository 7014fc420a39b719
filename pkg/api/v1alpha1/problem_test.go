package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestProblemsPrintSorted(t *testing.T) {
	t.Parallel()
	problem := func(file string, line int, path, detail string) v1alpha1.Problem {
		return v1alpha1.Problem{File: file, Line: line, Err: &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: detail}}
	}
	problems := v1alpha1.Problems{
		problem("b.yaml", 1, "spec.a", "z"),
		problem("a.yaml", 10, "spec.a", "z"),
		problem("a.yaml", 9, "spec.b", "z"),
		problem("a.yaml", 9, "spec.a", "z"),
		problem("a.yaml", 9, "spec.a", "y"),
		problem("a.yaml", 0, "", "the whole file"),
	}
	const want = `a.yaml: the whole file
a.yaml:9: spec.a: Forbidden: y
a.yaml:9: spec.a: Forbidden: z
a.yaml:9: spec.b: Forbidden: z
a.yaml:10: spec.a: Forbidden: z
b.yaml:1: spec.a: Forbidden: z`
	if diff := cmp.Diff(want, problems.OrNil().Error()); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestNoProblemsAreNoError(t *testing.T) {
	t.Parallel()
	if err := (v1alpha1.Problems{}).OrNil(); err != nil {
		t.Errorf("no problems are the error %v", err)
	}
}

func TestWarningString(t *testing.T) {
	t.Parallel()
	got := []string{
		v1alpha1.Warning{File: "a.yaml", Line: 3, Path: "spec.a", Text: "ignored"}.String(),
		v1alpha1.Warning{File: "a.yaml", Path: "spec.a", Text: "ignored"}.String(),
	}
	if diff := cmp.Diff([]string{"a.yaml:3: spec.a: ignored", "a.yaml: spec.a: ignored"}, got); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestLocate finds the lines of fields that are there, and of what contains
// those that are not.
func TestLocate(t *testing.T) {
	t.Parallel()
	config := v1alpha1.Decode("cluster.yaml", []byte("# comment\n"+minimal+`  workerNodeGroupConfigurations:
  - &group
    name: a
    count: 2
  - kubernetesVersion:
      1.34
  - *group
`+"---\napiVersion: clusterctl-x.io/v1alpha1\nkind: InMemoryDatacenterConfig\nmetadata:\n  name: prod\n"))
	if err := config.Problems.OrNil(); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kind string
		want int
	}{
		"":                       {v1alpha1.ClusterKind, 2},
		"status":                 {v1alpha1.ClusterKind, 2},
		"metadata.name":          {v1alpha1.ClusterKind, 5},
		"metadata.namespace":     {v1alpha1.ClusterKind, 4},
		"spec.clusterNetwork":    {v1alpha1.ClusterKind, 8},
		"spec.managementCluster": {v1alpha1.ClusterKind, 6},
		"spec.clusterNetwork.services.cidrBlocks[0]":              {v1alpha1.ClusterKind, 12},
		"spec.clusterNetwork.services.cidrBlocks[1]":              {v1alpha1.ClusterKind, 12},
		"spec.workerNodeGroupConfigurations":                      {v1alpha1.ClusterKind, 16},
		"spec.workerNodeGroupConfigurations[0].count":             {v1alpha1.ClusterKind, 19},
		"spec.workerNodeGroupConfigurations[1].name":              {v1alpha1.ClusterKind, 20},
		"spec.workerNodeGroupConfigurations[1].kubernetesVersion": {v1alpha1.ClusterKind, 20},
		"spec.workerNodeGroupConfigurations[2]":                   {v1alpha1.ClusterKind, 22},
		"spec.workerNodeGroupConfigurations[2].kubernetesVersion": {v1alpha1.ClusterKind, 22},
		"metadata":         {v1alpha1.InMemoryKind, 26},
		"spec.nodeStartup": {v1alpha1.InMemoryKind, 24},
	}
	for path, test := range tests {
		t.Run(test.kind+" "+path, func(t *testing.T) {
			t.Parallel()
			err := &field.Error{Type: field.ErrorTypeForbidden, Field: path, Detail: "detail"}
			want := v1alpha1.Problems{{File: "cluster.yaml", Line: test.want, Err: err}}
			if diff := cmp.Diff(want, config.Locate(test.kind, field.ErrorList{err})); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
			wantWarnings := []v1alpha1.Warning{{File: "cluster.yaml", Line: test.want, Path: path, Text: "text"}}
			if diff := cmp.Diff(wantWarnings, config.LocateWarnings(test.kind, []v1alpha1.Warning{{Path: path, Text: "text"}})); diff != "" {
				t.Errorf("warning (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTooManyProblems: nobody reads all of them.
func TestTooManyProblems(t *testing.T) {
	t.Parallel()
	var problems v1alpha1.Problems
	for line := range 1001 {
		problems = append(problems, v1alpha1.Problem{File: "f.yaml", Line: 1001 - line, Err: field.Required(field.NewPath("a"), "b")})
	}
	lines := strings.Split(problems.OrNil().Error(), "\n")
	got := []string{lines[0], lines[999], lines[1000]}
	want := []string{
		"f.yaml:1: a: Required value: b", "f.yaml:1000: a: Required value: b",
		"f.yaml: there are more than these 1000 mistakes; mend the first ones and run the command again",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(lines) != 1001 {
		t.Errorf("%d lines; the first and last ones (-want +got):\n%s", len(lines), diff)
	}
	if all := problems[:1000].OrNil().Error(); strings.Contains(all, "more than") {
		t.Error("1000 problems are not too many")
	}
}
