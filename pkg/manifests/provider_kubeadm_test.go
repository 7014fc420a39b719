package manifests

import (
	"fmt"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestKubeadmOfADocument: what Cluster API does not have, and what contradicts a field of
// the Cluster, is an error at its line.
func TestKubeadmOfADocument(t *testing.T) {
	t.Parallel()
	const at = "cluster.yaml:30: spec.kubeadmConfigSpec"
	for name, test := range map[string]struct{ cluster, kubeadm, want string }{
		"over the defaults":     {"", "clusterConfiguration: {apiServer: {extraArgs: [{name: profiling, value: 'true'}]}}", "<nil>"},
		"the same as a field":   {"apiServerExtraArgs: {goaway-chance: '0'}", "clusterConfiguration: {apiServer: {extraArgs: [{name: goaway-chance, value: '0'}]}}", "<nil>"},
		"names besides those":   {"certSans: [a.example.com]", "clusterConfiguration: {apiServer: {certSANs: [b.example.com]}}", "<nil>"},
		"other than a field":    {"apiServerExtraArgs: {goaway-chance: '0'}", "clusterConfiguration: {apiServer: {extraArgs: [{name: other}, {name: goaway-chance, value: '1'}]}}", at + `.clusterConfiguration.apiServer.extraArgs[1].value: Invalid value: "1": contradicts apiServerExtraArgs, or another field about the API server, of the Cluster, which makes it "0"; remove one of the two`},
		"a list other than one": {"taints: [{key: a, effect: NoSchedule}]", "joinConfiguration: {nodeRegistration: {taints: []}}", at + `.joinConfiguration.nodeRegistration.taints: Invalid value: []: contradicts taints of the Cluster, which makes it [{"effect":"NoSchedule","key":"a"}]; remove one of the two`},
		"an unknown field":      {"", "clusterConfiguration: {apiServers: {}}", at + `: Forbidden: is no KubeadmConfigSpec of Cluster API: unknown field "clusterConfiguration.apiServers"`},
		"a wrong type":          {"", "files: [{path: 5}]", at + ": Forbidden: is no KubeadmConfigSpec of Cluster API: json: cannot unmarshal number into Go struct field File.files.path of type string"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := string(readFile(t, "testdata/clusterapi-minimal/cluster.yaml"))
			spec = strings.Replace(spec, "  controlPlaneConfiguration:\n", "  controlPlaneConfiguration:\n    "+test.cluster+"\n", 1) + "  kubeadmConfigSpec: {" + test.kubeadm + "}\n"
			_, err := Render(resolve(t, []byte(spec), readFile(t, "testdata/bundles.yaml")))
			if diff := gocmp.Diff(test.want, fmt.Sprint(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}
