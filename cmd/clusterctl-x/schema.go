package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
)

func (a *app) generateSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Write the JSON Schema of cluster specs, for editors",
		Long: `Write the JSON Schema (draft 2020-12) of cluster specs, for editors.

An editor with the YAML language server completes and checks each document that
has a comment with the place of the schema, and all documents of the files that
its setting yaml.schemas names:

  # yaml-language-server: $schema=clusterctl-x.json`,
		Example: "  clusterctl-x generate schema > clusterctl-x.json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			return a.print(json.RawMessage(config.SpecSchema), func() error {
				return a.write(string(config.SpecSchema))
			})
		},
	}
}
