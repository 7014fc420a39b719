package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/usage"
)

// kind of the document that says what a backup holds.
const kind = "Backup"

// format is the newest form of a backup that this release writes and reads.
const format = 1

// Names in the directory of a backup.
const (
	documentFile     = "backup.yaml"
	objectsDirectory = "objects"
	encryptedSuffix  = ".age"
)

// Contents say what a backup holds.
type Contents struct {
	// ID of the backup, which the objects that are restored from it carry.
	ID string `json:"id"`
	// Created is when it was made.
	Created time.Time `json:"created"`
	// Version of clusterctl-x, and ClusterAPI of the library, that made it.
	Version    string `json:"version,omitempty"`
	ClusterAPI string `json:"clusterAPI,omitempty"`
	// Clusters are the clusters in it, as namespace/name, sorted.
	Clusters []string `json:"clusters"`
	// Kinds are those of its objects, sorted.
	Kinds []Kind `json:"kinds"`
	// Secrets are the Secrets in it, as namespace/name, sorted. They hold private keys.
	Secrets []string `json:"secrets,omitempty"`
	// Missing are Secrets that its objects name and that are not in it, sorted.
	Missing []string `json:"missing,omitempty"`
	// Encrypted is true where all files are.
	Encrypted bool `json:"encrypted,omitempty"`
	// Files are the hashes of the files of the objects, by name.
	Files map[string]string `json:"files"`
}

// Kind is a kind of objects.
type Kind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// groupVersionKind returns the kind as Kubernetes' libraries have it.
func (k Kind) groupVersionKind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(k.APIVersion, k.Kind)
}

// Objects is how many objects there are.
func (c Contents) Objects() int { return len(c.Files) }

// Warnings returns what a person must know of a backup that is not all that the clusters need.
func (c Contents) Warnings() []string {
	warnings := make([]string, len(c.Missing))
	for i, secret := range c.Missing {
		warnings[i] = fmt.Sprintf("Secret %s is named by these objects and is not in the backup, since nothing in it owns the Secret; keep a copy of it, or give it the label %s and make another backup", secret, clusterctlv1.ClusterctlMoveLabel)
	}
	return warnings
}

// keys returns the places of the clusters.
func (c Contents) keys() []client.ObjectKey {
	keys := make([]client.ObjectKey, len(c.Clusters))
	for i, name := range c.Clusters {
		keys[i].Namespace, keys[i].Name, _ = strings.Cut(name, "/")
	}
	return keys
}

// document is the file that says what a backup holds.
type document struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Format     int    `json:"format"`
	Contents   `json:",inline"`
}

// describe completes the contents by the objects.
func (c *Contents) describe(objects []*unstructured.Unstructured) {
	var clusters []client.ObjectKey
	for _, object := range objects {
		key := client.ObjectKeyFromObject(object)
		switch {
		case isCluster(object):
			clusters = append(clusters, key)
		case object.GetKind() == "Secret" && object.GetAPIVersion() == "v1":
			c.Secrets = append(c.Secrets, key.String())
		}
		if kind := (Kind{object.GetAPIVersion(), object.GetKind()}); !slices.Contains(c.Kinds, kind) {
			c.Kinds = append(c.Kinds, kind)
		}
	}
	c.Clusters = sorted(clusters)
	slices.Sort(c.Secrets)
	slices.SortFunc(c.Kinds, func(a, b Kind) int {
		return strings.Compare(a.APIVersion+"/"+a.Kind, b.APIVersion+"/"+b.Kind)
	})
}

// text returns the contents as a file.
func (c Contents) text() ([]byte, error) {
	return yaml.Marshal(document{APIVersion: v1alpha1.APIVersion, Kind: kind, Format: format, Contents: c})
}

// parseContents reads such a file of a directory.
func parseContents(directory string, text []byte) (Contents, error) {
	var found document
	if err := yaml.Unmarshal(text, &found); err != nil {
		return Contents{}, usage.Errorf("%s in %s is broken: %w; name a directory that 'clusterctl-x backup management' wrote", documentFile, directory, err)
	}
	switch {
	case found.APIVersion != v1alpha1.APIVersion || found.Kind != kind:
		return Contents{}, usage.Errorf("%s is no backup: its %s is a %s of %s; name a directory that 'clusterctl-x backup management' wrote", directory, documentFile, found.Kind, found.APIVersion)
	case found.Format > format:
		return Contents{}, usage.Errorf("the backup in %s has format %d, and this clusterctl-x knows %d; restore it with clusterctl-x %s or newer", directory, found.Format, format, found.Version)
	}
	return found.Contents, nil
}

// hashOf is the hash of a file.
func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// clusterAPIVersion is the release of Cluster API whose library this program has.
func clusterAPIVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	i := slices.IndexFunc(info.Deps, func(m *debug.Module) bool { return m.Path == "sigs.k8s.io/cluster-api" })
	if i < 0 {
		return ""
	}
	return info.Deps[i].Version
}

// nameOf names an object for people.
func nameOf(object *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s", object.GetKind(), strings.TrimPrefix(client.ObjectKeyFromObject(object).String(), "/"))
}
