package embedded

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
)

func TestFind(t *testing.T) {
	t.Parallel()
	const invalid = " of an embedded management cluster: use at most 40 lower-case letters, digits and dashes"
	tests := map[string]struct {
		name string
		want Instance
		err  string
	}{
		"default":        {name: DefaultName, want: Instance{Name: "default", Dir: "/home/embedded/default"}},
		"one character":  {name: "7", want: Instance{Name: "7", Dir: "/home/embedded/7"}},
		"dashes inside":  {name: "a--b", want: Instance{Name: "a--b", Dir: "/home/embedded/a--b"}},
		"40 characters":  {name: strings.Repeat("a", 40), want: Instance{Name: strings.Repeat("a", 40), Dir: "/home/embedded/" + strings.Repeat("a", 40)}},
		"41 characters":  {name: strings.Repeat("a", 41), err: `invalid name "` + strings.Repeat("a", 41) + `"` + invalid},
		"empty":          {name: "", err: `invalid name ""` + invalid},
		"dash first":     {name: "-a", err: `invalid name "-a"` + invalid},
		"dash last":      {name: "a-", err: `invalid name "a-"` + invalid},
		"upper case":     {name: "A", err: `invalid name "A"` + invalid},
		"dot":            {name: ".", err: `invalid name "."` + invalid},
		"parent":         {name: "..", err: `invalid name ".."` + invalid},
		"path":           {name: "a/b", err: `invalid name "a/b"` + invalid},
		"newline at end": {name: "a\n", err: `invalid name "a\n"` + invalid},
		"not ASCII":      {name: "ä", err: `invalid name "ä"` + invalid},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Find("/home", test.name)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("instance (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.err, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

// text is what an error says, and empty where there is none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPaths(t *testing.T) {
	t.Parallel()
	i := Instance{Name: "a", Dir: "/home/embedded/a"}
	want := map[string]string{
		"kubeconfig": "/home/embedded/a/kubeconfig", "etcd": "/home/embedded/a/etcd", "pki": "/home/embedded/a/pki", "logs": "/home/embedded/a/logs",
	}
	got := map[string]string{"kubeconfig": i.Kubeconfig(), "etcd": i.EtcdDir(), "pki": i.PKIDir(), "logs": i.LogsDir()}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	got, err := List(home)
	if err != nil || got != nil {
		t.Errorf("nothing was ever started: %v, %v", got, err)
	}
	for _, dir := range []string{"b", "a", "default", "Not-A-Name", "a.bak"} {
		if err := os.MkdirAll(filepath.Join(instancesDir(home), dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.WritePrivate(filepath.Join(instancesDir(home), "file"), nil); err != nil {
		t.Fatal(err)
	}
	got, err = List(home)
	if err != nil {
		t.Fatal(err)
	}
	var want []Instance
	for _, name := range []string{"a", "b", "default"} {
		want = append(want, Instance{Name: name, Dir: filepath.Join(home, "embedded", name)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("instances (-want +got):\n%s", diff)
	}
}

func TestListOfAFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	if err := files.WritePrivate(instancesDir(home), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := List(home); got != nil || !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("got %v, %v; want %v", got, err, syscall.ENOTDIR)
	}
}

func TestDefaultHome(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		own, xdg, home string
		want, err      string
	}{
		"its own variable":             {own: "/own", xdg: "/xdg", home: "/home/u", want: "/own"},
		"its own variable, relative":   {own: "own/dir", xdg: "/xdg", home: "/home/u", want: filepath.Join(here, "own/dir")},
		"XDG_STATE_HOME":               {xdg: "/xdg", home: "/home/u", want: "/xdg/clusterctl-x"},
		"XDG_STATE_HOME that is wrong": {xdg: "relative", home: "/home/u", want: "/home/u/.local/state/clusterctl-x"},
		"HOME":                         {home: "/home/u", want: "/home/u/.local/state/clusterctl-x"},
		"nothing":                      {err: "finding the directory for embedded management clusters: $HOME is not defined; set CLUSTERCTL_X_HOME"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv("CLUSTERCTL_X_HOME", test.own)
			t.Setenv("XDG_STATE_HOME", test.xdg)
			t.Setenv("HOME", test.home)
			got, err := DefaultHome()
			if diff := cmp.Diff([]string{test.want, test.err}, []string{got, text(err)}); diff != "" {
				t.Errorf("home and error (-want +got):\n%s", diff)
			}
		})
	}
}
