package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
)

func (a *app) explainCommand() *cobra.Command {
	var recursive bool
	cmd := &cobra.Command{
		Use:   "explain [FIELD]",
		Short: "Say what the fields of a cluster spec are",
		Long: `Say what the fields of a cluster spec are.

FIELD is a kind, or a path that begins with a kind or inside of a Cluster or its
spec. Without it the kinds are listed.`,
		Example: `  clusterctl-x explain cluster
  clusterctl-x explain spec.clusterNetwork
  clusterctl-x explain workerNodeGroupConfigurations.taints
  clusterctl-x explain cluster --recursive`,
		Args:              atMostOneField,
		ValidArgsFunction: a.completeFields,
		RunE: func(_ *cobra.Command, args []string) error {
			schema, err := parseSpecSchema(config.SpecSchema)
			if err != nil {
				return err
			}
			below := oneLevel
			if recursive {
				below = allLevels
			}
			if len(args) == 0 {
				return a.explainKinds(schema, below)
			}
			found, err := schema.find(args[0])
			if err != nil {
				return usageError{err}
			}
			return a.print(schema.expand(found.node), func() error {
				return a.write(explanation(schema, found, below))
			})
		},
	}
	cmd.Flags().BoolVar(&recursive, "recursive", false, "show all fields below, with their types only")
	return cmd
}

func atMostOneField(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] == "" {
		return usageError{fmt.Errorf("'%s' takes at most one argument, a path of fields such as cluster.spec.clusterNetwork", cmd.CommandPath())}
	}
	return nil
}

// write writes text that is complete to stdout.
func (a *app) write(text string) error {
	_, err := a.out.Write([]byte(text))
	return err
}

func (a *app) explainKinds(schema *specSchema, below depth) error {
	return a.print(schema.root, func() error {
		var p printer
		p.line("KINDS:")
		for _, kind := range schema.kinds() {
			p.line("  %s", kind.title())
			if below == allLevels {
				p.tree(schema, kind, "    ")
				continue
			}
			p.wrap("    ", firstSentence(kind.description()))
		}
		return a.write(p.String())
	})
}

// completeFields offers the fields one level further to the shell.
func (a *app) completeFields(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	schema, err := parseSpecSchema(config.SpecSchema)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	candidates := slices.DeleteFunc(schema.next(typed), func(path string) bool { return !strings.HasPrefix(path, typed) })
	return candidates, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// next are the paths that what was typed up to its last dot may go on with.
// Shells compare case, so kinds are offered as people type them too.
func (s *specSchema) next(typed string) []string {
	dot := strings.LastIndex(typed, ".")
	if dot < 0 {
		names := s.firstNames()
		for _, kind := range s.kinds() {
			names = append(names, strings.ToLower(kind.title()))
		}
		return names
	}
	parent, err := s.find(typed[:dot])
	if err != nil {
		return nil
	}
	names := s.fields(parent.node)
	for i, name := range names {
		names[i] = typed[:dot+1] + name
	}
	return names
}
