package changes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
)

// TestChangeString: each change is one line, however long its values are.
func TestChangeString(t *testing.T) {
	t.Parallel()
	digits := strings.Repeat("1234567890", 9)
	tests := map[string]struct {
		change changes.Change
		want   string
	}{
		"changed":  {changes.Change{Object: "Cluster/a", Path: "spec.a", Action: changes.Changed, Old: "1", New: `"b"`}, "Cluster/a spec.a: 1 -> b"},
		"added":    {changes.Change{Object: "Cluster/a", Path: "spec.a", Action: changes.Added, New: `{"b":[1]}`}, `Cluster/a spec.a: {"b":[1]} (added)`},
		"removed":  {changes.Change{Object: "Cluster/a", Path: "spec.a", Action: changes.Removed, Old: `""`}, `Cluster/a spec.a: "" (removed)`},
		"created":  {changes.Change{Object: "MachineHealthCheck/a", Action: changes.Added}, "MachineHealthCheck/a (created)"},
		"deleted":  {changes.Change{Object: "MachineHealthCheck/a", Action: changes.Removed}, "MachineHealthCheck/a (deleted)"},
		"restored": {changes.Change{Object: "DevMachineTemplate/a", Action: changes.Restored}, "DevMachineTemplate/a (created again: it is missing, so that no new machine can be made)"},
		"of a template": {
			changes.Change{Object: "MachineDeployment/a", Template: "DevMachineTemplate", Path: "spec.a", Action: changes.Changed, Old: "1", New: "2", ReplacesMachines: true},
			"MachineDeployment/a DevMachineTemplate spec.a: 1 -> 2",
		},
		"without the object":            {changes.Change{Path: "spec.a", Action: changes.Changed, Old: "1", New: "2"}, "spec.a: 1 -> 2"},
		"another type of the same text": {changes.Change{Path: "spec.a", Action: changes.Changed, Old: `"1"`, New: "1"}, `spec.a: "1" -> 1`},
		"null":                          {changes.Change{Path: "spec.a", Action: changes.Changed, Old: "null", New: `"null"`}, `spec.a: null -> "null"`},
		"sensitive, changed":            {changes.Change{Path: "data.a", Action: changes.Changed, Sensitive: true}, "data.a: (sensitive value)"},
		"sensitive, added":              {changes.Change{Path: "data.a", Action: changes.Added, Sensitive: true}, "data.a: (sensitive value) (added)"},
		"sensitive, removed":            {changes.Change{Path: "data.a", Action: changes.Removed, Sensitive: true}, "data.a: (sensitive value) (removed)"},
		"several lines":                 {changes.Change{Path: "spec.a", Action: changes.Changed, Old: `"a\nb"`, New: `" c"`}, `spec.a: "a\nb" -> " c"`},
		"as long as a line":             {changes.Change{Path: "spec.a", Action: changes.Added, New: changes.Text(digits[:80])}, "spec.a: " + digits[:80] + " (added)"},
		"longer":                        {changes.Change{Path: "spec.a", Action: changes.Added, New: changes.Text(digits[:81])}, "spec.a: " + digits[:80] + "… (added)"},
		"long, and different at its end": {
			changes.Change{Path: "spec.a", Action: changes.Changed, Old: changes.Text(digits + "a"), New: changes.Text(digits + "b")},
			"spec.a: …" + digits[70:] + "a -> …" + digits[70:] + "b",
		},
		"long, and longer still": {
			changes.Change{Path: "spec.a", Action: changes.Changed, Old: changes.Text(digits), New: changes.Text(digits + digits)},
			"spec.a: …" + digits[70:] + " -> …" + digits[70:] + digits[:60] + "…",
		},
		"long, and the other one short": {
			changes.Change{Path: "spec.a", Action: changes.Changed, Old: `"x"`, New: changes.Text(digits)},
			"spec.a: x -> " + digits[:80] + "…",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.change.String(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestReversed: what was added is removed, and values change their places.
func TestReversed(t *testing.T) {
	t.Parallel()
	all := []changes.Change{
		{Object: "Cluster/a", Path: "a", Action: changes.Changed, Old: "1", New: "2"}, {Object: "Cluster/a", Path: "b", Action: changes.Added, New: "2"},
		{Object: "Cluster/a", Path: "c", Action: changes.Removed, Old: "1"}, {Object: "ATemplate/a", Action: changes.Restored},
	}
	want := []changes.Change{
		{Object: "Cluster/a", Path: "a", Action: changes.Changed, Old: "2", New: "1"}, {Object: "Cluster/a", Path: "b", Action: changes.Removed, Old: "2"},
		{Object: "Cluster/a", Path: "c", Action: changes.Added, New: "1"}, {Object: "ATemplate/a", Action: changes.Restored},
	}
	for i, change := range all {
		if diff := cmp.Diff(want[i], change.Reversed()); diff != "" {
			t.Errorf("reversed (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(change, change.Reversed().Reversed()); diff != "" {
			t.Errorf("reversed twice (-want +got):\n%s", diff)
		}
	}
}

// TestChangeIsTheSameWhenRead: a change is the same after it was written as JSON or YAML,
// with its values as they are.
func TestChangeIsTheSameWhenRead(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change changes.Change
		want   string
	}{
		"an object": {changes.Change{Object: "MachineHealthCheck/a", Action: changes.Added}, `{"object":"MachineHealthCheck/a","action":"Added"}`},
		"values": {
			changes.Change{Object: "Cluster/a", Path: "spec.a", Action: changes.Changed, Old: "12345678901234567", New: `{"a":[0.5,null,true],"b":"<&>"}`},
			`{"object":"Cluster/a","path":"spec.a","action":"Changed","old":12345678901234567,"new":{"a":[0.5,null,true],"b":"\u003c\u0026\u003e"}}`,
		},
		"null and the empty text": {
			changes.Change{Object: "Cluster/a", Path: "spec.a", Action: changes.Changed, Old: "null", New: `""`}, `{"object":"Cluster/a","path":"spec.a","action":"Changed","old":null,"new":""}`,
		},
		"a template": {
			changes.Change{Object: "MachineDeployment/a", Template: "DevMachineTemplate", Path: "spec.a", Action: changes.Removed, Old: `"1"`, ReplacesMachines: true},
			`{"object":"MachineDeployment/a","template":"DevMachineTemplate","path":"spec.a","action":"Removed","old":"1","replacesMachines":true}`,
		},
		"a Secret": {changes.Change{Object: "Secret/a", Path: "data.a", Action: changes.Changed, Sensitive: true}, `{"object":"Secret/a","path":"data.a","action":"Changed","sensitive":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			written, err := json.Marshal(test.change)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(written)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			inYAML, err := yaml.Marshal(test.change)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range [][]byte{written, inYAML} {
				var read changes.Change
				if err := yaml.UnmarshalStrict(text, &read); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if diff := cmp.Diff(test.change, read); diff != "" {
					t.Errorf("read from %s (-want +got):\n%s", text, diff)
				}
			}
		})
	}
}
