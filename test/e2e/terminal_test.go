package e2e_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"github.com/hinshun/vt10x"
	"golang.org/x/sys/unix"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// terminal is a program in a pseudo-terminal, and what a person sees of it.
type terminal struct {
	screen vt10x.Terminal
	pty    *os.File
	tty    *os.File
	cmd    *exec.Cmd
	before unix.Termios
	mode   vt10x.ModeFlag
	ended  chan struct{}
}

const screenRows = 60

// openTerminal starts clusterctl-x in a terminal of so many columns.
func openTerminal(t *testing.T, columns int, args ...string) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = tty.Close(), master.Close() })
	term := &terminal{screen: vt10x.New(vt10x.WithSize(columns, screenRows)), pty: master, tty: tty, ended: make(chan struct{})}
	term.mode = term.screen.Mode()
	term.resize(t, columns)
	term.before = modesOf(t, tty)
	term.cmd = exec.CommandContext(t.Context(), everyone.cli, args...)
	term.cmd.Env = append(everyone.environment(), "TERM=xterm-256color")
	term.cmd.Stdin, term.cmd.Stdout, term.cmd.Stderr = tty, tty, tty
	term.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := term.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(term.screen, master) }() // ends with the terminal
	go func() {
		defer close(term.ended)
		_ = term.cmd.Wait() // its exit code is the result
	}()
	return term
}

func modesOf(t *testing.T, tty *os.File) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

// resize makes the terminal wider or narrower.
func (x *terminal) resize(t *testing.T, columns int) {
	t.Helper()
	x.screen.Resize(columns, screenRows)
	if err := pty.Setsize(x.pty, &pty.Winsize{Cols: uint16(columns), Rows: screenRows}); err != nil {
		t.Fatal(err)
	}
}

// text is the screen, from the plan or the first part on, without what differs from run to
// run. What replaces it has the same width.
func (x *terminal) text() string {
	x.screen.Lock()
	size, _ := x.screen.Size()
	var rows []string
	for y := range screenRows {
		var row strings.Builder
		for i := range size {
			row.WriteRune(x.screen.Cell(i, y).Char)
		}
		rows = append(rows, strings.TrimRight(row.String(), " \x00"))
	}
	x.screen.Unlock()
	text := strings.TrimRight(strings.Join(rows, "\n"), "\n") + "\n"
	if at := strings.Index(text, "Plan for cluster"); at > 0 {
		text = text[at:]
	}
	text = regexp.MustCompile(`\bterminal-(md-0-[a-z0-9]{5}-)?[a-z0-9]{5}\b`).ReplaceAllStringFunc(text, func(name string) string {
		return name[:len(name)-5] + "XXXXX"
	})
	text = regexp.MustCompile(`https://127\.0\.0\.1:\d{5}`).ReplaceAllString(text, "https://127.0.0.1:NNNNN")
	return regexp.MustCompile(`\b[1-5]\ds\b`).ReplaceAllString(text, "NNs")
}

// until waits until the screen matches, and ended until the program has ended.
func (x *terminal) until(t *testing.T, pattern string) {
	t.Helper()
	is := regexp.MustCompile(pattern)
	until(t, "the screen has "+pattern, func(context.Context) bool {
		select {
		case <-x.ended:
			t.Fatalf("it ended with code %d before the screen had %s:\n%s", x.cmd.ProcessState.ExitCode(), pattern, x.text())
		default:
		}
		return is.MatchString(x.text())
	})
}

// compare compares the screen with a file.
func (x *terminal) compare(t *testing.T, name string) {
	t.Helper()
	file, got := filepath.Join("testdata", "terminal", name+".txt"), x.text()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("screen %s (-want +got):\n%s", name, diff)
	}
}

// assertWhole waits for the end of the program, and checks that it left the terminal as it
// found it.
func (x *terminal) assertWhole(t *testing.T, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), longest, errors.New("it did not end"))
	defer cancel()
	select {
	case <-x.ended:
	case <-ctx.Done():
		t.Fatalf("%v:\n%s", context.Cause(ctx), x.text())
	}
	if got := x.cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("exit code %d, want %d", got, code)
	}
	if diff := cmp.Diff(x.before, modesOf(t, x.tty)); diff != "" {
		t.Errorf("modes of the terminal (-before +after):\n%s", diff)
	}
	x.shown(t, "$ ")
	x.screen.Lock()
	defer x.screen.Unlock()
	if x.screen.Mode() != x.mode || !x.screen.CursorVisible() {
		t.Errorf("the terminal has modes %b, and had %b; the cursor is visible: %t", x.screen.Mode(), x.mode, x.screen.CursorVisible())
	}
}

// shown writes the prompt of a shell, behind everything that the program wrote, and waits
// until the screen has it.
func (x *terminal) shown(t *testing.T, prompt string) {
	t.Helper()
	if _, err := x.tty.WriteString(prompt); err != nil {
		t.Fatal(err)
	}
	until(t, "the screen has a prompt", func(context.Context) bool { return strings.HasSuffix(x.text(), strings.TrimRight(prompt, " ")+"\n") })
}

// TestTerminal records an upgrade in terminals of different widths, ended in every way, and
// compares the screens.
func TestTerminal(t *testing.T) {
	t.Parallel()
	// Programs ignore it where their parent does, as under nohup.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	namespace := newNamespace(t, shared, "terminal")
	spec := clusterSpec{name: "terminal", version: "1.35", groups: []groupSpec{{name: "md-0", count: 2}}}
	cli(t, 0, "create", "cluster", "-n", namespace, "-f", spec.path(t))
	spec.version = "1.36"
	args := []string{"upgrade", "cluster", "-n", namespace, "-f", spec.path(t)}
	old := namesOf(t, namespace, "terminal", controlPlane)
	hold(t, namespace, old)
	cli(t, 0, append(args, "--no-wait")...)
	until(t, "the old machine waits for the hook", func(context.Context) bool { return waitsForHook(t, namespace) })

	const settled = `(?s)NNs  waiting for .*hook`
	for _, test := range []struct {
		name    string
		columns int
		args    []string
		resize  int
		end     func(*testing.T, *terminal)
		code    int
	}{
		{"40-sigterm", 40, args, 0, signalled(syscall.SIGTERM), 130},
		{"80-ctrl-c", 80, args, 0, typed("\x03"), 130},
		{"200-sighup", 200, args, 0, signalled(syscall.SIGHUP), 130},
		{"80-wider-ctrl-c", 80, args, 120, typed("\x03"), 130},
		{"80-watch-sigkill", 80, []string{"watch", "cluster", "terminal", "-n", namespace}, 0, signalled(syscall.SIGKILL), -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			term := openTerminal(t, test.columns, test.args...)
			term.until(t, settled)
			term.compare(t, test.name)
			if test.resize > 0 {
				term.resize(t, test.resize)
				term.until(t, `waiting for .{90}`)
				term.compare(t, test.name+"-resized")
			}
			test.end(t, term)
			term.assertWhole(t, test.code)
			term.compare(t, test.name+"-end")
		})
	}
	t.Run("80-done", func(t *testing.T) {
		term := openTerminal(t, 80, args...)
		term.until(t, settled)
		release(t, namespace, old)
		term.assertWhole(t, 0)
		assertDone(t, term)
	})
}

// assertDone compares the end of the screen of an upgrade that is done: its steps stay.
func assertDone(t *testing.T, term *terminal) {
	t.Helper()
	text := regexp.MustCompile(`\b(\d+m)?(\d+|NN)s\b`).ReplaceAllString(term.text(), "TIME")
	_, got, found := strings.Cut(text, "machine replaced.\n")
	if !found {
		_, got, _ = strings.Cut(text, "machines replaced.\n")
	}
	const want = `✓ step 1 of 2: the control plane from v1.35.4 to v1.36.3, TIME
✓ step 2 of 2: md-0 from v1.35.4 to v1.36.3, TIME
██████████ all steps are done
✓ control-plane v1.36.3: 1 of 1 machines ready
✓ md-0 v1.36.3: 2 of 2 machines ready
cluster terminal/terminal is at v1.36.3 after TIME
$
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("screen (-want +got):\n%s", diff)
	}
}

// waitsForHook reports whether a control plane machine waits for its hook.
func waitsForHook(t *testing.T, namespace string) bool {
	t.Helper()
	for _, machine := range list[clusterv1.Machine](t, shared, namespace, "machine") {
		for _, condition := range machine.Status.Conditions {
			if condition.Type == clusterv1.MachineDeletingCondition && condition.Reason == clusterv1.MachineDeletingWaitingForPreDrainHookReason {
				return true
			}
		}
	}
	return false
}

func typed(keys string) func(*testing.T, *terminal) {
	return func(t *testing.T, term *terminal) {
		t.Helper()
		if _, err := term.pty.WriteString(keys); err != nil {
			t.Fatal(err)
		}
	}
}

func signalled(signal syscall.Signal) func(*testing.T, *terminal) {
	return func(t *testing.T, term *terminal) {
		t.Helper()
		if err := term.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
}
