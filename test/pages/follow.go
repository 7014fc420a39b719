package pages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mark stands in the output of the session behind that of each command.
const mark = "\x1eend of the command"

// outcome is what a command wrote, to standard output and standard error as a terminal
// shows them, and its exit code.
type outcome struct {
	output []string
	code   int
}

// Outcomes are those of the steps of a page; steps that write a file have an empty one.
type Outcomes []outcome

// Follow does the steps of a page in a directory, in one session of bash.
func (p Page) Follow(ctx context.Context, dir string, env []string) (Outcomes, error) {
	script := filepath.Join(dir, ".session")
	if err := os.WriteFile(script, []byte(p.session()), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", script)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	written, err := cmd.CombinedOutput()
	outcomes, split := p.split(string(written))
	if split != nil {
		return nil, fmt.Errorf("%w; it wrote:\n%s", errors.Join(split, err), written)
	}
	return outcomes, nil
}

// session is the script of all steps.
func (p Page) session() string {
	var script strings.Builder
	script.WriteString("exec </dev/null\n")
	for i, s := range p.steps {
		if s.file != "" {
			fmt.Fprintf(&script, "mkdir -p '%s' && cat > '%s' <<'end of file %d'\n%send of file %d\n", filepath.Dir(s.file), s.file, i, s.text, i)
			continue
		}
		if strings.HasPrefix(s.text, "clusterctl-x describe ") {
			script.WriteString(settled(s.text))
		}
		// The mark leaves $? as the command left it.
		fmt.Fprintf(&script, "%s\n{ code=$?; printf '%s %%d\\n' $code; (exit $code); }\n", s.text, mark)
	}
	return script.String()
}

// settled waits for at most a minute until nothing is unwell: where many clusters share a
// machine, the answer of an etcd may be late.
func settled(describe string) string {
	return fmt.Sprintf("for try in {1..60}; do %s 2>&1 | grep -q ✗ || break; sleep 1; done\n", describe)
}

// split takes the output of a session apart.
func (p Page) split(written string) (Outcomes, error) {
	outcomes := make(Outcomes, len(p.steps))
	for i, s := range p.steps {
		if s.file != "" {
			continue
		}
		output, rest, found := strings.Cut(written, mark+" ")
		code, rest, ended := strings.Cut(rest, "\n")
		if !found || !ended {
			return nil, fmt.Errorf("line %d: the session ended in the middle of the command %q", s.line, s.text)
		}
		number, err := strconv.Atoi(code)
		if err != nil {
			return nil, fmt.Errorf("line %d: the command %q wrote the mark of the session", s.line, s.text)
		}
		outcomes[i] = outcome{lines(output), number}
		written = rest
	}
	return outcomes, nil
}

// lines of a text; one that ends without a line break is a line, too.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Replace replaces texts in what the commands wrote.
func (o Outcomes) Replace(texts *strings.Replacer) {
	for i := range o {
		for j, line := range o[i].output {
			o[i].output[j] = texts.Replace(line)
		}
	}
}
