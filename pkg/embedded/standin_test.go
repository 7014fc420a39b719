package embedded

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary runs itself again: as the supervisor that Start starts, and
// as whatever roleVariable says. A stand-in supervisor does what the name of
// its instance says, so that tests can run side by side.
const (
	roleVariable = "CLUSTERCTL_X_TEST_ROLE"

	roleInherit     = "inherit" // keep the descriptors until standard input ends
	roleStay        = "stay"    // until killed
	roleFindProgram = "find-program"

	becomesReady = "becomes-ready"
	reports      = "reports" // an error
	endsSilently = "ends-silently"
	orphans      = "orphans" // dies before it is ready, and leaves a child
	hangs        = "hangs"   // with a child, never ready, deaf to SIGTERM
	closesEarly  = "closes-early"
	deaf         = "deaf" // becomes ready, with a child, deaf to SIGTERM
)

// standInLife bounds the life of a process that a failing test left behind.
const standInLife = time.Minute

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); {
	case role == roleInherit:
		_, _ = io.Copy(io.Discard, os.Stdin)
	case role == roleStay:
		endsAfterAWhile(Instance{Dir: "."})
		signal.Ignore(syscall.SIGTERM)
		_ = wait(context.Background())
	case role == roleFindProgram:
		path, err := findProgram()
		fmt.Printf("%s|%v", path, err)
	case len(os.Args) > 1 && os.Args[1] == "run":
		if err := standIn(os.Args[2:]); err != nil {
			_, _ = fmt.Fprintln(os.NewFile(3, "outcome"), err)
			os.Exit(1)
		}
	default:
		os.Exit(tests(m))
	}
}

func tests(m *testing.M) int {
	if err := os.Setenv("CLUSTERCTL_X_EMBEDDED", self()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// self is the path of the test binary.
func self() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}

// overdue is what a process notes that nobody ended.
const overdue = "overdue"

func endsAfterAWhile(instance Instance) {
	time.AfterFunc(standInLife, func() {
		if err := note(instance, overdue); err != nil {
			os.Exit(8)
		}
		os.Exit(9)
	})
}

// standIn behaves as the supervisor does, as far as this package can see it.
func standIn(args []string) (err error) {
	var instance Instance
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.StringVar(&instance.Name, "name", "", "")
	flags.StringVar(&instance.Dir, "dir", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	endsAfterAWhile(instance)
	outcome := os.NewFile(3, "outcome")
	syscall.CloseOnExec(3)
	if instance.Name == endsSilently {
		os.Exit(7)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if instance.Name == deaf || instance.Name == hangs {
		signal.Ignore(syscall.SIGTERM)
	}
	own, err := inTurn(instance.LockSupervisor)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, own.Close()) }()
	lock, err := inTurn(instance.Lock)
	if err != nil {
		return err
	}
	progress := Progress{SupervisorPID: os.Getpid(), StartedAt: someTime}
	if err := errors.Join(writeJSON(instance.portsFile(), portBlock(firstBlock)), instance.WriteProgress(progress)); err != nil {
		return err
	}
	switch instance.Name {
	case reports:
		return errors.Join(errors.New("port 20000 is taken"), instance.ClearProgress())
	case orphans, hangs, deaf:
		if err := startChild(context.WithoutCancel(ctx), instance, lock); err != nil {
			return err
		}
	}
	switch instance.Name {
	case orphans:
		os.Exit(7)
	case hangs:
		return errors.Join(meet(instance), wait(context.Background()))
	case closesEarly:
		return errors.Join(outcome.Close(), meet(instance), wait(ctx))
	}
	fmt.Println("began")
	progress.Ready, progress.ReadyAt = true, someTime.Add(time.Second)
	if err := errors.Join(note(instance, "ready"), instance.WriteProgress(progress), outcome.Close()); err != nil {
		return err
	}
	if instance.Name == deaf {
		return wait(context.Background())
	}
	err = wait(ctx)
	fmt.Println("ended")
	return errors.Join(err, instance.ClearProgress())
}

// startChild starts a child that keeps the lock until it is killed.
func startChild(ctx context.Context, instance Instance, lock *os.File) error {
	child := exec.CommandContext(ctx, self(), "run")
	child.Env = append(os.Environ(), roleVariable+"="+roleStay)
	child.Dir = instance.Dir
	child.ExtraFiles = []*os.File{lock}
	return child.Start()
}

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) //nolint:gochecknoglobals // a constant

// inTurn is the supervisor's.
func inTurn(take func() (*os.File, error)) (*os.File, error) {
	deadline := time.After(500 * time.Millisecond)
	for {
		lock, err := take()
		if !errors.Is(err, ErrRunning) {
			return lock, err
		}
		select {
		case <-deadline:
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func wait(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

// note adds a word to a file that tests read.
func note(instance Instance, word string) error {
	file, err := os.OpenFile(filepath.Join(instance.Dir, "notes"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString(word + "\n")
	return errors.Join(err, file.Close())
}

func notes(t *testing.T, instance Instance) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(instance.Dir, "notes"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// meet tells the test, through a named pipe, that the stand-in is where it is
// supposed to stay.
func meet(instance Instance) error {
	pipe, err := os.OpenFile(filepath.Join(instance.Dir, "meeting"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = pipe.WriteString("!")
	return errors.Join(err, pipe.Close())
}

// meeting returns what blocks until the stand-in of the instance calls meet.
func meeting(t *testing.T, instance Instance) func() error {
	t.Helper()
	if err := os.MkdirAll(instance.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(instance.Dir, "meeting")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for the other side
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return func() error {
		if err := pipe.SetReadDeadline(time.Now().Add(standInLife)); err != nil {
			return err
		}
		_, err := pipe.Read(make([]byte, 1))
		return err
	}
}

// newInstance is one whose stand-in does what name says.
func newInstance(t *testing.T, name string) Instance {
	t.Helper()
	instance, err := Find(t.TempDir(), name)
	if err != nil {
		t.Fatal(err)
	}
	// Cleanup runs after t's context has ended, and before the directory goes.
	t.Cleanup(func() {
		instance.StopGrace = time.Nanosecond
		if _, err := instance.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if slices.Contains(notes(t, instance), overdue) {
			t.Errorf("a process ran for %s until it ended by itself", standInLife)
		}
	})
	return instance
}

// killed runs the stand-in of an instance and kills it, once it is ready, so
// that only its child is left. It returns the supervisor's process ID.
func killed(t *testing.T, instance Instance) int {
	t.Helper()
	if err := os.MkdirAll(instance.LogsDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	outcome, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self(), "run", "--name", instance.Name, "--dir", instance.Dir)
	cmd.ExtraFiles = []*os.File{writer}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), writer.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(outcome)
	if err != nil || len(text) > 0 {
		t.Fatalf("the stand-in says %q, %v", text, err)
	}
	if err := errors.Join(outcome.Close(), cmd.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the stand-in ended well")
	}
	return cmd.Process.Pid
}
