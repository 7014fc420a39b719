package pages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestConstant replaces what varies, and nothing else.
func TestConstant(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`management cluster: embedded "default", https://127.0.0.1:20000`:                `management cluster: embedded "default", https://127.0.0.1:PORT`,
		"cluster default/demo is ready after 1m2s":                                       "cluster default/demo is ready after DURATION",
		"it is ready after 4.8s":                                                         "it is ready after DURATION",
		"✓ Cluster default/demo  Provisioned, created 10m ago":                           "✓ Cluster default/demo  Provisioned, created DURATION ago",
		"  16s  step 2 of 3: md-0 from v1.34.4 to v1.36.3":                               " DURATION  step 2 of 3: md-0 from v1.34.4 to v1.36.3",
		"1m17s  all steps are done":                                                      " DURATION  all steps are done",
		"default     demo   Provisioned   v1.35.4   1/1             2/2       -      9m": "default     demo   Provisioned   v1.35.4   1/1             2/2       -      DURATION",
		"     ✓ demo-md-0-wh2f5-67z67  v1.35.4  Running":                                 "     ✓ demo-md-0-RANDOM-RANDOM  v1.35.4  Running",
		"held by root@vm since 2026-11-23T00:06:44Z: until Friday":                       "held by USER since TIME: until Friday",
		// These stay.
		"cluster slow-group, step 2 of 3, 12 machines":                        "cluster slow-group, step 2 of 3, 12 machines",
		"DevMachineTemplate x.startupDuration: 1s -> 2s":                      "DevMachineTemplate x.startupDuration: 1s -> 2s",
		"waits at most 10m0s until md-0 is healthy":                           "waits at most 10m0s until md-0 is healthy",
		"0005-KubeadmConfigTemplate-demo-md-0-a4d549c154.yaml":                "0005-KubeadmConfigTemplate-demo-md-0-a4d549c154.yaml",
		"warning: cluster.yaml:6: spec.kubernetesVersion: something is wrong": "warning: cluster.yaml:6: spec.kubernetesVersion: something is wrong",
	} {
		if diff := cmp.Diff([]string{want}, constant([]string{line})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// TestMatch: "..." stands for any lines, and warnings of old minors come and go.
func TestMatch(t *testing.T) {
	t.Parallel()
	const old = "warning: f:6: spec.kubernetesVersion: Kubernetes 1.34 has been out of support since 2026-10-27 and gets no security fixes"
	for _, test := range []struct {
		page, output, merged string
		ok                   bool
	}{
		{"", "", "", true},
		{"a", "", "", false},
		{"", "a", "", false},
		{"a b", "a b", "a b", true},
		{"a b", "a", "", false},
		{"a", "a b", "", false},
		{"a ... c", "a b b c", "a ... c", true},
		{"a ... c", "a c", "a ... c", true},
		{"a ... c", "a b", "", false},
		{"...", "", "...", true},
		{"... b ...", "a b b c", "... b ...", true},
		{"... b c", "b b c", "... b c", true},
		{"... after_5s", "x after_7s", "... after_7s", true},
		{"W a", "a", "a", true},
		{"a", "W a", "W a", true},
		{"a", "a W", "a W", true},
	} {
		split := func(text string) []string {
			var all []string
			for _, word := range strings.Fields(text) {
				all = append(all, strings.ReplaceAll(strings.Replace(word, "W", old, 1), "after_", "after "))
			}
			return all
		}
		merged, ok := match(split(test.page), split(test.output))
		if diff := cmp.Diff(split(test.merged), merged, cmpopts.EquateEmpty()); diff != "" || ok != test.ok {
			t.Errorf("%q, %q: match is %t, want %t (-want +got):\n%s", test.page, test.output, ok, test.ok, diff)
		}
	}
}
