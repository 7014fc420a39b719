package main

import (
	"bytes"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
)

func (a *app) generateGuardrailsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "guardrails",
		Short: "Write the policies that hold everybody to the version skew policy",
		Long: `Write the policies that hold everybody to the version skew policy.

They are ValidatingAdmissionPolicies, which the API server of a management cluster
(1.30 or newer) evaluates by itself. They refuse changes of versions that move down
or break the policy, whoever makes them, and let everything else through. The
embedded management cluster has them. Whoever applies them must be an administrator
of the management cluster. docs/guardrails.md says more.`,
		Example: "  clusterctl-x generate guardrails | kubectl apply --server-side -f -",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := guardrails(config.Guardrails)
			if err != nil {
				return err
			}
			return a.write(text)
		},
	}
}

// guardrails are all files as one. They are printed as they stand, with the
// comments that say why.
func guardrails(files fs.FS) (string, error) {
	names, err := fs.Glob(files, "guardrails/*.yaml")
	if err != nil {
		return "", err
	}
	var texts [][]byte
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return "", err
		}
		texts = append(texts, text)
	}
	return string(bytes.Join(texts, []byte("---\n"))), nil
}
