package e2e_test

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGetClusters lists clusters as kubectl does, and watches them come and go.
func TestGetClusters(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t, shared, "get-clusters")
	all := begin(t, "get", "clusters", "-n", namespace, "--watch")
	all.until(t, "no clusters in get-clusters\n")
	labelled := begin(t, "get", "cluster", "-n", namespace, "-l", "team=payments", "-w", "-o", "json")
	labelled.until(t, "no clusters in get-clusters with labels team=payments\n")

	cli(t, 0, "create", "cluster", "-n", namespace, "-f", specFile(t, "first", "1.34", "md-0=1.33"))
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", specFile(t, "second", "1.35", "md-0"), "--wait=false")
	kubectl(t, shared, nil, "label", "cluster", "first", "-n", namespace, "team=payments")
	labelled.prints(t, `"name":"first"`)
	kubectl(t, shared, nil, "label", "cluster", "first", "-n", namespace, "team-")
	labelled.prints(t, `"gone":true`)
	labelled.signal(t, syscall.SIGINT)
	assertWatched(t, labelled.end(t))

	listedClusters(t, namespace)
	cli(t, 0, "delete", "cluster", "first", "-n", namespace)
	cli(t, 0, "delete", "cluster", "second", "-n", namespace)
	all.prints(t, "second   Gone ")
	all.signal(t, syscall.SIGINT)
	assertRows(t, all.end(t))
}

// listedClusters lists two clusters in every format, and with every choice.
func listedClusters(t *testing.T, namespace string) {
	t.Helper()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-o", "name"}, "cluster/first\ncluster/second\n"},
		{[]string{"second", "first", "-o", "name"}, "cluster/second\ncluster/first\n"},
		{[]string{"-l", "clusterctl-x.io/cluster=second", "-o", "name"}, "cluster/second\n"},
		{[]string{"-l", "team=payments", "-o", "name"}, ""},
		{[]string{"-o", "jsonpath={.data[*].name}"}, "first second"},
		{[]string{"first", "-o", "jsonpath={.kind} {.data.controlPlane.version}"}, "Cluster v1.34.4"},
		{[]string{"-o", "go-template={{.kind}} {{len .data}}"}, "ClusterList 2"},
		{[]string{"-o", "custom-columns=CLUSTER:.name,VERSION:.controlPlane.version"}, "CLUSTER   VERSION\nfirst     v1.34.4\nsecond    v1.35.4\n"},
	} {
		if diff := cmp.Diff(test.want, cli(t, 0, append([]string{"get", "clusters", "-n", namespace}, test.args...)...).stdout); diff != "" {
			t.Errorf("get clusters %q (-want +got):\n%s", test.args, diff)
		}
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"get", "cluster", "-n", namespace, ""}, "first\nsecond\n:4\n"},
		{[]string{"get", "clusters", "-n", namespace, "first", ""}, "second\n:4\n"},
		{[]string{"describe", "cluster", "-n", namespace, "first", ""}, ":4\n"},
	} {
		if diff := cmp.Diff(test.want, cli(t, 0, append([]string{"__complete"}, test.args...)...).stdout); diff != "" {
			t.Errorf("completions of %q (-want +got):\n%s", test.args, diff)
		}
	}
	if namespaces := cli(t, 0, "__complete", "get", "clusters", "-n", "").stdout; !strings.Contains(namespaces, "default\n") || !strings.Contains(namespaces, "\n"+namespace+"\n") {
		t.Errorf("completions of namespaces: %s", namespaces)
	}
	wide := regexp.MustCompile(`^NAMESPACE +NAME +PHASE +VERSION +CONTROL PLANE +WORKERS +PINNED OR BEHIND +AGE +OLDEST WORKER +CLASS +OWNER +WAITING FOR
get-clusters +first +Provisioned +v1\.34\.4 +1/1 +1/1 +md-0 v1\.33\.13 +\S+ +v1\.33\.13 +- +clusterctl-x +-\n$`)
	if r := cli(t, 0, "get", "cluster", "first", "-n", namespace, "-o", "wide"); !wide.MatchString(r.stdout) {
		t.Errorf("get cluster -o wide does not match %s:\n%s", wide, r.stdout)
	}
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"third"}, "error: cluster get-clusters/third: not found; 'clusterctl-x get clusters -A' lists the ones there are\n"},
		{[]string{"third", "first", "fourth"}, "error: clusters get-clusters/third, get-clusters/fourth: not found; 'clusterctl-x get clusters -A' lists the ones there are\n"},
		{[]string{"third", "--watch"}, "error: cluster get-clusters/third: not found; 'clusterctl-x get clusters -A' lists the ones there are\n"},
	} {
		if r := cli(t, 3, append([]string{"get", "clusters", "-n", namespace}, test.names...)...); !strings.HasSuffix(r.stderr, test.want) {
			t.Errorf("get clusters %q says %q, want the end %q", test.names, r.stderr, test.want)
		}
	}
}

// interrupted is what is said at the end of a watch.
const interrupted = "watching changes nothing, and the clusters continue without it"

// assertWatched compares what was written of a cluster that got a label and lost it.
func assertWatched(t *testing.T, r result) {
	t.Helper()
	if r.code != 130 || !strings.Contains(r.stderr, interrupted) {
		t.Errorf("the watch ended with code %d: %s", r.code, r.stderr)
	}
	type event struct {
		Kind string
		Data struct {
			Name string
			Gone bool
		}
	}
	var got []event
	for line := range strings.Lines(r.stdout) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	first, last := event{Kind: "Cluster"}, event{Kind: "Cluster"}
	first.Data.Name, last.Data.Name, last.Data.Gone = "first", "first", true
	if diff := cmp.Diff([]event{first, last}, []event{got[0], got[len(got)-1]}); diff != "" {
		t.Errorf("first and last event (-want +got):\n%s", diff)
	}
}

// assertRows looks whether each cluster came and went, and has no row twice in a row.
func assertRows(t *testing.T, r result) {
	t.Helper()
	if r.code != 130 || !strings.Contains(r.stderr, interrupted) {
		t.Errorf("the watch ended with code %d: %s", r.code, r.stderr)
	}
	phases, last := map[string][]string{}, map[string]string{}
	for line := range strings.Lines(r.stdout) {
		cells := strings.Fields(line)
		name, phase, row := cells[1], cells[2], strings.Join(cells[:len(cells)-1], " ") // without the age
		if last[name] == row {
			t.Errorf("a row that was the last one already: %s", line)
		}
		last[name] = row
		if before := phases[name]; len(before) == 0 || before[len(before)-1] != phase {
			phases[name] = append(before, phase)
		}
	}
	for _, name := range []string{"first", "second"} {
		if got := phases[name]; len(got) < 3 || got[len(got)-1] != "Gone" || got[len(got)-2] != "Deleting" {
			t.Errorf("cluster %s had the phases %q, of which the last are to be Deleting and Gone:\n%s", name, got, r.stdout)
		}
	}
	if strings.Count(r.stdout, "NAMESPACE") != 1 {
		t.Errorf("not one header:\n%s", r.stdout)
	}
}

// prints waits until clusterctl-x has written something to stdout.
func (r *running) prints(t *testing.T, text string) {
	t.Helper()
	until(t, "it prints "+text, func(context.Context) bool {
		if r.hasEnded() {
			t.Fatalf("it ended with code %d: %s%s", r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String())
		}
		return strings.Contains(r.stdout.String(), text)
	})
}
