package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConvertKindnetd(t *testing.T) {
	t.Parallel()
	got, err := convertKindnetd("\n# would you kindly template this file\n---\nkind: A\n---\nkind: B\nenv:\n- value: {{ .PodSubnet }}\n---\n")
	if err != nil {
		t.Fatal(err)
	}
	want := header("sigs.k8s.io/kind@v0.33.0 pkg/build/nodeimage/const_cni.go", "Copyright 2019 The Kubernetes Authors", "the pod network is quoted.") +
		"---\nkind: A\n---\nkind: B\nenv:\n- value: {{ quote .Pods }}\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
}

func TestConvertKindnetdRefuses(t *testing.T) {
	t.Parallel()
	const noParameter = "the manifest does not have the pod network as its one parameter"
	tests := map[string]struct{ manifest, want string }{
		"no parameter":       {"kind: A\n", noParameter},
		"another parameter":  {"value: {{ .PodSubnet }}\nimage: {{ .Image }}\n", noParameter},
		"twice":              {"- value: {{ .PodSubnet }}\n- value: {{ .PodSubnet }}\n", noParameter},
		"part of a value":    {"value: {{ .PodSubnet }}/x\n", noParameter},
		"only another":       {"value: {{ .Pods }}\n", noParameter},
		"a hidden separator": {"value: {{ .PodSubnet }}\n---\t\n", `separator "---\t" is not known here`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := convertKindnetd(test.manifest)
			wantError(t, err, test.want)
			if got != "" {
				t.Errorf("template: %s", got)
			}
		})
	}
}

func TestStringConstant(t *testing.T) {
	t.Parallel()
	const src = "package p\n\nimport \"fmt\"\n\nvar m = 1\n\nconst image = \"kindnetd:v1\"\n\nconst (\n\tnumber = 1\n\tm1, m2 = `a `+image+` b`, \"\\n\"\n\tm3\n)\n\nconst call = len(\"a\")\n\nfunc f() { fmt.Print() }\n"
	tests := map[string]struct{ name, want, wantErr string }{
		"concatenated":  {name: "m1", want: "a kindnetd:v1 b"},
		"interpreted":   {name: "m2", want: "\n"},
		"a number":      {name: "number", wantErr: "p.go: 1 is not a string"},
		"a variable":    {name: "m", wantErr: "p.go: m is not declared"},
		"without value": {name: "m3", wantErr: "p.go: m3 is not declared"},
		"a call":        {name: "call", wantErr: "p.go: *ast.CallExpr is not a form of string that is known here"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := stringConstant("p.go", []byte(src), test.name)
			if test.wantErr != "" {
				wantError(t, err, test.wantErr)
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestStringConstantNeedsGo(t *testing.T) {
	t.Parallel()
	_, err := stringConstant("p.go", []byte("packag p"), "m")
	wantError(t, err, "parse: p.go:1:1: expected 'package', found packag")
}
