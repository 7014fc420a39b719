package e2e_test

import (
	"fmt"
	"regexp"
	"testing"
)

// TestRunsSideBySide: two runs take their own groups to the next version at the same
// time, without a class and with one. A run on the whole cluster that comes in between
// ends with 4, and says which run works on what.
func TestRunsSideBySide(t *testing.T) {
	t.Parallel()
	for namespace, class := range map[string]string{"beside": "", "beside-class": "name: inmemory"} {
		t.Run(namespace, func(t *testing.T) {
			t.Parallel()
			if class == "" {
				newNamespace(t, shared, namespace)
			} else {
				applyClass(t, namespace)
			}
			pinned := func(first, second string) string {
				return clusterSpec{name: "duo", version: "1.34", class: class, groups: []groupSpec{{name: "md-0", version: first}, {name: "md-1", version: second}}}.path(t)
			}
			cli(t, 0, "create", "cluster", "-n", namespace, "-f", pinned("1.32", "1.32"))
			made := observe(t, shared, namespace, "duo")
			old := namesOf(t, namespace, "duo", "md-0", "md-1")
			hold(t, namespace, old)
			upgrade := []string{"upgrade", "cluster", "-n", namespace}
			first := begin(t, append(upgrade, "-f", pinned("1.33", "1.32"), "--worker-node-groups", "md-0")...)
			first.until(t, "step 1 of 1: md-0 from v1.32.13 to v1.33.13")
			second := begin(t, append(upgrade, "-f", pinned("1.32", "1.33"), "--worker-node-groups", "md-1")...)
			second.until(t, "step 1 of 1: md-1 from v1.32.13 to v1.33.13")
			whole := cli(t, 4, append(upgrade, "-f", pinned("1.34", "1.34"), "--skip-preflight", "health")...)
			want := regexp.MustCompile(fmt.Sprintf(`\nerror: process \d+ on .+, started \S+ works on worker node group md-[01] of cluster %s/duo, at least until \d\d:\d\d:\d\d; wait until it is done, or take over its lock with --take-over\n$`, namespace))
			if !want.MatchString(whole.stderr) {
				t.Errorf("a run on the whole cluster says %q, want %s", whole.stderr, want)
			}
			release(t, namespace, old)
			for _, run := range []*running{first, second} {
				if r := run.end(t); r.code != 0 {
					t.Errorf("exit code %d: %s%s", r.code, r.stdout, r.stderr)
				}
			}
			if got := made(); got["md-0"] != 1 || got["md-1"] != 1 {
				t.Errorf("machines made: %v, want one of each group", got)
			}
		})
	}
}
