package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMutants: each kind of change, and none of imports and types.
func TestMutants(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		"import \"fmt\"\ntype t [3]int":                             nil,
		"const most = 3":                                            {"3 -> 4"},
		"func f(a, b int) bool { return a < b && !g(a-b) }":         {"&& -> ||", "< -> <=", "< -> >=", "! -> ", "- -> +"},
		"func f(a int) {\n\tif a == 0 {\n\t\treturn\n\t}\n\tg()\n}": {"a == 0 -> (a == 0) || true", "a == 0 -> (a == 0) && false", "== -> !=", "0 -> 1", "g() -> "},
		"func f() bool {\n\tfor {\n\t\ta++\n\t\tbreak\n\t}\n\ta = 7\n\tb := a\n\treturn true\n}": {
			"++ -> --", "break -> ", "a = 7 -> ", "7 -> 8", "true -> false",
		},
	} {
		mutants, err := mutantsOfFile("f.go", []byte("package f\n"+source+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range mutants {
			_, change, _ := strings.Cut(m.String(), ": ") // without the line
			got = append(got, change)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", source, diff)
		}
	}
}
