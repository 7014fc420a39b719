package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParse reads a page with a file, and commands of one line and of two.
func TestParse(t *testing.T) {
	t.Parallel()
	p, err := Parse("# A page\n\nSave this as\n`a/b.yaml`:\n\n```yaml title=a/b.yaml\nx: 1\n\ny: $ 2\n```\n\n```yaml\nno: step\n```\n\n" +
		"```console\n$ one\n\n> out\n$ two \\\n> three\n> four\n...\nend\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []step{
		{line: 6, file: "a/b.yaml", text: "x: 1\n\ny: $ 2\n"},
		{line: 17, text: "one", output: []string{"", "> out"}},
		{line: 20, text: "two \\\nthree\nfour", output: []string{"...", "end"}},
	}
	if diff := cmp.Diff(want, p.steps, cmp.AllowUnexported(step{})); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// TestParseRefuses pages with something that nobody would follow.
func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"```console\n$ one\n":                        "line 1: the block is not closed",
		"```\n$ one\n```\n":                          `line 2: a command in a block of language "", which is not run; put commands into blocks of language console`,
		"```sh\ntext\n$ one\n```\n":                  `line 3: a command in a block of language "sh", which is not run; put commands into blocks of language console`,
		"```console\nout\n$ one\n```\n":              "line 2: output without a command above it",
		"A file:\n\n```yaml title=a.yaml\nx: 1\n```": "line 3: the paragraph above does not name the file a.yaml",
		"`../a`:\n\n```yaml title=../a\nx: 1\n```\n": `line 3: "../a" names no file below the directory of the reader`,
		"`.github/workflows/a.yaml`:\n\n```yaml title=.github/workflows/a.yaml\n- run: one\n- run: two\n```\n\n```console\n$ one\n```\n": `line 3: the workflow .github/workflows/a.yaml runs "two", which is no command of the page`,
	} {
		if _, err := Parse(page); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", page, err, want)
		}
	}
}

// TestFollow runs a page, and compares: one session, exit codes, files, both streams.
func TestFollow(t *testing.T) {
	t.Parallel()
	const page = "`d/a.txt`:\n\n```text title=d/a.txt\nit's $HOME\n```\n\n```console\n$ cat d/a.txt\nit's $HOME\n$ x=1; cd d\n$ echo $x >&2; ls\n1\na.txt\n$ false\n$ echo $?\n1\n" +
		"$ printf 'no end'\nno end\n$ printf '%s\\n' \\\n>   one two\none\ntwo\n$ cat\n```\n"
	p, outcomes := followed(t, page)
	if diff := cmp.Diff([]string(nil), p.Differences(outcomes)); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(page, p.Rewrite(outcomes)); diff != "" {
		t.Errorf("the page, rewritten (-want +got):\n%s", diff)
	}
}

// TestFollowDifferent follows a page that shows something else than its commands write, and
// rewrites it.
func TestFollowDifferent(t *testing.T) {
	t.Parallel()
	const page = "```console\n$ seq 3\n1\n...\n$ echo 'after 3s'\nafter 5s\n$ seq 2\n2\n$ echo out; false\nout\n$ true\nsomething\n```\n"
	p, outcomes := followed(t, page)
	var first []string
	for _, difference := range p.Differences(outcomes) {
		line, _, _ := strings.Cut(difference, "\n")
		first = append(first, line)
	}
	want := []string{
		"line 7: $ seq 2 (-page +command):",
		"line 9: $ echo out; false: exit code 1, and the next command is not 'echo $?'; it wrote:",
		"line 11: $ true (-page +command):",
	}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	const rewritten = "```console\n$ seq 3\n1\n...\n$ echo 'after 3s'\nafter 3s\n$ seq 2\n1\n2\n$ echo out; false\nout\n$ true\n```\n"
	if diff := cmp.Diff(rewritten, p.Rewrite(outcomes)); diff != "" {
		t.Errorf("the page, rewritten (-want +got):\n%s", diff)
	}
}

// TestFollowBrokenSession: a command that ends the session, or that is none, is an error.
func TestFollowBrokenSession(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"exit 0", "if"} {
		p, err := Parse("```console\n$ " + command + "\n```\n")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Follow(t.Context(), t.TempDir(), os.Environ()); err == nil || !strings.HasPrefix(err.Error(), "line 2: the session ended in the middle of the command "+`"`+command+`"`) {
			t.Errorf("%s: error %v", command, err)
		}
	}
}

func followed(t *testing.T, page string) (Page, Outcomes) {
	t.Helper()
	p, err := Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := p.Follow(t.Context(), t.TempDir(), os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	return p, outcomes
}

// TestTaskPagesParse needs no management cluster.
func TestTaskPagesParse(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/tasks/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	for _, file := range append(files, "../../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(string(text)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
