package observe

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestLine(t *testing.T) {
	t.Parallel()
	long := func(word string, times int) string { return strings.TrimSpace(strings.Repeat(word+" ", times)) }
	tests := map[string]struct {
		message string
		want    string
	}{
		"nothing":                        {"", ""},
		"one line":                       {"no quota", "no quota"},
		"a list":                         {"* a: b\n* c: d", "a: b; c: d"},
		"a head and its list":            {"blocked because:\n* a\n* b", "blocked because: a; b"},
		"a list in a list":               {"* a:\n  * b:\n    * c\n    * d\n* e", "a: b: c; d; e"},
		"sentences":                      {"* It failed.\n* It failed again.", "It failed; It failed again"},
		"what would break the line":      {"* a\r\n\t* b\x0b c", "a; b c"},
		"more than there is room for":    {"* " + long("a", 15) + "\n* " + long("b", 15) + "\n* c\n* d", long("a", 15) + "; and 3 more"},
		"all that there is room for":     {"* " + long("a", 10) + "\n* " + long("b", 10) + "\n* c", long("a", 10) + "; " + long("b", 10) + "; and 1 more"},
		"a long first item":              {"* " + long("begin", 20) + " " + long("end", 20) + "\n* c", "begin begin begin … end end end end end; and 1 more"},
		"a long item below a short head": {"because:\n* " + long("begin", 20) + " " + long("end", 20), "because: begin begin … end end end end"},
		"a long item below a long head":  {long("head", 6) + ":\n* " + long("begin", 20) + " " + long("end", 20), long("head", 6) + ": begin … end end"},
		"a long word":                    {strings.Repeat("a", 50), strings.Repeat("a", 20) + " … " + strings.Repeat("a", 20)},
		"a name at the cut":              {"pull image dns:v1.12.1: " + long("again", 10) + " not found", "pull image dns:v1.12.1: … again not found"},
		"a name too long for the room":   {"failed to pull " + strings.Repeat("a", 30) + ": not found", "failed to pull … not found"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, line(strings.Split(test.message, "\n"), 40)); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFirstItem(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		message string
		want    []string
	}{
		"nothing":      {"", []string{""}},
		"one line":     {"no quota", []string{"no quota"}},
		"of two":       {"* a: b\n* c: d", []string{"* a: b"}},
		"with a list":  {"* a:\n  * b\n  * c\n* d", []string{"* a:", "  * b", "  * c"}},
		"of its words": {"* a:\n  * b: OneWord\n  * c: in words\n  * d: OneWord", []string{"* a:", "  * c: in words"}},
		"of no words":  {"* a:\n  * b: OneWord\n  * c: OneWord", []string{"* a:", "  * b: OneWord"}},
		"of a command": {
			"* a:\n  * b:\n    * Running [ kubeadm join ]\n    * ERROR: exited\n    * STDOUT: \n        * ...\n        * x\n    * STDERR: \n        * ...\n        * y\n* c",
			[]string{"* a:", "  * b:", "    * STDERR: ", "        * y"},
		},
		"of kubeadm, which warns first": {
			"* a:\n  * b:\n    * STDERR: \n        * ...\n        * [WARNING SystemVerification]: cgroups v1 support is in maintenance mode\n        * W1122 04:05:06.789 1 x.go:1] no\n        * error: error execution phase x: y\n        * To see the stack trace of this error execute with --v=5 or higher",
			[]string{"* a:", "  * b:", "    * STDERR: ", "        * error: error execution phase x: y"},
		},
		"of kubeadm, with warnings on the first line": {
			"* a:\n    * STDERR: [WARNING SystemVerification]: cgroups v1\n        * error: y",
			[]string{"* a:", "    * STDERR:", "        * error: y"},
		},
		"of kubeadm's preflight": {
			"    * STDERR: \n        * [WARNING Hostname]: h\n        * [preflight] Some fatal errors occurred:\n        * [ERROR ImagePull]: i\n        * [preflight] If you know what you are doing, you can make a check non-fatal with `--ignore-preflight-errors=...`",
			[]string{"    * STDERR: ", "        * [ERROR ImagePull]: i"},
		},
		"of kubeadm, nothing but warnings": {"    * STDERR: \n        * [WARNING x]: y", []string{"    * STDERR: ", "        * [WARNING x]: y"}},
		"of a command alone":               {"    * STDERR: y", []string{"    * STDERR: y"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, firstItem(test.message)); diff != "" {
				t.Errorf("first item (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzReasons: whatever a condition says becomes one line that is not too long.
func FuzzReasons(f *testing.F) {
	f.Add("* InfrastructureReady:\n  * BootstrapCompleted:\n    * STDERR: ")
	f.Add("Drain not completed yet:\n* Pod a/b: cannot evict pod as it would violate the pod's disruption budget. The disruption budget")
	f.Add("After above Pods")
	f.Add(strings.Repeat("a:\n", 200) + "\r\n …" + strings.Repeat("b", 1000))
	f.Fuzz(func(t *testing.T, message string) {
		for _, text := range []string{drain(message), line(firstItem(message), MaxReason), line(strings.Split(message, "\n"), MaxReason)} {
			if strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("not one line: %q", text)
			}
			// An item below a long head gets half of the room besides.
			if n := utf8.RuneCountInString(text); n > MaxReason*3/2+len("; and 100000 more")+len(" … ") {
				t.Errorf("%d characters: %q", n, text)
			}
		}
	})
}
