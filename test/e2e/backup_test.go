package e2e_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// TestBackupAndRestore saves two clusters, one from a class, removes their management cluster,
// restores them into a new one, and upgrades them there. Saving and restoring are killed on
// the way, at writes of each phase.
func TestBackupAndRestore(t *testing.T) {
	t.Parallel()
	const instance = "backup"
	directory := filepath.Join(t.TempDir(), "backup")
	cli(t, 0, "management", "start", "--name", instance)
	kubectl(t, instance, classText(t, "default"), "apply", "-f", "-")
	kubectl(t, instance, nil, "create", "configmap", "extra", addOnManifests)
	specs := []clusterSpec{
		{name: "plain", version: "1.35", groups: []groupSpec{{name: "md-0"}}, more: addOn},
		{name: "classy", version: "1.35", class: "name: inmemory", groups: []groupSpec{{name: "md-0"}, {name: "md-1", version: "1.34"}}},
	}
	for _, spec := range specs {
		cli(t, 0, "create", "cluster", "-f", spec.path(t), "--name", instance)
	}
	before := everythingOf(t, instance)

	recipient, identity := ageKey(t)
	save := []string{"backup", "management", "--to", directory, "--encrypt-to", recipient}
	killedOnTheWay(t, instance, save, 1, 2, 3, 4)
	if _, err := os.Stat(directory); err == nil {
		t.Error("there is a backup although each run was killed")
	}
	cli(t, 0, append(save, "--name", instance, "--take-over")...)
	assertNotPaused(t, instance)
	kubectl(t, instance, nil, "patch", "cluster", "plain", "--type=merge", "-p", `{"spec":{"paused":true}}`)
	const paused = "error: cluster default/plain is paused by a user, and clusterctl would end that pause; set its spec.paused to false\n"
	assertEndsWith(t, cli(t, 3, "backup", "management", "--to", directory+"-2", "--name", instance).stderr, paused)
	assertEncrypted(t, directory)
	assertEndsWith(t, cli(t, 2, append(save, "--name", instance)...).stderr, " is not empty; name a directory that does not exist yet, or an empty one\n")

	cli(t, 0, "management", "stop", "--remove", "--name", instance)
	cli(t, 0, "management", "start", "--name", instance)
	everyone.readers.forget(instance)
	restore := []string{"restore", "management", "--from", directory, "--identity", identity}
	assertEndsWith(t, cli(t, 2, "restore", "management", "--from", directory, "--name", instance).stderr, " is encrypted; name the file with the key by --identity\n")
	// The last one is killed when one of three is resumed.
	killedOnTheWay(t, instance, restore, 1, 30, 60, everyWrite(t, directory)-(1+30+60)-2)
	cli(t, 0, append(restore, "--name", instance, "--take-over")...)
	assertNotPaused(t, instance)
	if got := cli(t, 0, append(restore, "--name", instance)...).stdout; !strings.HasSuffix(got, " were restored already; nothing to do\n") {
		t.Errorf("a second restore said %q", got)
	}
	if diff := cmp.Diff(before, everythingOf(t, instance)); diff != "" {
		t.Errorf("what there is after the restore (-before +after):\n%s", diff)
	}
	const uninterrupted = "backup-restored"
	cli(t, 0, append(restore, "--name", uninterrupted)...)
	assertNotPaused(t, uninterrupted)
	if diff := cmp.Diff(before, everythingOf(t, uninterrupted)); diff != "" {
		t.Errorf("what there is after a restore that nothing interrupts (-before +after):\n%s", diff)
	}
	cli(t, 0, "management", "stop", "--remove", "--name", uninterrupted)
	for _, spec := range specs {
		file := spec.path(t)
		cli(t, 0, "create", "cluster", "-f", file, "--name", instance) // waits until it is ready
		spec.version = "1.36"
		cli(t, 0, "upgrade", "cluster", "-f", spec.path(t), "--name", instance)
	}
	for _, machine := range list[clusterv1.Machine](t, instance, "default", "machines") {
		want := "v1.36"
		if machine.Labels[v1alpha1.WorkerNodeGroupLabel] == "md-1" {
			want = "v1.34"
		}
		if !strings.HasPrefix(machine.Spec.Version, want+".") {
			t.Errorf("machine %s has version %s, want %s", machine.Name, machine.Spec.Version, want)
		}
	}
}

// An add-on of a cluster, and the flag of 'kubectl create configmap' with what it applies.
const (
	addOn          = "  addOns: [{name: extra, resources: [{kind: ConfigMap, name: extra}]}]\n"
	addOnManifests = "--from-literal=manifests={apiVersion: v1, kind: ConfigMap, metadata: {name: extra, namespace: default}}"
)

// killedOnTheWay runs a command several times, and kills it before the write after so many.
func killedOnTheWay(t *testing.T, instance string, args []string, writes ...int) {
	t.Helper()
	killer := newKiller(t, instance)
	args = append(slices.Clone(args), "--take-over", "--management", "kubeconfig", "--kubeconfig", killer.kubeconfig(t, "default"))
	for _, after := range writes {
		if !killer.killed(t, after, args...) {
			t.Errorf("'%s' came to its end within %d writes", strings.Join(args[:2], " "), after)
		}
	}
}

// everyWrite is how many writes a restore makes: each object is created, and given back to its
// field managers; both Clusters and the ClusterClass are resumed.
func everyWrite(t *testing.T, directory string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(directory, "objects"))
	if err != nil {
		t.Fatal(err)
	}
	return 2*len(entries) + 3
}

// everythingOf is what a restore must not change: the machines and the keys of the clusters,
// and who owns the fields of their objects.
func everythingOf(t *testing.T, instance string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, machine := range list[clusterv1.Machine](t, instance, "default", "machines") {
		all["machine "+machine.Name] = machine.Spec.ProviderID + " " + machine.Spec.Version
	}
	for _, secret := range list[corev1.Secret](t, instance, "default", "secrets") {
		data, err := json.Marshal(secret.Data)
		if err != nil {
			t.Fatal(err)
		}
		if _, ofCluster := secret.Labels[clusterv1.ClusterNameLabel]; ofCluster {
			all["secret "+secret.Name] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	for _, object := range list[metav1.PartialObjectMetadata](t, instance, "default", "machinedeployments,kubeadmcontrolplanes,devmachinetemplates,configmaps,clusterresourcesets,clusterresourcesetbindings") {
		owners := []string{}
		for _, entry := range object.ManagedFields {
			if entry.Subresource == "" {
				owners = append(owners, entry.Manager+" "+string(entry.Operation))
			}
		}
		slices.Sort(owners)
		all[object.Kind+" "+object.Name] = strings.Join(owners, ", ")
	}
	return all
}

// assertNotPaused fails where a Cluster or a ClusterClass is paused, or marked.
func assertNotPaused(t *testing.T, instance string) {
	t.Helper()
	for _, cluster := range list[clusterv1.Cluster](t, instance, "default", "clusters") {
		if mark := cluster.Annotations[v1alpha1.PauseAnnotation]; mark != "" || ptr.Deref(cluster.Spec.Paused, false) {
			t.Errorf("cluster %s is paused: %s", cluster.Name, mark)
		}
	}
	for _, class := range list[clusterv1.ClusterClass](t, instance, "default", "clusterclasses") {
		if mark := class.Annotations[v1alpha1.PauseAnnotation]; mark != "" || annotations.HasPaused(&class) {
			t.Errorf("class %s is paused: %s", class.Name, mark)
		}
	}
}

// assertEncrypted fails where another user may read a file of a backup, or a user without
// the key can.
func assertEncrypted(t *testing.T, directory string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others may read it (%s)", path, info.Mode())
		}
		if !entry.IsDir() && filepath.Ext(path) != ".age" {
			t.Errorf("%s is not encrypted", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// ageKey is a new key of age: who to encrypt to, and the file that decrypts.
func ageKey(t *testing.T) (recipient, file string) {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.Recipient().String(), textFile(t, "key.txt", []byte(fmt.Sprintln(identity)))
}
