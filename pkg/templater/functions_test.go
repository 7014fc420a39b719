package templater

import (
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
)

// allowed are the functions that templates may call, beside those of the
// language. A further one must be pure, and must not depend on a map's order.
func allowed() []string { return []string{"b64enc", "merged", "nindent", "omit", "quote", "toYaml"} }

func TestFunctionsAreTheAllowList(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(allowed(), slices.Sorted(maps.Keys(functions()))); diff != "" {
		t.Errorf("functions of templates (-allowed +got):\n%s", diff)
	}
}

func TestNoOtherFunctionOfSprigCanBeCalled(t *testing.T) {
	t.Parallel()
	callable := map[string]bool{}
	for name := range sprig.TxtFuncMap() {
		if name == "slice" {
			continue // the language has one of this name
		}
		_, err := Parse(fstest.MapFS{"t": {Data: []byte("{{ " + name + " }}")}}, "t")
		if err == nil {
			callable[name] = true
		}
	}
	callable["merged"], callable["toYaml"] = true, true // are none of sprig's
	if diff := cmp.Diff(allowed(), slices.Sorted(maps.Keys(callable))); diff != "" {
		t.Errorf("names of sprig that can be called (-allowed +got):\n%s", diff)
	}
	for _, name := range []string{"env", "expandenv", "now", "date", "randAlpha", "uuidv4", "genCA", "genPrivateKey", "getHostByName", "keys", "values"} {
		if _, known := sprig.TxtFuncMap()[name]; !known {
			t.Errorf("sprig has no function %s any more: what does the same now?", name)
		}
		if callable[name] {
			t.Errorf("%s can be called", name)
		}
	}
}
