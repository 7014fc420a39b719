package management

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine/enginetest"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// TestEndOfARun: the record has who did what, and how it ended, by the clock of the
// options; nothing is written about a run that it does not have.
func TestEndOfARun(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 23, 1, 2, 3, 4_567_890, time.UTC)
	p := plan.Plan{
		From: enginetest.Versions("v1.34.1", "md-0", "v1.33.1", "md-1", "v1.33.1", "old", "v1.33.1"),
		To:   enginetest.Versions("v1.34.1", "md-0", "v1.34.1", "md-1", "v1.33.1", "new", "v1.34.1"), Steps: make([]plan.Step, 3),
	}
	started := state.Run{
		Command: "upgrade cluster", User: "jane", Began: began.Truncate(time.Millisecond), Parts: []string{"md-0"}, Steps: 3,
		From: v1alpha1.ClusterVersions{WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": v1alpha1.MustParseVersion("v1.33.1"), "old": v1alpha1.MustParseVersion("v1.33.1")}},
		To:   v1alpha1.ClusterVersions{WorkerNodeGroups: map[string]v1alpha1.Version{"md-0": v1alpha1.MustParseVersion("v1.34.1"), "new": v1alpha1.MustParseVersion("v1.34.1")}},
	}
	ended := func(result state.RunResult, reason string) state.Run {
		run := started
		run.Ended, run.Result, run.Reason = began.Add(time.Minute).Truncate(time.Millisecond), result, reason
		return run
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithDeadlineCause(t.Context(), time.Unix(0, 0), ErrTimeout)
	defer cancel()
	for name, test := range map[string]struct {
		ctx    context.Context
		result state.RunResult // before
		err    error
		want   state.Run
	}{
		"done":                          {t.Context(), "", nil, ended("Done", "")},
		"left":                          {t.Context(), state.RunLeft, nil, ended("Left", "")},
		"failed":                        {t.Context(), state.RunLeft, errors.New("no room\x1b[31m;\n  spec.token: s3cret"), ended("Failed", "no room [31m;")},
		"interrupted":                   {stopped, state.RunLeft, fmt.Errorf("interrupted while waiting (%w)", context.Canceled), ended("Interrupted", "interrupted while waiting (context canceled)")},
		"interrupted while it waited":   {stopped, state.RunLeft, interrupted{}, ended("Interrupted", "")},
		"--timeout":                     {late, state.RunLeft, fmt.Errorf("%w waiting", ErrTimeout), ended("Interrupted", "timed out waiting")},
		"the API server did not answer": {t.Context(), "", fmt.Errorf("%w: no answer", ErrTimeout), ended("Failed", "timed out: no answer")},
		"its lock was taken over":       {t.Context(), "", &LockedError{Lost: true}, started},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var world records
			c := world.client()
			clock := testingclock.NewFakeClock(began)
			c.options.Clock = clock
			run := c.runOf(test.ctx, "upgrade cluster", p, []string{"md-0"})
			world.change(t, func(before Record) Record { return before.with(run) })
			clock.Step(time.Minute)
			run.Result = test.result
			c.endRun(test.ctx, clusterKey(), run, test.err, func(text string) { t.Error(text) })
			if diff := cmp.Diff([]state.Run{test.want}, world.read(t).Runs, cmpopts.EquateComparable(v1alpha1.Version{}), cmpopts.IgnoreFields(state.Run{}, "Client")); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
			writes := len(world.writes)
			clock.Step(time.Second)
			c.endRun(t.Context(), clusterKey(), c.runOf(test.ctx, "upgrade cluster", p, nil), nil, func(text string) { t.Error(text) })
			if len(world.writes) != writes {
				t.Errorf("of a run that the record does not have: %s", world.writes[writes:])
			}
		})
	}
}

// TestEndThatCannotBeWritten is a warning.
func TestEndThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	var world records
	c := world.client()
	run := c.newRun(t.Context(), "upgrade cluster")
	world.change(t, func(before Record) Record { return before.with(run) })
	world.before = func(string) error { return errors.New("no room") }
	var warnings []string
	c.endRun(t.Context(), clusterKey(), run, nil, func(text string) { warnings = append(warnings, text) })
	want := []string{"the history of cluster ns/c lacks the end of this run: writing the record of cluster ns/c: no room"}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestRunsAreBounded: the newest runs are kept, as many as the ConfigMap has room for.
func TestRunsAreBounded(t *testing.T) {
	t.Parallel()
	numbered := func(i int) state.Run { return state.Run{Client: fmt.Sprint(i), Began: time.Unix(int64(i), 0).UTC()} }
	var record Record
	for i := range 60 {
		record = record.with(numbered(i)).with(numbered(i))
	}
	if first, last := record.Runs[0].Client, record.Runs[len(record.Runs)-1].Client; len(record.Runs) != 50 || first != "10" || last != "59" {
		t.Errorf("%d runs from %s to %s, want 50 from 10 to 59", len(record.Runs), first, last)
	}
	var world records
	for i := range 6 {
		run := numbered(i)
		run.Reason = fmt.Sprintf("%x", randomBytes(t, 150_000))
		world.change(t, func(before Record) Record { return before.with(run) })
	}
	var kept []string
	for _, run := range world.read(t).Runs {
		kept = append(kept, run.Client)
	}
	size := len(world.objects["ConfigMap"].(*corev1.ConfigMap).BinaryData["record"])
	if len(kept) == 0 || len(kept) == 6 || kept[len(kept)-1] != "5" || size > maxPacked {
		t.Errorf("runs %s in %d bytes", kept, size)
	}
}

func randomBytes(t *testing.T, count int) []byte {
	t.Helper()
	data := make([]byte, count)
	if _, err := rand.Read(data); err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRunsOutliveAnOlderClusterctlX: it knows no runs, and loses none.
func TestRunsOutliveAnOlderClusterctlX(t *testing.T) {
	t.Parallel()
	var world records
	run := state.Run{Client: "process 1", Command: "create cluster"}
	world.change(t, func(before Record) Record { return before.with(run) })
	world.old(t, `{"schemaVersion":1,"spec":"y"}`)
	compareRecords(t, "record", Record{Spec: "y", Runs: []state.Run{run}}, world.read(t))
}

// TestUser: the management cluster knows who asks, else the kubeconfig says it.
func TestUser(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "of the certificate"}}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	tls := rest.TLSClientConfig{
		CertData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
		KeyData:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
	unknown := clientOf(interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return errors.New("the server could not find the requested resource")
	}})
	for want, config := range map[string]*rest.Config{
		"":                    {BearerToken: "x"},
		"of the certificate":  {TLSClientConfig: tls},
		"of the password":     {Username: "of the password", TLSClientConfig: tls},
		"who is impersonated": {Username: "x", Impersonate: rest.ImpersonationConfig{UserName: "who is impersonated"}},
	} {
		unknown.config = config
		if got := unknown.user(t.Context()); got != want {
			t.Errorf("user is %q, want %q", got, want)
		}
	}
	var world records
	if got := world.client().user(t.Context()); got != "jane" {
		t.Errorf("user is %q, want jane", got)
	}
}

// TestEvents: those that clusterctl-x wrote about the cluster, in the order of time.
func TestEvents(t *testing.T) {
	t.Parallel()
	var asked []string
	at := func(minute int, component, message string) corev1.Event {
		return corev1.Event{
			Source: corev1.EventSource{Component: component}, Reason: "UpgradeStepDone", Message: message,
			LastTimestamp: metav1.NewTime(time.Date(2026, 11, 23, 1, minute, 0, 0, time.UTC)),
		}
	}
	c := clientOf(interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		var all client.ListOptions
		all.ApplyOptions(options)
		asked = append(asked, all.Namespace+" "+all.FieldSelector.String())
		list.(*corev1.EventList).Items = []corev1.Event{at(9, "clusterctl-x", "second"), at(8, "cluster-controller", "other"), at(7, "clusterctl-x", "first")}
		return nil
	}})
	got, err := c.Events(t.Context(), state.Cluster{Namespace: "ns", Name: "c", UID: "uid"})
	if err != nil {
		t.Fatal(err)
	}
	want := []state.Event{
		{Time: time.Date(2026, 11, 23, 1, 7, 0, 0, time.UTC), Reason: "UpgradeStepDone", Message: "first"},
		{Time: time.Date(2026, 11, 23, 1, 9, 0, 0, time.UTC), Reason: "UpgradeStepDone", Message: "second"},
	}
	if diff := cmp.Diff(want, got); diff != "" || strings.Join(asked, ",") != "ns involvedObject.uid=uid" {
		t.Errorf("asked for %s; Events (-want +got):\n%s", asked, diff)
	}
}

// TestRecordOfACreation: the run that creates something is part of the history, and one that
// finds everything there is not; neither loses earlier runs.
func TestRecordOfACreation(t *testing.T) {
	t.Parallel()
	earlier, now := state.Run{Client: "process 1"}, state.Run{Client: "process 2"}
	for name, test := range map[string]struct {
		created []changes.Change
		want    []state.Run
	}{
		"something is created": {[]changes.Change{{Object: "Cluster/c", Action: changes.Added}}, []state.Run{earlier, now}},
		"all is there":         {nil, []state.Run{earlier}},
	} {
		var world records
		world.change(t, func(before Record) Record { return before.with(earlier) })
		w := creating{Client: world.client(), key: clusterKey(), record: Record{Spec: "x"}, run: now}
		if err := w.Begin(t.Context(), test.created); err != nil {
			t.Fatal(err)
		}
		compareRecords(t, name, Record{Spec: "x", Runs: test.want}, world.read(t))
	}
}

// TestTwoRunsAtOnce: runs on groups of one cluster have an entry each, in the order in which
// they began, and each keeps its own end.
func TestTwoRunsAtOnce(t *testing.T) {
	t.Parallel()
	var world records
	c := world.client()
	first, second := state.Run{Client: "process 1", Parts: []string{"a"}}, state.Run{Client: "process 2", Parts: []string{"b"}}
	world.change(t, func(before Record) Record { return before })
	world.before = func(string) error {
		world.before = nil
		world.change(t, func(before Record) Record { return before.with(second) })
		return nil
	}
	world.change(t, func(before Record) Record { return before.with(first) })
	c.endRun(t.Context(), clusterKey(), second, nil, func(text string) { t.Error(text) })
	var got []string
	for _, run := range world.read(t).Runs {
		got = append(got, fmt.Sprintf("%s %s %s", run.Client, run.Parts, run.Result))
	}
	if diff := cmp.Diff([]string{"process 2 [b] Done", "process 1 [a] "}, got); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
}
