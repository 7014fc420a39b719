package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestSecretsOfCloudStack: each Secret that zones name is needed, once.
func TestSecretsOfCloudStack(t *testing.T) {
	t.Parallel()
	secret := func(name string) Reference {
		return Reference{Kind: "Secret", Name: name, Keys: []string{"api-url", "api-key", "secret-key"}, For: "access to CloudStack"}
	}
	for golden, want := range map[string][]Reference{
		"cloudstack-minimal":    {secret("global")},
		"cloudstack-all-fields": {secret("first"), secret("second")},
		"cloudstack-zones":      {secret("global")},
	} {
		t.Run(golden, func(t *testing.T) {
			t.Parallel()
			input := goldenCase{golden, "testdata/" + golden + "/cluster.yaml", "testdata/bundles.yaml"}.input(t)
			got, err := References(input.Config, input.Provider)
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSymlinksOfCloudStack runs the command of a link as a machine does, and once more, as
// after a restart.
func TestSymlinksOfCloudStack(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		link   string
		before []string // directories with a file
		want   map[string]string
	}{
		"nothing there":      {"/log/pods", nil, map[string]string{"/data/pods": "", "/log/pods": "-> /data/pods"}},
		"a directory":        {"/log/pods", []string{"/log/pods"}, map[string]string{"/data/pods": "", "/log/pods": "-> /data/pods", "/log/pods.before-symlink": "file"}},
		"a slash at its end": {"/log/pods/", []string{"/log/pods"}, map[string]string{"/data/pods": "", "/log/pods": "-> /data/pods", "/log/pods.before-symlink": "file"}},
		"a disk from before": {"/log/pods", []string{"/data/pods"}, map[string]string{"/data/pods": "file", "/log/pods": "-> /data/pods"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, directory := range test.before {
				if err := os.MkdirAll(root+directory, 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(root+directory+"/file", nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := symlinkCommand(t, root+test.link, root+"/data/pods")
			for range 2 {
				if out, err := exec.CommandContext(t.Context(), "sh", "-ec", command).CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("%s: %v\n%s", command, err, out)
				}
			}
			if diff := gocmp.Diff(test.want, tree(t, root)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}

// symlinkCommand is what machines with a symbolic link run before kubeadm for it.
func symlinkCommand(t *testing.T, link, target string) string {
	t.Helper()
	spec := string(readFile(t, "testdata/cloudstack-minimal/cluster.yaml")) + "  symlinks: {" + link + ": " + target + "}\n"
	input := resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml"))
	for _, object := range mustRender(t, input) {
		for line := range strings.Lines(string(object.YAML)) {
			if command, is := strings.CutPrefix(strings.TrimSpace(line), "- link="); is {
				return "link=" + command
			}
		}
	}
	t.Fatal("no command")
	return ""
}

// tree maps the directories without directories below a root to what is in them, and links to
// where they lead.
func tree(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, directory := range []string{"/data", "/log"} {
		entries, err := os.ReadDir(root + directory)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			path := directory + "/" + entry.Name()
			if target, err := os.Readlink(root + path); err == nil {
				found[path] = "-> " + strings.TrimPrefix(target, root)
				continue
			}
			files, err := filepath.Glob(root + path + "/*")
			if err != nil {
				t.Fatal(err)
			}
			found[path] = strings.TrimPrefix(strings.Join(files, " "), root+path+"/")
		}
	}
	return found
}
