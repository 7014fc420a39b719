package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/files"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// Target is the directory of a backup that is made. Until it is complete it has another
// name, beside its own.
type Target struct {
	directory, partial string
	recipients         []age.Recipient
}

// NewTarget refuses a directory that holds something, or that cannot be made. The recipients can
// decrypt the files; without any these are not encrypted.
func NewTarget(directory string, recipients []age.Recipient) (Target, error) {
	directory = filepath.Clean(directory)
	entries, err := os.ReadDir(directory)
	switch {
	case err == nil && len(entries) > 0:
		return Target{}, usage.Errorf("%s is not empty; name a directory that does not exist yet, or an empty one", directory)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Target{}, usage.Errorf("reading %s: %w; name a directory that does not exist yet, or an empty one", directory, err)
	}
	parent := filepath.Dir(directory)
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return Target{}, usage.Errorf("there is no directory %s for %s; make it first", parent, directory)
	}
	return Target{directory: directory, partial: filepath.Join(parent, "."+filepath.Base(directory)+".partial"), recipients: recipients}, nil
}

// plain is where clusterctl writes. Only its owner may read it.
func (t Target) plain() string { return filepath.Join(t.partial, "plain") }

// complete is what becomes the directory.
func (t Target) complete() string { return filepath.Join(t.partial, "backup") }

// prepare makes the directories, and removes those of a run that was killed.
func (t Target) prepare() error {
	if err := t.discard(); err != nil {
		return err
	}
	for _, directory := range []string{t.partial, t.plain(), t.complete(), filepath.Join(t.complete(), objectsDirectory)} {
		if err := os.Mkdir(directory, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the backup.
func (t Target) write(name string, data []byte) error {
	if len(t.recipients) > 0 {
		var encrypted bytes.Buffer
		to, err := age.Encrypt(&encrypted, t.recipients...)
		if err != nil {
			return fmt.Errorf("encrypting %s: %w", name, err)
		}
		_, err = to.Write(data)
		if err := errors.Join(err, to.Close()); err != nil {
			return fmt.Errorf("encrypting %s: %w", name, err)
		}
		name, data = name+encryptedSuffix, encrypted.Bytes()
	}
	return files.WritePrivate(filepath.Join(t.complete(), name), data)
}

// finish gives the directory its name.
func (t Target) finish() error {
	if err := os.Remove(t.directory); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one
		return err
	}
	if err := os.Rename(t.complete(), t.directory); err != nil {
		return err
	}
	return t.discard()
}

// discard removes what is not complete.
func (t Target) discard() error { return os.RemoveAll(t.partial) }

// readObjects reads the files that clusterctl wrote.
func readObjects(directory string) (map[string]*unstructured.Unstructured, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, err
	}
	objects := map[string]*unstructured.Unstructured{}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(data); err != nil {
			return nil, fmt.Errorf("reading %s: %w", entry.Name(), err)
		}
		objects[entry.Name()] = object
	}
	return objects, nil
}

// Saved is a backup that was read.
type Saved struct {
	Contents
	directory string
	objects   []*unstructured.Unstructured
	// texts are the objects as files, by name.
	texts map[string][]byte
}

// Open reads a backup whole, and refuses one that is not as it was written.
func Open(directory string, identities []age.Identity) (Saved, error) {
	b := Saved{directory: filepath.Clean(directory), texts: map[string][]byte{}}
	text, err := b.readFile(documentFile, identities)
	if errors.Is(err, fs.ErrNotExist) {
		return b, usage.Errorf("%s is no backup: it has no %s; name a directory that 'clusterctl-x backup management' wrote", directory, documentFile)
	}
	if err != nil {
		return b, err
	}
	if b.Contents, err = parseContents(directory, text); err != nil {
		return b, err
	}
	for name, hash := range b.Files {
		text, err := b.readFile(filepath.Join(objectsDirectory, filepath.Base(name)), identities)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return b, usage.Errorf("the backup in %s is not whole: %s is missing; use another copy of it", directory, name)
		case err != nil:
			return b, err
		case hashOf(text) != hash:
			return b, usage.Errorf("the backup in %s was changed: %s is not as it was written; use another copy of it", directory, name)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(text); err != nil {
			return b, usage.Errorf("reading %s of the backup in %s: %w; use another copy of it", name, directory, err)
		}
		b.objects, b.texts[name] = append(b.objects, object), text
	}
	return b, nil
}

// readFile reads a file of a backup, encrypted or not.
func (b Saved) readFile(name string, identities []age.Identity) ([]byte, error) {
	path := filepath.Join(b.directory, name)
	data, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	path += encryptedSuffix
	encrypted, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(identities) == 0 {
		return nil, usage.Errorf("the backup in %s is encrypted; name the file with the key by --identity", b.directory)
	}
	from, err := age.Decrypt(bytes.NewReader(encrypted), identities...)
	if err != nil {
		return nil, usage.Errorf("decrypting %s: %w; name a file by --identity that has a key of one of those the backup was encrypted to", path, err)
	}
	data, err = io.ReadAll(from)
	if err != nil {
		return nil, usage.Errorf("decrypting %s: %w; use another copy of the backup", path, err)
	}
	return data, nil
}

// unpacked returns a directory with the objects as clusterctl reads them, and what removes it
// again where it is not that of the backup itself.
func (b Saved) unpacked() (string, func() error, error) {
	if !b.Encrypted {
		return filepath.Join(b.directory, objectsDirectory), func() error { return nil }, nil
	}
	directory, err := os.MkdirTemp("", "clusterctl-x-restore-*") // which only its owner may read
	if err != nil {
		return "", nil, err
	}
	remove := func() error { return os.RemoveAll(directory) }
	for name, text := range b.texts {
		if err := files.WritePrivate(filepath.Join(directory, filepath.Base(name)), text); err != nil {
			return "", nil, errors.Join(err, remove())
		}
	}
	return directory, remove, nil
}

// ParseRecipients returns those that age1... names.
func ParseRecipients(names []string) ([]age.Recipient, error) {
	recipients := make([]age.Recipient, len(names))
	for i, name := range names {
		recipient, err := age.ParseX25519Recipient(strings.TrimSpace(name))
		if err != nil {
			return nil, usage.Errorf("%q is no recipient of age: %w; 'age-keygen' prints one, which begins with age1", name, err)
		}
		recipients[i] = recipient
	}
	return recipients, nil
}

// ReadIdentities reads a file of 'age-keygen'; none where it is not named.
func ReadIdentities(path string) ([]age.Identity, error) {
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, usage.Errorf("reading the keys of age: %w", err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(data))
	if err != nil {
		return nil, usage.Errorf("%s has no keys of age: %w; name a file that 'age-keygen' wrote", path, err)
	}
	return identities, nil
}
