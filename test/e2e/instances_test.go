package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTwoInstances runs two embedded management clusters side by side, each
// with a cluster of the same name, and stops and starts one of them.
func TestTwoInstances(t *testing.T) {
	t.Parallel()
	const first, second = "first", "second"
	file := specFile(t, "twin", "1.34", "md-0")
	for _, instance := range []string{first, second} {
		t.Run("create on "+instance, func(t *testing.T) {
			cli(t, 0, "create", "cluster", "-f", file, "--name", instance)
		})
	}
	if keyOf(t, first) == keyOf(t, second) {
		t.Error("the two management clusters share a key")
	}
	before := names(t, first, "default", "twin")
	if len(before) != 2 {
		t.Fatalf("%d machines, want 2", len(before))
	}

	cli(t, 0, "management", "stop", "--name", first)
	if got, want := cli(t, 0, "management", "stop", "--name", first).stdout, "embedded management cluster \"first\" is not running; nothing to do\n"; got != want {
		t.Errorf("stop again said %q, want %q", got, want)
	}
	cli(t, 0, "create", "cluster", "-f", file, "--name", second) // not disturbed
	cli(t, 0, "management", "start", "--name", first)
	// The simulator makes the nodes again, and Cluster API may or may not have
	// missed them yet; nothing is created in either case.
	if said := cli(t, 0, "create", "cluster", "-f", file, "--name", first).stderr; strings.Contains(said, "objects created") {
		t.Errorf("create after the restart made objects: %s", said)
	}
	if diff := cmp.Diff(before, names(t, first, "default", "twin")); diff != "" {
		t.Errorf("machines before and after the restart (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]string{first, second}, otherInstances(t)); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
}

func keyOf(t *testing.T, instance string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(everyone.home, "embedded", instance, "pki", "admin.key"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// otherInstances are the running instances of this test.
func otherInstances(t *testing.T) []string {
	t.Helper()
	var status struct {
		Data []struct {
			Name  string
			Ready bool
		}
	}
	if err := json.Unmarshal([]byte(cli(t, 0, "management", "status", "--all", "-o", "json").stdout), &status); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, instance := range status.Data {
		if instance.Ready && (instance.Name == "first" || instance.Name == "second") {
			names = append(names, instance.Name)
		}
	}
	return names
}
