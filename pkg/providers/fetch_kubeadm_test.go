package providers_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// outcome is what the script leaves on a machine.
type outcome struct {
	Code    int
	Stderr  string
	Kubeadm string // the program after it
}

// TestFetchKubeadm runs the script as a machine does, after Cluster API has put
// the version of the control plane into it.
func TestFetchKubeadm(t *testing.T) {
	t.Parallel()
	const newer = "#!/bin/bash\necho v1.34.2\n"
	old := func(version string) string { return "#!/bin/bash\necho " + version + "\n" }
	sum, wrong := fmt.Sprintf("%x", sha256.Sum256([]byte(newer))), strings.Repeat("0", 64)
	for _, test := range []struct {
		name         string
		own, wanted  string
		architecture string
		sum          string
		want         outcome
	}{
		{"the same version", "v1.34.2", "v1.34.2", "x86_64", sum, outcome{Kubeadm: old("v1.34.2")}},
		{"an older minor", "v1.33.3", "v1.34.2", "x86_64", sum, outcome{Kubeadm: newer}},
		{"an older minor on arm64", "v1.33.3", "v1.34.2", "aarch64", sum, outcome{Kubeadm: newer}},
		{"an older patch", "v1.34.0", "v1.34.2", "x86_64", sum, outcome{Kubeadm: newer}},
		{"wrong checksum", "v1.33.3", "v1.34.2", "x86_64", wrong, outcome{Code: 1, Stderr: "sha256sum: WARNING: 1 computed checksum did NOT match\n", Kubeadm: old("v1.33.3")}},
		{"no download, older patch", "v1.35.0", "v1.35.1", "x86_64", sum, outcome{Kubeadm: old("v1.35.0")}},
		{"no download, older patch with a build", "v1.35.0+vendor.1", "v1.35.1+vendor.2", "x86_64", sum, outcome{Kubeadm: old("v1.35.0+vendor.1")}},
		{"no download, older minor", "v1.34.0", "v1.35.0", "x86_64", sum, outcome{Code: 1, Stderr: "the versions bundle has no kubeadm v1.35.0 for amd64\n", Kubeadm: old("v1.34.0")}},
		{"brought by the node image", "v1.33.3", "v1.37.0", "riscv64", sum, outcome{Kubeadm: newer}},
		{"checksum of the publisher", "v1.33.3", "v1.34.2", "x86_64", "-", outcome{Kubeadm: newer}},
		{"wrong checksum of the publisher", "v1.33.3", "v1.34.2", "aarch64", "-", outcome{Code: 1, Stderr: "sha256sum: WARNING: 1 computed checksum did NOT match\n", Kubeadm: old("v1.33.3")}},
		{"file of the node image", "v1.33.3", "v1.34.5", "x86_64", sum, outcome{Kubeadm: newer}},
		{"file of the node image with a wrong checksum", "v1.33.3", "v1.34.5", "aarch64", sum, outcome{Code: 1, Stderr: "sha256sum: WARNING: 1 computed checksum did NOT match\n", Kubeadm: old("v1.33.3")}},
		{"unknown architecture", "v1.33.3", "v1.34.2", "riscv64", sum, outcome{Code: 1, Stderr: "no kubeadm for the architecture riscv64\n", Kubeadm: old("v1.33.3")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, content string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
					t.Fatal(err)
				}
				return path
			}
			kubeadm := write("kubeadm", old(test.own))
			write("uname", "#!/bin/bash\necho "+test.architecture+"\n")
			download := write("download", newer)
			published := map[string]string{"x86_64": sum, "aarch64": wrong}[test.architecture]
			write("sha256", published+"  kubeadm\n")
			write("curl", fmt.Sprintf("#!/bin/bash\nwhile [ \"$1\" != --output ]; do shift; done\ncase $3 in\nhttps://example.org/$(%[1]s/uname)) cp %[2]s \"$2\" ;;\nhttps://example.org/$(%[1]s/uname).sha256) cp %[1]s/sha256 \"$2\" ;;\n*) exit 1 ;;\nesac\n", dir, download))
			list := write("kubeadm-downloads", fmt.Sprintf("v1.34.1 amd64 none https://example.org/none\nv1.34.2 amd64 %[1]s https://example.org/x86_64\nv1.34.2 arm64 %[1]s https://example.org/aarch64\nv1.34.5 amd64 - file://%[2]s\nv1.34.5 arm64 %[3]s file://%[2]s\n", test.sum, download, wrong))
			if err := os.Mkdir(filepath.Join(dir, "v1.37.0"), 0o755); err != nil {
				t.Fatal(err)
			}
			write("v1.37.0/kubeadm", newer)
			script := write("fetch-kubeadm.sh", strings.NewReplacer("/etc/clusterctl-x/kubeadm-downloads", list, "/opt/kubeadm", dir).Replace(rendered(t, test.wanted)))

			var stderr bytes.Buffer
			cmd := exec.CommandContext(t.Context(), "bash", script)
			cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "LC_ALL=C"}
			cmd.Stderr = &stderr
			err := cmd.Run()
			if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			after, err := os.ReadFile(kubeadm)
			if err != nil {
				t.Fatal(err)
			}
			got := outcome{cmd.ProcessState.ExitCode(), stderr.String(), string(after)}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("outcome (-want +got):\n%s", diff)
			}
		})
	}
}

func rendered(t *testing.T, controlPlane string) string {
	t.Helper()
	provider := providers.BuiltIn()["docker"]
	script, err := template.New("").Parse(provider.Node(v1alpha1.MustParseVersion(controlPlane)).FetchKubeadm)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := script.Execute(&out, map[string]any{"controlPlane": map[string]any{"version": controlPlane}}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
