package e2e_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tier names the tests that one make target runs.
type tier string

const (
	core tier = "core" // make test: one test for each mode and mechanism
	full tier = "full" // make e2e: all others
	long tier = "soak" // make soak: loops and kills
)

// tiers assigns every test to one tier and says what it proves.
func tiers() map[tier]map[string]string {
	return map[tier]map[string]string{
		core: {
			"TestEveryTestIsInOneTier":                   "this table",
			"TestQuickstart":                             "without a class: create, describe, kubeconfig, delete",
			"TestFirstPage":                              "docs/tasks/first-cluster.md, followed literally",
			"TestCollectors":                             "objects go with their owner and their namespace",
			"TestLibraryExample":                         "without a class: create and upgrade through the Go API",
			"TestManifestsGiveTheSameCluster":            "without a class: manifests and kubectl in the place of create",
			"TestUpgradeAroundAPinnedGroup":              "without a class: upgrade by patches and minors, with a pinned group",
			"TestUpgradeStoppedAndResumed":               "without a class: timeout, interrupt, kill, two runs at once",
			"TestRunsSideBySide":                         "without and with a class: two runs on their own groups at once",
			"TestHoldsWithoutClass":                      "without a class: holds at every point",
			"TestClassLifecycle":                         "with a class: dry run, create, kill, delete, what clusters use",
			"TestClassUpgradeWithOneMinorOfLag":          "with a class: upgrade by two minors, workers in between",
			"TestIndependentWorkerVersions":              "with a class: pins: detach, upgrade around, raise, return",
			"TestRuntimeExtension":                       "with a class: plans and holds by the runtime extension",
			"TestEveryRenderedDocumentIsAccepted":        "API server: samples and goldens",
			"TestWhatValidateAcceptsTheAPIServerAccepts": "API server: random specs",
			"TestRandomSpecIsReproducible":               "the generator of random specs",
			"TestGuardrails":                             "guardrails: every rule",
			"TestGuardrailsLetClustersMove":              "guardrails: clusterctl move",
			"TestGuardrailsFiles":                        "guardrails: what is printed is what is installed",
		},
		full: {
			"TestTerminal":                            "an upgrade in terminals of three widths, resized, ended in every way",
			"TestApply":                               "apply, diff, exit codes, saved plans, removals",
			"TestDeleteManagementClusterIsRefused":    "delete of a cluster that manages others",
			"TestCreateInterruptedAndTimedOut":        "without a class: create stopped and continued",
			"TestLeastPrivileges":                     "'generate rbac' is enough, and --read-only for who reads and plans; without a class: create on a cluster that differs, a name used twice",
			"TestFieldsActOnTheCluster":               "fields of the spec that end in a running cluster",
			"TestModularUpgrades":                     "without a class: stories of modular upgrades",
			"TestReferenceExample":                    "the example of EKS Anywhere's design, at 1.26 and 1.25",
			"TestBisDoneBeforeA":                      "without a class: groups do not wait for each other",
			"TestUpgradeAcrossFourMinors":             "without a class: four minors, three control plane machines",
			"TestUpgradeByManifests":                  "without a class: every step by kubectl",
			"TestUpgradeRefused":                      "without a class: preflight checks, saved plans, conflicts",
			"TestContainerEngine":                     "a cluster of containers without an engine for them: refused, nothing written",
			"TestUpgradeWaitsForALostMachine":         "without a class: a worker machine lost while the control plane rolls",
			"TestFieldOwners":                         "without a file: objects of Flux, Argo CD, Rancher Fleet and kubectl, and one put back in the middle",
			"TestGitWay":                              "without a file: every step a commit, applied as Flux would",
			"TestUpgradeDisturbed":                    "without a class: two upgrades, edits by hand",
			"TestUpgradeOutlivesTheManagementCluster": "without a class: restarts of API server and controllers",
			"TestHoldNobodyKeeps":                     "with a class: holds without the runtime extension",
			"TestClassByManifests":                    "with a class: manifests and kubectl in the place of create",
			"TestClassChange":                         "with a class: a changed class",
			"TestBrokenUsesOfAClass":                  "with a class: every refusal, with place and remedy",
			"TestClusterClassStories":                 "with a class: stories of managed topologies",
			"TestClassUpgradeAcrossFourMinors":        "with a class: four minors",
			"TestClassWithoutVersions":                "with a class that names no versions",
			"TestClassUpgradeOfTwoGroupsAtOnce":       "with a class: two groups at once",
			"TestClassUpgradeStoppedAndResumed":       "with a class: timeout, interrupt, retarget, two runs at once",
			"TestClassVersionsExtended":               "with a class: versions added on the way",
			"TestClassDeferAndHold":                   "with a class: deferUpgrade, holdUpgradeSequence",
			"TestOtherControlPlaneProvider":           "with a class: a control plane that is not kubeadm's",
			"TestControlPlanesByContract":             "without a file: RKE2, K0s, Talos and EKS by their own fields",
			"TestSameMachinesWithAndWithoutClass":     "both modes make the same machines",
			"TestPins":                                "with a class: pins from the beginning, refusals, chained upgrades",
			"TestPinsOfAVersionAwareClass":            "with a class whose machines differ by version: pins",
			"TestPinsThatClusterAPITakes":             "with a class: versions of groups as a field of Cluster API",
			"TestPinKilled":                           "with a class: a kill in the middle of detach and return",
			"TestFailures":                            "the embedded management cluster breaks and recovers",
			"TestBackupAndRestore":                    "backup and restore, with and without a class, encrypted, killed in each phase; upgrades go on",
			"TestRemoveRefused":                       "an embedded management cluster with real machines is not removed",
			"TestTwoInstances":                        "two embedded management clusters side by side",
			"TestSimulator":                           "the simulator of infrastructure that other tests use, and a provider that is a folder of data and CRDs",
			"TestGetClusters":                         "get clusters: names, labels, formats, watch",
			"TestImport":                              "clusters that kubectl made, in seven shapes: imported, adopted, upgraded by the file",
			"TestAnyInfrastructure":                   "the generic kind with in-memory objects written by hand: create, upgrade and delete as provider inmemory",
			"TestProviderLives":                       "providers aws and gcp: a refusal by a webhook, create, upgrade over four minors with images by version, one missing, delete; a cluster of AWS's template imported, adopted and upgraded by new templates",
			"TestProviderWebhooks":                    "the kinds and webhooks of AWS and GCP: what they accept, fill in and refuse",
			"TestMachinePool":                         "a MachinePool of a cluster that kubectl made: upgraded without a file over three minors, pinned, imported and left alone",
			"TestVersionOnly":                         "clusters of seven shapes that kubectl made: upgrades without a file over three minors, with a pinned group, by a saved plan, killed, held, with images; what they write and what they leave alone",
			"TestPages":                               "README.md and the other pages of docs/tasks, followed literally",
		},
		long: {
			"TestMove":                         "a cluster moves to another management cluster and back, stopped after every few writes",
			"TestManySpecsThatValidateAccepts": "API server: 500 random specs",
			"TestPinKilledEverywhere":          "with a class: a kill between each two writes of detach and return",
		},
	}
}

// chooseTests has the tests of one tier run, unless -run names tests, of whichever
// tier.
func chooseTests() error {
	chosen := flag.String("tier", string(core), "the tests to run: core, full or soak; -run names tests of any tier")
	flag.Parse()
	run := flag.Lookup("test.run").Value
	if run.String() != "" {
		return nil
	}
	tests, ok := tiers()[tier(*chosen)]
	if !ok {
		return fmt.Errorf("-tier=%s: there is no such tier", *chosen)
	}
	return run.Set("^(" + strings.Join(slices.Sorted(maps.Keys(tests)), "|") + ")$")
}

// TestEveryTestIsInOneTier: no test is left out of all commands, or run by two.
func TestEveryTestIsInOneTier(t *testing.T) {
	t.Parallel()
	want := map[string]int{}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range files {
		if !strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
				want[f.Name.Name] = 1
			}
		}
	}
	got := map[string]int{}
	for _, tests := range tiers() {
		for name := range tests {
			got[name]++
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tiers of tests (-tests +table in tiers_test.go):\n%s", diff)
	}
}
