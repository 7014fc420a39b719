package supervisor

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
)

func TestMayRestart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		ends []time.Duration // when the child ended, after some moment
		want []bool
	}{
		"once":        {ends: []time.Duration{0}, want: []bool{true}},
		"five times":  {ends: []time.Duration{0, 1, 2, 3, 4}, want: []bool{true, true, true, true, true}},
		"six times":   {ends: []time.Duration{0, 1, 2, 3, 4, 5}, want: []bool{true, true, true, true, true, false}},
		"at the edge": {ends: []time.Duration{0, 1, 2, 3, 4, restartWindow}, want: []bool{true, true, true, true, true, false}},
		"the first is long ago": {
			ends: []time.Duration{0, 1, 2, 3, 4, restartWindow + 1, restartWindow + 1},
			want: []bool{true, true, true, true, true, true, false},
		},
		"now and then": {
			ends: []time.Duration{0, restartWindow, 2 * restartWindow, 3 * restartWindow, 4 * restartWindow, 5 * restartWindow, 6 * restartWindow},
			want: []bool{true, true, true, true, true, true, true},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c child
			var got []bool
			for _, end := range test.ends {
				got = append(got, c.mayRestart(time.Unix(0, 0).Add(end)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("may restart (-want +got):\n%s", diff)
			}
		})
	}
}

// newSupervisor is one without etcd. Its children end with the test.
func newSupervisor(t *testing.T) *supervisor {
	t.Helper()
	instance := embedded.Instance{Name: "a", Dir: t.TempDir()}
	if err := os.Mkdir(instance.LogsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := instance.Lock()
	if err != nil {
		t.Fatal(err)
	}
	s := &supervisor{
		instance: instance, lock: lock, etcd: &embed.Etcd{}, exits: make(chan exit, 1), client: &http.Client{},
		progress: embedded.Progress{SupervisorPID: os.Getpid(), Processes: map[string]int{}},
	}
	t.Cleanup(func() {
		terminate(s.children)
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// shell is a component that does what the script says.
func shell(script string) component {
	return component{name: "shell", program: "/bin/sh", args: []string{"-c", script}, readyURL: "http://127.0.0.1:0/"}
}

func TestStartAndWaitFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		component component
		want      string
	}{
		"it fails":               {component: shell("exit 3"), want: "shell ended at its start (exit status 3)"},
		"it ends without error":  {component: shell("exit 0"), want: "shell ended at its start (exit status 0)"},
		"its program is missing": {component: component{name: "none", program: "/none"}, want: "starting none: fork/exec /none: no such file or directory"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t)
			err := s.startAndWait(t.Context(), test.component)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

func TestStartAndWaitInterrupted(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	if err := s.startAndWait(ctx, shell("exec sleep 60")); !errors.Is(err, enough) {
		t.Errorf("error %v, want %v", err, enough)
	}
}

// TestKeepAlive has a child that always ends: it is started again as often as
// it may be. Each of its lives adds a line to its log.
func TestKeepAlive(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		"1": "shell ended more than 5 times within 1m0s, the last time with: exit status 1",
		"0": "shell ended more than 5 times within 1m0s, the last time with: exit status 0",
	} {
		t.Run("exit status "+status, func(t *testing.T) {
			t.Parallel()
			s := newSupervisor(t)
			c := shell("echo $A_VARIABLE; exit " + status)
			c.readyURL, c.env = "", []string{"A_VARIABLE=lives"}
			if err := s.startAndWait(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if err := s.keepAlive(t.Context()); err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			log, err := os.ReadFile(s.instance.ComponentLogs()[0])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(slices.Repeat([]string{"lives"}, 1+maxRestarts), strings.Fields(string(log))); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeepAliveUntilContextEnds leaves the child to stop.
func TestKeepAliveUntilContextEnds(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	c := shell("exec sleep 60")
	c.readyURL = ""
	if err := s.startAndWait(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	status, err := s.instance.Status()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"shell": s.children[0].process.Pid}, status.Processes); diff != "" {
		t.Errorf("processes (-want +got):\n%s", diff)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.keepAlive(ctx); err != nil {
		t.Error(err)
	}
	select {
	case <-s.children[0].done:
		t.Error("the child has ended")
	default:
	}
	terminate(s.children)
	<-s.children[0].done
}

func TestInTurn(t *testing.T) {
	t.Parallel()
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	broken := errors.New("broken")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	type answer struct {
		file *os.File
		err  error
	}
	tests := map[string]struct {
		ctx     context.Context
		answers []answer // of taking the lock, one after the other; the last one repeats
		want    answer
		calls   int
	}{
		"free":                       {ctx: t.Context(), answers: []answer{{file: file}}, want: answer{file: file}, calls: 1},
		"another looks at it":        {ctx: t.Context(), answers: []answer{{err: embedded.ErrRunning}, {err: embedded.ErrRunning}, {file: file}}, want: answer{file: file}, calls: 3},
		"held, and the context ends": {ctx: ended, answers: []answer{{err: embedded.ErrRunning}}, want: answer{err: embedded.ErrRunning}, calls: 1},
		"it fails":                   {ctx: t.Context(), answers: []answer{{err: broken}}, want: answer{err: broken}, calls: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			got, err := inTurn(test.ctx, func() (*os.File, error) {
				a := test.answers[min(calls, len(test.answers)-1)]
				calls++
				return a.file, a.err
			})
			if (answer{got, err}) != test.want || calls != test.calls {
				t.Errorf("got %v, %v after %d calls; want %v after %d", got, err, calls, test.want, test.calls)
			}
		})
	}
}

// TestRunTwice has a supervisor find another one that runs, and leave it alone.
func TestRunTwice(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t)
	if err := s.instance.WriteProgress(s.progress); err != nil {
		t.Fatal(err)
	}
	before, err := s.instance.Status()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = Run(ended, s.instance, func() error { t.Error("ready"); return nil })
	if !errors.Is(err, embedded.ErrRunning) || err.Error() != `embedded management cluster "a": already running` {
		t.Errorf("error %v, want %v", err, embedded.ErrRunning)
	}
	after, err := s.instance.Status()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("status (-before +after):\n%s", diff)
	}
}

func TestCheckDisk(t *testing.T) {
	t.Parallel()
	if err := checkDisk(t.TempDir()); err != nil {
		t.Errorf("where there is room: %v", err)
	}
	dir := t.TempDir() + "/none"
	if err := checkDisk(dir); !errors.Is(err, os.ErrNotExist) || err.Error() != "looking at the disk of "+dir+": no such file or directory" {
		t.Errorf("error %v, want %v", err, os.ErrNotExist)
	}
}
