// Command schemas writes the schemas of the infrastructure kinds that
// clusterctl-x renders and that have no Go types outside of test modules, so
// that rendered objects are checked offline.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/clusterctl-x/clusterctl-x/cmd/clusterctl-x-embedded/internal/manifests"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: schemas DIRECTORY")
	}
	if err := write(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func write(dir string) error {
	all, err := manifests.Load(nil)
	if err != nil {
		return err
	}
	wanted := map[string]bool{"DevCluster": true, "DevMachineTemplate": true}
	for _, crd := range all.CRDs {
		if !wanted[crd.Spec.Names.Kind] {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if !version.Storage {
				continue
			}
			schema := version.Schema.OpenAPIV3Schema
			strip(schema)
			data, err := json.MarshalIndent(schema, "", " ")
			if err != nil {
				return err
			}
			name := fmt.Sprintf("%s_%s_%s.json", crd.Spec.Group, version.Name, crd.Spec.Names.Kind)
			if err := os.WriteFile(filepath.Join(dir, name), append(data, '\n'), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// strip removes what a check does not need: descriptions and the status.
func strip(schema *apiextensionsv1.JSONSchemaProps) {
	delete(schema.Properties, "status")
	describeNothing(schema)
}

func describeNothing(schema *apiextensionsv1.JSONSchemaProps) {
	schema.Description = ""
	for name, property := range schema.Properties {
		describeNothing(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		describeNothing(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		describeNothing(schema.AdditionalProperties.Schema)
	}
}
