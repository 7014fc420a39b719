package backup

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

func aCluster(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": map[string]any{"name": name, "namespace": "default"},
	}}
}

func aSecret(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name, "namespace": "default"}, "data": map[string]any{"tls.key": "c2VjcmV0"},
	}}
}

func newKey(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// saveIn writes a backup of a cluster and a Secret, as Save does.
func saveIn(t *testing.T, directory string, recipients ...age.Recipient) Contents {
	t.Helper()
	to, err := NewTarget(directory, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.prepare(); err != nil {
		t.Fatal(err)
	}
	contents := Contents{ID: "1", Created: time.Unix(0, 0).UTC(), Version: "v9", Encrypted: len(recipients) > 0, Files: map[string]string{}}
	objects := []*unstructured.Unstructured{aCluster("a"), aSecret("a-ca")}
	for _, object := range objects {
		data, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		name := object.GetKind() + ".yaml"
		contents.Files[name] = hashOf(data)
		if err := to.write(filepath.Join(objectsDirectory, name), data); err != nil {
			t.Fatal(err)
		}
	}
	contents.describe(objects)
	text, err := contents.text()
	if err != nil {
		t.Fatal(err)
	}
	if err := to.write(documentFile, text); err != nil {
		t.Fatal(err)
	}
	if err := to.finish(); err != nil {
		t.Fatal(err)
	}
	return contents
}

// filesBelow returns the files and directories below one, with their modes.
func filesBelow(t *testing.T, directory string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		name, _ := filepath.Rel(directory, path)
		found[name] = info.Mode().String()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	delete(found, ".")
	return found
}

func TestBackupIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	one, other := newKey(t), newKey(t)
	for name, test := range map[string]struct {
		recipients []age.Recipient
		identities []age.Identity
		suffix     string
	}{
		"plain":        {},
		"encrypted":    {recipients: []age.Recipient{one.Recipient()}, identities: []age.Identity{one}, suffix: ".age"},
		"two can":      {recipients: []age.Recipient{one.Recipient(), other.Recipient()}, identities: []age.Identity{other}, suffix: ".age"},
		"several keys": {recipients: []age.Recipient{one.Recipient()}, identities: []age.Identity{other, one}, suffix: ".age"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			wrote := saveIn(t, filepath.Join(parent, "b"), test.recipients...)
			want := map[string]string{
				"b": "drwx------", "b/objects": "drwx------", "b/backup.yaml" + test.suffix: "-rw-------",
				"b/objects/Cluster.yaml" + test.suffix: "-rw-------", "b/objects/Secret.yaml" + test.suffix: "-rw-------",
			}
			if diff := cmp.Diff(want, filesBelow(t, parent)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			read, err := Open(filepath.Join(parent, "b"), test.identities)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wrote, read.Contents); diff != "" {
				t.Errorf("contents (-wrote +read):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"default/a"}, read.Clusters); diff != "" {
				t.Errorf("clusters (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"default/a-ca"}, read.Secrets); diff != "" {
				t.Errorf("Secrets (-want +got):\n%s", diff)
			}
			directory, remove, err := read.unpacked()
			if err != nil {
				t.Fatal(err)
			}
			objects, err := readObjects(directory)
			if diff := cmp.Diff(map[string]*unstructured.Unstructured{"Cluster.yaml": aCluster("a"), "Secret.yaml": aSecret("a-ca")}, objects); diff != "" || err != nil {
				t.Errorf("objects (-want +got), %v:\n%s", err, diff)
			}
			if err := remove(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(directory); (err == nil) != (test.suffix == "") {
				t.Errorf("after its end the unpacked directory: %v", err)
			}
		})
	}
}

func TestWhatIsNoBackup(t *testing.T) {
	t.Parallel()
	one, other := newKey(t), newKey(t)
	overwrite := func(name, text string) func(string) error {
		return func(directory string) error { return os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600) }
	}
	for name, test := range map[string]struct {
		encrypted  bool
		identities []age.Identity
		spoil      func(directory string) error
		want       string
	}{
		"nothing there":   {spoil: os.RemoveAll, want: "DIR is no backup: it has no backup.yaml; name a directory that 'clusterctl-x backup management' wrote"},
		"another kind":    {spoil: overwrite("backup.yaml", "apiVersion: v1\nkind: ConfigMap\n"), want: "DIR is no backup: its backup.yaml is a ConfigMap of v1; name a directory that 'clusterctl-x backup management' wrote"},
		"newer":           {spoil: overwrite("backup.yaml", "apiVersion: clusterctl-x.io/v1alpha1\nkind: Backup\nformat: 2\nversion: v10\n"), want: "the backup in DIR has format 2, and this clusterctl-x knows 1; restore it with clusterctl-x v10 or newer"},
		"a file missing":  {spoil: func(directory string) error { return os.Remove(filepath.Join(directory, "objects", "Secret.yaml")) }, want: "the backup in DIR is not whole: Secret.yaml is missing; use another copy of it"},
		"a file changed":  {spoil: overwrite("objects/Secret.yaml", "{}"), want: "the backup in DIR was changed: Secret.yaml is not as it was written; use another copy of it"},
		"no key":          {encrypted: true, want: "the backup in DIR is encrypted; name the file with the key by --identity"},
		"the wrong key":   {encrypted: true, identities: []age.Identity{other}, want: "decrypting DIR/backup.yaml.age: no identity matched any of the recipients; name a file by --identity that has a key of one of those the backup was encrypted to"},
		"a broken cipher": {encrypted: true, identities: []age.Identity{one}, spoil: overwrite("backup.yaml.age", "age"), want: `decrypting DIR/backup.yaml.age: failed to read header: parsing age header: failed to read intro: EOF; name a file by --identity that has a key of one of those the backup was encrypted to`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := filepath.Join(t.TempDir(), "b")
			if test.encrypted {
				saveIn(t, directory, one.Recipient())
			} else {
				saveIn(t, directory)
			}
			if test.spoil != nil {
				if err := test.spoil(directory); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(directory, test.identities)
			wrong, is := err.(usage.Error) //nolint:errorlint // it is not wrapped
			if !is {
				t.Fatalf("the error is %v, and none about what the user gave", err)
			}
			if diff := cmp.Diff(test.want, strings.ReplaceAll(wrong.Error(), directory, "DIR")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTargetDirectory(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	saveIn(t, filepath.Join(parent, "full"))
	if err := os.Mkdir(filepath.Join(parent, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"full":             "DIR/full is not empty; name a directory that does not exist yet, or an empty one",
		"full/no/b":        "there is no directory DIR/full/no for DIR/full/no/b; make it first",
		"full/backup.yaml": "reading DIR/full/backup.yaml: not a directory; name a directory that does not exist yet, or an empty one",
		"empty":            "",
		"new":              "",
	} {
		_, err := NewTarget(filepath.Join(parent, name), nil)
		got := ""
		if err != nil {
			got = strings.ReplaceAll(strings.ReplaceAll(err.Error(), parent, "DIR"), "open DIR/full/backup.yaml: ", "")
			got = strings.ReplaceAll(got, "fdopendir DIR/full/backup.yaml: ", "")
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	// What a run left that was killed goes, and an empty directory is taken.
	left := filepath.Join(parent, ".empty.partial", "plain")
	if err := os.MkdirAll(left, 0o700); err != nil {
		t.Fatal(err)
	}
	saveIn(t, filepath.Join(parent, "empty"))
	if _, err := os.Stat(filepath.Dir(left)); err == nil {
		t.Error("what a killed run left is still there")
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	if _, err := ParseRecipients([]string{"age1nobody"}); err == nil || !strings.HasPrefix(err.Error(), `"age1nobody" is no recipient of age: `) {
		t.Errorf("a broken recipient: %v", err)
	}
	file := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(file, []byte("# nothing\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIdentities(file); err == nil || !strings.HasPrefix(err.Error(), file+" has no keys of age: ") {
		t.Errorf("a file without keys: %v", err)
	}
	if identities, err := ReadIdentities(""); identities != nil || err != nil {
		t.Errorf("no file: %v, %v", identities, err)
	}
}
