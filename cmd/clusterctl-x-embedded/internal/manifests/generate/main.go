// Command generate writes the manifests of Cluster API, from the modules that
// go.mod names, into one JSON file.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
)

// component is one of Cluster API's programs with its config directory.
type component struct {
	name, module, dir string
	// contract is set where upstream's kustomization labels the CRDs with the
	// contract versions; the CRD files themselves lack these labels.
	contract bool
}

type manifests struct {
	CRDs       []apiextensionsv1.CustomResourceDefinition
	Mutating   []admissionregistrationv1.MutatingWebhookConfiguration
	Validating []admissionregistrationv1.ValidatingWebhookConfiguration
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate FILE")
	}
	if err := generate(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func generate(file string) error {
	const capi = "sigs.k8s.io/cluster-api"
	components := map[string][]component{
		"core": {
			{name: "core", module: capi, dir: "core/config"},
		},
		"providers": {
			{name: "bootstrap", module: capi, dir: "bootstrap/kubeadm/config", contract: true},
			{name: "control-plane", module: capi, dir: "controlplane/kubeadm/config", contract: true},
			{name: "infrastructure-dev", module: capi + "/test", dir: "infrastructure/docker/config", contract: true},
		},
	}
	out := map[string]manifests{}
	for server, list := range components {
		var all manifests
		for _, c := range list {
			if err := all.add(c); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		out[server] = all
	}
	data, err := json.Marshal(out)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}

func (m *manifests) add(c component) error {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", c.module).Output() //nolint:noctx // it runs as long as this program
	if err != nil {
		return fmt.Errorf("finding module %s: %w", c.module, err)
	}
	dir := filepath.Join(strings.TrimSpace(string(module)), filepath.FromSlash(c.dir))
	crds, err := filepath.Glob(filepath.Join(dir, "crd", "bases", "*.yaml"))
	if err != nil || len(crds) == 0 {
		return errors.Join(fmt.Errorf("no CRDs in %s", dir), err)
	}
	for _, path := range append(crds, filepath.Join(dir, "webhook", "manifests.yaml")) {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := m.addFile(c, data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

func (m *manifests) addFile(c component, data []byte) error {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := m.addObject(c, raw); err != nil {
			return err
		}
	}
}

func (m *manifests) addObject(c component, raw []byte) error {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(raw, &kind); err != nil {
		return err
	}
	switch kind.Kind {
	case "CustomResourceDefinition":
		var crd apiextensionsv1.CustomResourceDefinition
		if err := json.Unmarshal(raw, &crd); err != nil {
			return err
		}
		if c.contract {
			labelContract(&crd)
		}
		metav1.SetMetaDataLabel(&crd.ObjectMeta, clusterctlv1.ClusterctlLabel, "") // as 'clusterctl init' does, for what it moves
		establish(&crd)
		m.CRDs = append(m.CRDs, crd)
	case "MutatingWebhookConfiguration":
		var webhook admissionregistrationv1.MutatingWebhookConfiguration
		if err := json.Unmarshal(raw, &webhook); err != nil {
			return err
		}
		webhook.Name = "cluster-api-" + c.name
		m.Mutating = append(m.Mutating, webhook)
	case "ValidatingWebhookConfiguration":
		var webhook admissionregistrationv1.ValidatingWebhookConfiguration
		if err := json.Unmarshal(raw, &webhook); err != nil {
			return err
		}
		webhook.Name = "cluster-api-" + c.name
		m.Validating = append(m.Validating, webhook)
	default:
		return fmt.Errorf("unexpected kind %s", kind.Kind)
	}
	return nil
}

// labelContract says which versions of Cluster API's contract a CRD has, where its
// own manifest does not.
func labelContract(crd *apiextensionsv1.CustomResourceDefinition) {
	if crd.Labels == nil {
		crd.Labels = map[string]string{}
	}
	crd.Labels["cluster.x-k8s.io/v1beta1"] = "v1beta1"
	crd.Labels["cluster.x-k8s.io/v1beta2"] = "v1beta2"
}

// establish gives a CRD the status that the API server's controllers would
// come to: names accepted, established, the storage version stored.
func establish(crd *apiextensionsv1.CustomResourceDefinition) {
	names := crd.Spec.Names
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	crd.Spec.Names = names
	crd.Status.AcceptedNames = names
	for _, version := range crd.Spec.Versions {
		if version.Storage {
			crd.Status.StoredVersions = []string{version.Name}
		}
	}
	// The moment is fixed: the same modules give the same file.
	since := metav1.NewTime(time.Unix(0, 0).UTC())
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found", LastTransitionTime: since},
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted", Message: "the initial names have been accepted", LastTransitionTime: since},
	}
}
