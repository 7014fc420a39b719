//go:build real

package real_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const (
	conformanceTag = "[Conformance]"
	// atOnce is how many conformance tests run at the same time: most of them wait most of the time.
	atOnce = "8"
	// passed is how a report says of a test that it ran and did not fail.
	passed = "passed"
)

// TestConformance runs a part of the conformance tests of Kubernetes 1.36 on a cluster whose
// control plane is at 1.36: while one of two groups is still at 1.35, and after its upgrade.
func TestConformance(t *testing.T) {
	t.Parallel()
	chosen := readConformance(t)
	c := cluster{name: "conformance", version: "1.36", groups: []group{{name: "moves", version: "1.35"}, {name: "stays"}}}
	api := c.create(t)
	assertFacts(t, c, api)
	c.assertConforms(t, chosen)

	c.groups[0].version = ""
	upgradeAsPlanned(t, c)
	assertFacts(t, c, api)
	c.assertConforms(t, chosen)
	c.delete(t)
}

// conformance is what of the conformance tests runs here, by the names of the tests.
type conformance struct {
	Run     []string
	LeftOut []struct {
		Because string
		Tests   []string
	}
}

func readConformance(t *testing.T) conformance {
	t.Helper()
	text, err := os.ReadFile("testdata/conformance.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chosen conformance
	if err := yaml.UnmarshalStrict(text, &chosen); err != nil {
		t.Fatal(err)
	}
	return chosen
}

// assertConforms runs the chosen tests on the cluster as it is now. It fails unless each of
// them passed, and every other conformance test is known to be left out.
func (c cluster) assertConforms(t *testing.T, chosen conformance) {
	t.Helper()
	c.bringConformanceImages(t)
	begin := time.Now()
	specs := c.runConformance(t, chosen.Run)
	want, got := map[string]string{}, map[string]string{}
	for _, name := range chosen.Run {
		want[name] = passed
	}
	for _, left := range chosen.LeftOut {
		for _, name := range left.Tests {
			want[name] = "skipped"
		}
	}
	ran, slowest := 0, spec{}
	for _, s := range specs {
		if !strings.Contains(s.name(), conformanceTag) {
			continue
		}
		got[s.name()] = s.State
		if s.State != passed && s.Failure.Message != "" {
			t.Logf("%s: %s: %s", s.name(), s.State, s.Failure.Message)
		}
		if s.State == passed {
			ran++
		}
		if s.RunTime > slowest.RunTime {
			slowest = s
		}
	}
	t.Logf("%d of %d conformance tests passed in %s; the slowest took %s: %s",
		ran, len(got), time.Since(begin).Round(time.Second), slowest.RunTime.Round(time.Second), slowest.name())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what became of conformance tests (-want +got):\n%s", diff)
	}
}

// bringConformanceImages gives each machine the images of the pods of the tests.
func (c cluster) bringConformanceImages(t *testing.T) {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join(builtDir, "conformance", "images.tar"))
	if err != nil {
		t.Fatal(err)
	}
	machines, err := c.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range machines {
		if machine == c.name+"-lb" {
			continue
		}
		if err := importImages(t.Context(), machine, archive); err != nil {
			t.Fatal(err)
		}
	}
}

// spec is what a report of Ginkgo says of a test.
type spec struct {
	ContainerHierarchyTexts []string
	LeafNodeText, State     string
	RunTime                 time.Duration
	Failure                 struct{ Message string }
}

func (s spec) name() string {
	return strings.Join(append(slices.Clone(s.ContainerHierarchyTexts), s.LeafNodeText), " ")
}

// runConformance runs tests and returns what the report says, of all tests that there are.
func (c cluster) runConformance(t *testing.T, names []string) []spec {
	t.Helper()
	programs, err := filepath.Abs(filepath.Join(builtDir, "conformance", "bin"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	args := []string{"run", "--no-color", "--procs", atOnce, "--timeout", longest.String(), "--output-dir", dir, "--json-report", "report.json"}
	for _, name := range names {
		args = append(args, "--focus", regexp.QuoteMeta(name)+"$")
	}
	args = append(args, filepath.Join(programs, "e2e.test"), "--",
		"--kubeconfig", c.kubeconfig(t), "--kubectl-path", suite.kubectl, "--disable-log-dump", "--e2e-output-dir", dir)
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "ginkgo"), args...)
	cmd.Env = suite.environment()
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("ginkgo: %v", err) // the report says which tests failed
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var reports []struct{ SpecReports []spec }
	if err := json.Unmarshal(text, &reports); err != nil || len(reports) != 1 {
		t.Fatalf("%d reports of tests: %v", len(reports), err)
	}
	return reports[0].SpecReports
}
