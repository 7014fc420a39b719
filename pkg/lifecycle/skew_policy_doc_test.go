package lifecycle

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

const skewPolicyDoc = "../../docs/skew-policy.md"

// skewRow is a row of the tables in docs/skew-policy.md.
type skewRow struct {
	name string
	// The control plane and the workers now, and as they are to be.
	from, fromWorkers, to, toWorkers string
	maxLag                           string // only in tables with such a column
	there, here, what                string
}

// inputs are what the row says of the references and not of clusterctl-x.
func (r skewRow) inputs() string {
	return strings.Join([]string{r.from, r.fromWorkers, r.to, r.toWorkers, r.there}, " | ")
}

// skewRows reads the tables.
func skewRows(t *testing.T) []skewRow {
	t.Helper()
	data, err := os.ReadFile(skewPolicyDoc)
	if err != nil {
		t.Fatal(err)
	}
	var rows []skewRow
	var columns []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			columns = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		if cells[0] == "case" {
			columns = cells
			continue
		}
		if columns == nil || strings.HasPrefix(cells[0], "---") {
			continue // another table, or the line below the heading
		}
		if len(cells) != len(columns) {
			t.Fatalf("the row has %d cells, and its table %d columns: %s", len(cells), len(columns), line)
		}
		row := skewRow{maxLag: "none", there: "-"}
		for i, column := range columns {
			field, known := map[string]*string{
				"case": &row.name, "control plane": &row.from, "workers": &row.fromWorkers, "to control plane": &row.to, "to workers": &row.toWorkers,
				"maxWorkerVersionSkew": &row.maxLag, "there": &row.there, "here": &row.here, "what happens": &row.what, "why": new(string),
			}[column]
			if !known {
				t.Fatalf("no row has a column %q", column)
			}
			*field = cells[i]
		}
		rows = append(rows, row)
	}
	return rows
}

// everyMinor has the first patch of each minor from 1.24 to 1.40.
func everyMinor(t *testing.T) *versionsbundle.Bundles {
	t.Helper()
	bundles, err := versionsbundle.Parse("bundles.yaml", config.Bundles)
	if err != nil {
		t.Fatal(err)
	}
	like := bundles.Releases()[0]
	all := &versionsbundle.Bundles{}
	for minor := uint64(24); minor <= 40; minor++ {
		release := like
		release.Version = v1alpha1.MustParseVersion(fmt.Sprintf("v1.%d.0", minor))
		all.Spec.VersionsBundles = append(all.Spec.VersionsBundles, versionsbundle.VersionsBundle{
			KubeVersion: v1alpha1.Minor{Major: 1, Minor: minor}, Releases: []versionsbundle.Release{release},
		})
	}
	return all
}

// What stands in the cells of versions.
const (
	asNew   = "new"     // there is none yet
	follows = "follows" // it has no version of its own
)

// skewWorkers splits the cell of workers into groups: "1.31 and 1.34".
func skewWorkers(cell string) []string { return strings.Split(cell, " and ") }

func skewGroup(i int) string { return fmt.Sprintf("md-%d", i) }

// spec is the file that the row asks for. Its text is what a user would write.
func (r skewRow) spec(t *testing.T) Spec {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: clusterctl-x.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: prod\nspec:\n  kubernetesVersion: %q\n", r.to)
	b.WriteString("  controlPlaneConfiguration:\n    count: 3\n  workerNodeGroupConfigurations:\n")
	for i, cell := range skewWorkers(r.toWorkers) {
		version, machines := skewMachines(t, cell)
		fmt.Fprintf(&b, "  - name: %s\n    count: %d\n", skewGroup(i), machines)
		if version != follows {
			fmt.Fprintf(&b, "    kubernetesVersion: %q\n", version)
		}
	}
	if r.maxLag != "none" {
		fmt.Fprintf(&b, "  upgradePolicy:\n    maxWorkerVersionSkew: %s\n", r.maxLag)
	}
	b.WriteString("  clusterNetwork:\n    pods:\n      cidrBlocks: [192.168.0.0/16]\n    services:\n      cidrBlocks: [10.96.0.0/12]\n")
	b.WriteString("  datacenterRef:\n    kind: InMemoryDatacenterConfig\n    name: prod\n")
	data := []byte(b.String())
	return ReadSpec("cluster.yaml", data, providers.BuiltIn(), everyMinor(t))
}

// skewMachines splits "1.31, 5 machines"; there are three where none are told.
func skewMachines(t *testing.T, cell string) (version string, machines int) {
	t.Helper()
	version, count, told := strings.Cut(cell, ", ")
	if !told {
		return version, 3
	}
	machines, err := strconv.Atoi(strings.TrimSuffix(count, " machines"))
	if err != nil {
		t.Fatal(err)
	}
	return version, machines
}

// skewPart is a part as it runs: "1.31", or "1.31 to 1.32" in the middle of a
// rollout, with one of three machines replaced.
func skewPart(cell, controlPlane string) plan.Part {
	if cell == follows {
		cell = controlPlane
	}
	at := func(minor string) v1alpha1.Version { return v1alpha1.MustParseVersion(minor + ".0") }
	oldest, version, underWay := strings.Cut(cell, " to ")
	if !underWay {
		return plan.Part{Version: at(cell), Oldest: at(cell), Machines: 3, Fresh: 3}
	}
	return plan.Part{Version: at(version), Oldest: at(oldest), Machines: 3, Outdated: 2, Fresh: 1}
}

// outcome is what clusterctl-x makes of the row.
func (r skewRow) outcome(t *testing.T) (here, what string) {
	t.Helper()
	s := r.spec(t)
	if r.from == asNew {
		if _, err := s.Validate(); err != nil {
			return fmt.Sprintf("no (%d)", exitCodeOf(err)), err.Error()
		}
		return "yes", "it is created"
	}
	start := plan.Start{ControlPlane: skewPart(r.from, ""), WorkerNodeGroups: map[string]plan.Part{}}
	for i, cell := range skewWorkers(r.fromWorkers) {
		start.WorkerNodeGroups[skewGroup(i)] = skewPart(cell, r.from)
	}
	p, err := prepare(t.Context(), s, current{start: start, running: start.Versions()}, unchanged(), UpgradeOptions{}, Options{})
	if err != nil {
		return fmt.Sprintf("no (%d)", exitCodeOf(err)), err.Error()
	}
	steps := []string{}
	for _, step := range p.Plan.Steps {
		steps = append(steps, skewStep(step, len(start.WorkerNodeGroups)))
	}
	if len(steps) == 0 {
		return "yes", "nothing to do"
	}
	return "yes", strings.Join(steps, ", then ")
}

// exitCodeOf is that of the command for an error of the rules: 2 where the file is wrong,
// and 3 where the cluster cannot go there.
func exitCodeOf(err error) int {
	var problems strictyaml.Problems
	var impossible *plan.NoPlanError
	switch {
	case errors.As(err, new(validations.Refused)), errors.As(err, &impossible):
		return 3
	case errors.As(err, &problems):
		return 2
	default:
		return 1
	}
}

// skewStep is a step in a few words.
func skewStep(step plan.Step, groups int) string {
	short := func(v v1alpha1.Version) string { return v.Minor().String() }
	text := "control plane " + short(step.To)
	var moves []string
	for _, group := range step.WorkerNodeGroups {
		name, what := group.Name, short(group.To)
		if groups == 1 {
			name = "workers"
		}
		if step.Kind == plan.InPlace {
			what = "scaled"
		}
		moves = append(moves, name+" "+what)
	}
	if len(moves) > 0 {
		text = strings.Join(moves, " and ")
	}
	switch {
	case step.UnderWay:
		text += " (under way)"
	case step.Concurrent:
		text += " at once"
	}
	return text
}

var quoted = regexp.MustCompile("^`([^`]+)`$")

// TestSkewPolicyDoc takes each row of docs/skew-policy.md as a cluster and a
// file: clusterctl-x plans what the row says, or refuses it with these words.
func TestSkewPolicyDoc(t *testing.T) {
	t.Parallel()
	for _, row := range skewRows(t) {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			here, what := row.outcome(t)
			if message := quoted.FindStringSubmatch(row.what); message != nil && here != "yes" {
				if !strings.Contains(what, message[1]) {
					t.Errorf("it is refused with other words than\n%s\nwhich are\n%s", message[1], what)
				}
				what = row.what
			}
			if diff := cmp.Diff([]string{row.here, row.what}, []string{here, what}); diff != "" {
				t.Errorf("outcome (-document +got):\n%s", diff)
			}
		})
	}
}

// TestSkewPolicyDocHasEveryCase: the examples and rules of the two references
// stand in the document as the references have them, and nothing else does.
func TestSkewPolicyDocHasEveryCase(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	for _, row := range skewRows(t) {
		if _, twice := got[row.name]; twice {
			t.Errorf("two rows are called %s", row.name)
		}
		got[row.name] = row.inputs()
	}
	if diff := cmp.Diff(skewCases(), got); diff != "" {
		t.Errorf("rows (-references +document):\n%s", diff)
	}
}

// skewCases are the cases of the document: control plane and workers now, both
// as they are to be, and what the reference answers. "-" is no answer.
func skewCases() map[string]string {
	return map[string]string{
		"both 1": "1.31 | 1.31 | 1.32 | 1.32 | yes",
		"both 2": "1.31 | 1.32 | 1.32 | 1.33 | yes",
		"both 3": "1.32 | 1.31 | 1.33 | 1.32 | no",
		"both 4": "1.31 | 1.31 | 1.33 | 1.32 | no",
		"both 5": "1.32 | 1.32 | 1.31 | 1.31 | no",
		"both 6": "1.31 | 1.32 | 1.31 | 1.33 | no",

		"both 2, at most": "1.31 | 1.32 | 1.32 | 1.32 | -",
		"both 2, farther": "1.31 | 1.32 | 1.33 | 1.33 | -",

		"control plane with control plane":             "1.31 | 1.31 | 1.33 | 1.31 | no",
		"workers with workers":                         "1.34 | 1.31 | 1.34 | 1.34 | no",
		"control plane with incoming workers":          "1.31 | 1.31 | 1.34 | 1.34 | no",
		"incoming control plane with workers":          "1.33 | 1.31 | 1.34 | 1.33 | no",
		"incoming control plane with workers, too far": "1.34 | 1.31 | 1.35 | 1.34 | no",

		"no downgrade of workers":                            "1.32 | 1.32 | 1.32 | 1.31 | no",
		"no downgrade of the control plane":                  "1.32 | 1.31 | 1.31 | 1.31 | no",
		"at most two: 1.30 with 1.28":                        "new | new | 1.30 | 1.28 | yes",
		"at most two: 1.30 with 1.27":                        "new | new | 1.30 | 1.27 | no",
		"at most two: 1.31 with 1.27":                        "new | new | 1.31 | 1.27 | no",
		"at most two: 1.27 with 1.24":                        "new | new | 1.27 | 1.24 | no",
		"1.30 rejects workers at 1.33":                       "1.30 | 1.30 | 1.30 | 1.33 | no",
		"1.28 accepts workers at 1.28":                       "1.28 | 1.28 | 1.28 | 1.28 | yes",
		"1.28 accepts workers at 1.29":                       "1.28 | 1.28 | 1.28 | 1.29 | yes",
		"1.28 accepts workers at 1.30":                       "1.28 | 1.28 | 1.28 | 1.30 | yes",
		"any downgrade of workers":                           "1.30 | 1.30 | 1.30 | 1.29 | no",
		"existing behaviour":                                 "1.31 | follows | 1.32 | follows | yes",
		"a version for the first time, as it runs":           "1.31 | follows | 1.32 | 1.31 | yes",
		"a version for the first time, newer":                "1.32 | 1.31 | 1.32 | 1.32 | yes",
		"cluster version that a pin allows":                  "1.31 | 1.31 | 1.32 | 1.31 | yes",
		"cluster version that a pin forbids":                 "1.31 | 1.31 | 1.35 | 1.31 | no",
		"chained upgrade within a pin's skew":                "1.31 | 1.31 | 1.33 | 1.31 | yes",
		"chained upgrade beyond two":                         "1.31 | 1.31 | 1.34 | 1.31 | no",
		"cluster version while workers upgrade":              "1.34 | 1.31 to 1.34 | 1.35 | 1.34 | no",
		"skew between groups":                                "1.34 | 1.31 and 1.33 | 1.34 | 1.31 and 1.34 | -",
		"back to the cluster version, same version":          "1.31 | 1.31 | 1.31 | follows | yes",
		"back to the cluster version, behind it":             "1.31 | 1.30 | 1.31 | follows | no",
		"upgrade that failed half-way":                       "1.31 to 1.32 | 1.31 | 1.32 | 1.32 | yes",
		"workers under way when the cluster version changes": "1.32 | 1.31 to 1.32 | 1.33 | 1.32 | yes",
		"scaled while the control plane upgrades":            "1.31 to 1.32 | 1.31 | 1.32 | 1.31, 5 machines | yes",
		"scaled while another group upgrades":                "1.32 | 1.31 to 1.32 and 1.31 | 1.32 | 1.32 and 1.31, 5 machines | yes",

		"its example":                                   "new | new | 1.26 | follows and 1.25 | yes",
		"without its own version":                       "1.31 | follows | 1.32 | follows | yes",
		"control plane alone":                           "1.31 | 1.31 | 1.32 | 1.31 | yes",
		"one group alone":                               "1.32 | 1.31 and 1.31 | 1.32 | 1.32 and 1.31 | yes",
		"top level two above the oldest group":          "1.32 | 1.31 | 1.33 | 1.31 | yes",
		"top level three above the oldest group":        "1.33 | 1.31 | 1.34 | 1.31 | no",
		"top level four above the oldest group":         "1.34 | 1.31 | 1.35 | 1.31 | no",
		"top level by one":                              "1.31 | follows | 1.32 | follows | yes",
		"top level by two":                              "1.31 | follows | 1.33 | follows | no",
		"group by one":                                  "1.33 | 1.31 | 1.33 | 1.32 | yes",
		"group by two":                                  "1.33 | 1.31 | 1.33 | 1.33 | no",
		"group down":                                    "1.32 | 1.32 | 1.32 | 1.31 | no",
		"its version removed, one behind":               "1.32 | 1.31 | 1.32 | follows | yes",
		"its version removed, two behind":               "1.33 | 1.31 | 1.33 | follows | no",
		"its version removed, and the top level by one": "1.32 | 1.31 | 1.33 | follows | no",

		"four minors, following":             "1.31 | follows | 1.35 | follows | -",
		"a pin far behind":                   "1.31 | 1.28 | 1.35 | 1.33 | -",
		"at most one":                        "1.31 | follows | 1.33 | follows | -",
		"at most two":                        "1.33 | 1.31 | 1.34 | 1.33 | -",
		"at most two, at create":             "new | new | 1.30 | 1.27 | -",
		"at most one, and too old already":   "1.33 | 1.31 | 1.33 | 1.32 | -",
		"too old already":                    "1.34 | 1.29 | 1.35 | follows | -",
		"too old already, and it is to stay": "1.34 | 1.30 | 1.34 | 1.30 | -",
		"ahead already":                      "1.31 | 1.33 | 1.33 | 1.33 | -",
	}
}
