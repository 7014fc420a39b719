package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

// deadPID is the process ID of a process that has ended: the largest that
// Linux gives is 4194304.
const deadPID = 1 << 30

// TestStatus is not parallel, see lock_test.go.
func TestStatus(t *testing.T) {
	ports := portBlock(21000)
	starting := Progress{SupervisorPID: os.Getpid(), StartedAt: someTime, Processes: map[string]int{"kube-apiserver": 7}}
	ready := starting
	ready.Ready, ready.ReadyAt = true, someTime.Add(time.Second)
	dead := ready
	dead.SupervisorPID = deadPID
	deadSeen := dead
	deadSeen.Ready, deadSeen.ReadyAt = false, time.Time{}

	tests := map[string]struct {
		locked   bool
		ports    *Ports
		progress *Progress
		want     Status
	}{
		"never started":                         {want: Status{}},
		"first start, without ports yet":        {locked: true, want: Status{Created: true, Running: true}},
		"first start, without ports, by name":   {locked: true, progress: &starting, want: Status{Created: true, Running: true, Progress: starting}},
		"starting":                              {locked: true, ports: &ports, progress: &starting, want: Status{Created: true, Running: true, Ports: ports, Progress: starting}},
		"ready":                                 {locked: true, ports: &ports, progress: &ready, want: Status{Created: true, Running: true, Ports: ports, Progress: ready}},
		"ending: it says nothing of itself":     {locked: true, ports: &ports, want: Status{Created: true, Running: true, Ports: ports}},
		"stopped":                               {ports: &ports, want: Status{Created: true, Ports: ports}},
		"killed with everything":                {ports: &ports, progress: &dead, want: Status{Created: true, Ports: ports}},
		"supervisor killed, children are left":  {locked: true, ports: &ports, progress: &dead, want: Status{Created: true, Running: true, Ports: ports, Progress: deadSeen}},
		"killed before it had ports, long gone": {progress: &dead, want: Status{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			i := Instance{Name: "a", Dir: t.TempDir()}
			if test.locked {
				defer closeFile(t, lock(t, i))
			}
			if test.ports != nil {
				if err := writeJSON(i.portsFile(), test.ports); err != nil {
					t.Fatal(err)
				}
			}
			if test.progress != nil {
				if test.progress.SupervisorPID == os.Getpid() {
					defer closeFile(t, lockSupervisor(t, i))
				}
				if err := i.WriteProgress(*test.progress); err != nil {
					t.Fatal(err)
				}
			}
			got, err := i.Status()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusOfBrokenFiles(t *testing.T) {
	for _, name := range []string{"ports.json", "progress.json"} {
		t.Run(name, func(t *testing.T) {
			i := Instance{Name: "a", Dir: t.TempDir()}
			defer closeFile(t, lock(t, i))
			path := filepath.Join(i.Dir, name)
			if err := files.WritePrivate(path, []byte("{")); err != nil {
				t.Fatal(err)
			}
			got, err := i.Status()
			if diff := cmp.Diff(Status{}, got); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			if want := "reading " + path + ": unexpected end of JSON input"; text(err) != want {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
}

// TestProgressFile writes and clears what the supervisor says of itself.
func TestProgressFile(t *testing.T) {
	t.Parallel()
	i := Instance{Name: "a", Dir: t.TempDir()}
	if err := i.WriteProgress(Progress{SupervisorPID: 7, StartedAt: someTime}); err != nil {
		t.Fatal(err)
	}
	want := map[string]file{"progress.json": {Mode: 0o600, Text: `{
  "supervisorPID": 7,
  "ready": false,
  "startedAt": "2026-01-02T03:04:05Z"
}
`}}
	if diff := cmp.Diff(want, readDir(t, i.Dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
	if err := i.ClearProgress(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]file{}, readDir(t, i.Dir)); diff != "" {
		t.Errorf("directory (-want +got):\n%s", diff)
	}
}

// TestRemove is not parallel, see lock_test.go.
func TestRemove(t *testing.T) {
	i := Instance{Name: "a", Dir: filepath.Join(t.TempDir(), "a")}
	if err := i.Remove(); err != nil {
		t.Errorf("what never was: %v", err)
	}
	if err := os.MkdirAll(i.LogsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	held := lock(t, i)
	if err := i.Remove(); !errors.Is(err, ErrRunning) || text(err) != `removing embedded management cluster "a": already running` {
		t.Errorf("while it runs: %v", err)
	}
	closeFile(t, held)
	if err := i.Remove(); err != nil {
		t.Errorf("stopped: %v", err)
	}
	if diff := cmp.Diff(map[string]file{}, readDir(t, filepath.Dir(i.Dir))); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// TestStopOfTheNameless has a lock whose holder does not say who it is. It is
// not parallel, see lock_test.go.
func TestStopOfTheNameless(t *testing.T) {
	i := Instance{Name: "a", Dir: t.TempDir(), StopGrace: time.Nanosecond}
	defer closeFile(t, lock(t, i))
	ran, err := i.Stop(t.Context())
	want := `embedded management cluster "a" is running, but its process ID is unknown: end the processes that use ` + i.Dir
	if !ran || text(err) != want {
		t.Errorf("stop: %v, %v; want true, %s", ran, err, want)
	}
}

// TestReapIsBounded has a lock whose holder is not in the killed supervisor's
// group. It is not parallel, see lock_test.go.
func TestReapIsBounded(t *testing.T) {
	i := Instance{Name: "a", Dir: t.TempDir()}
	defer closeFile(t, lock(t, i))
	if err := i.WriteProgress(Progress{SupervisorPID: deadPID}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, do := range map[string]func() error{
		"start": func() error { return i.Start(ctx) },
		"stop":  func() error { _, err := i.Stop(ctx); return err },
	} {
		if err := do(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
	if logs, err := os.ReadDir(i.LogsDir()); err != nil || len(logs) > 0 {
		t.Errorf("a supervisor was started: %v, %v", logs, err)
	}
}

// TestReapLeavesTheNextRunAlone has a next run take the lock, with the last
// word of the killed one still there, and then say who it is. It is not
// parallel, see lock_test.go.
func TestReapLeavesTheNextRunAlone(t *testing.T) {
	i := Instance{Name: "a", Dir: t.TempDir()}
	defer closeFile(t, lock(t, i))
	if err := syscall.Mkfifo(i.progressFile(), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- i.reap(t.Context()) }()
	lastWord, err := os.OpenFile(i.progressFile(), os.O_WRONLY, 0) // waits until it is read
	if err != nil {
		t.Fatal(err)
	}
	if err := i.WriteProgress(Progress{SupervisorPID: os.Getpid()}); err != nil { // for all who read from now on
		t.Fatal(err)
	}
	if err := json.NewEncoder(lastWord).Encode(Progress{SupervisorPID: deadPID}); err != nil {
		t.Fatal(err)
	}
	closeFile(t, lastWord)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestErrorsNameTheirRemedy(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	if err := files.WritePrivate(home, nil); err != nil {
		t.Fatal(err)
	}
	i, err := Find(home, "a")
	if err != nil {
		t.Fatal(err)
	}
	want := `making the directory of embedded management cluster "a": mkdir ` + home + ": not a directory; set CLUSTERCTL_X_HOME to a directory that can be written to"
	if err := i.Start(t.Context()); !strings.HasPrefix(text(err), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
