package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func (a *app) generateManifestsCommand() *cobra.Command {
	var o upgradeOptions
	var directory string
	var step int
	cmd := &cobra.Command{
		Use:   "manifests -f FILE",
		Short: "Write exactly what 'create cluster' applies, or what one step of an upgrade does",
		Example: `  clusterctl-x generate manifests -f cluster.yaml | kubectl apply -f -
  clusterctl-x generate manifests -f cluster.yaml -o manifests/
  clusterctl-x generate manifests -f cluster.yaml --from old.yaml --step 2 -o manifests/`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if directory == outputText || directory == outputJSON || directory == outputYAML {
				return usageError{fmt.Errorf("-o names a directory here, and manifests are always YAML; if you mean a directory of this name, write ./%s", directory)}
			}
			if err := o.scope.check(); err != nil {
				return err
			}
			if (o.from != "") != cmd.Flags().Changed("step") {
				return usageError{errors.New("--from and --step go together: the file that describes the cluster as it is, and which step of the way from there")}
			}
			objects, err := a.manifests(cmd.Context(), o, step)
			if err != nil {
				return err
			}
			if directory != "" {
				return a.writeManifests(directory, objects)
			}
			return a.printManifests(objects)
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.from, "from", "", "file that describes the cluster as it is: write what a step of the upgrade from there makes of it")
	cmd.Flags().IntVar(&step, "step", 0, "the step of the upgrade, as 'plan upgrade' numbers them; 0 is what waits for no step")
	cmd.Flags().StringVarP(&directory, "output", "o", "", "directory to write to, one file for each object; default: standard output")
	return cmd
}

// manifests are those of the cluster that a file describes, or of a step
// towards it.
func (a *app) manifests(ctx context.Context, o upgradeOptions, step int) ([]templater.Object, error) {
	if o.from != "" {
		return a.manifestsOfStep(ctx, o, step)
	}
	if !o.scope.whole() || o.latestPatches {
		return nil, usageError{errors.New("--control-plane-only, --worker-node-groups and --latest-patches are about the steps of an upgrade: use them with --from and --step")}
	}
	s, err := a.readSpec(o.file)
	if err != nil {
		return nil, err
	}
	resolved, err := a.resolve(s, noVersions())
	if err != nil {
		return nil, err
	}
	a.warn(resolved)
	a.sayReferences(resolved.Config)
	if s.managed() && len(pins(resolved.Config)) > 0 {
		return nil, s.wrong("a group has a kubernetesVersion of its own, and what it is made of then only its ClusterClass on the management cluster says; use 'create cluster' and 'upgrade cluster' with this file")
	}
	return a.render(s, resolved, "default")
}

func (a *app) printManifests(objects []templater.Object) error {
	out := bufio.NewWriterSize(a.out, 1<<16)
	for i, object := range objects {
		if i > 0 {
			if _, err := out.WriteString("---\n"); err != nil {
				return err
			}
		}
		if _, err := out.Write(object.YAML); err != nil {
			return err
		}
	}
	return out.Flush()
}

func (a *app) writeManifests(directory string, objects []templater.Object) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("writing manifests: %w", err)
	}
	written := map[string]bool{}
	for i, object := range objects {
		name := fmt.Sprintf("%04d-%s-%s.yaml", i, object.Kind.Kind, object.Name)
		if err := writeWhole(filepath.Join(directory, name), object.YAML); err != nil {
			return fmt.Errorf("writing manifests: %w", err)
		}
		written[name] = true
	}
	a.say("%d files written to %s", len(objects), directory)
	entries, err := os.ReadDir(directory)
	if err != nil {
		return fmt.Errorf("reading back the directory: %w", err)
	}
	for _, entry := range entries {
		if applied := slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())); applied && !written[entry.Name()] {
			a.warning("%s was there before; 'kubectl apply -f %s' would apply it too", filepath.Join(directory, entry.Name()), directory)
		}
	}
	return nil
}

// writeWhole writes a file that everybody may read, whole or not at all.
func writeWhole(path string, data []byte) error {
	part := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".part")
	err := os.WriteFile(part, data, 0o644)
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(part))
	}
	return err
}

func (a *app) validateCommand() *cobra.Command {
	var o upgradeOptions
	cmd := &cobra.Command{
		Use:         "validate -f FILE",
		Annotations: callable(),
		Short:       "Check a file as 'create cluster' does, without a management cluster",
		Example: `  clusterctl-x validate -f cluster.yaml
  clusterctl-x validate -f cluster.yaml --from old.yaml`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			resolved, steps, err := a.validated(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.sayReferences(resolved.Config)
			return a.print(document("ClusterVersions", resolved.Versions), func() error {
				line := fmt.Sprintf("%s: cluster %s is valid: control plane %s", fileName(o.file), resolved.Config.Cluster.Metadata.Name, resolved.Versions.ControlPlane)
				for _, group := range resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
					line += fmt.Sprintf(", %s %s", group.Name, resolved.Versions.WorkerNodeGroups[group.Name])
				}
				if o.from != "" {
					line += fmt.Sprintf("; steps from %s: %d", fileName(o.from), steps)
				}
				if class := resolved.Config.Cluster.Spec.ClusterClass; class != nil {
					line += "; as far as can be told without ClusterClass " + class.Name
				}
				_, err := fmt.Fprintln(a.out, line)
				return err
			})
		},
	}
	addFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	cmd.Flags().StringVar(&o.from, "from", "", "file that describes the cluster as it is: check also that it can be upgraded from there")
	cmd.AddCommand(a.validateUpgradePlanCommand())
	return cmd
}

// validated is the valid spec of a file; with --from also one that the cluster
// of the other file can be upgraded to, in so many steps.
func (a *app) validated(ctx context.Context, o upgradeOptions) (validations.Resolved, int, error) {
	if o.from != "" {
		p, _, err := a.prepareOffline(ctx, o)
		return p.resolved, len(p.plan.Steps), err
	}
	s, err := a.readSpec(o.file)
	if err != nil {
		return validations.Resolved{}, 0, err
	}
	resolved, err := a.resolve(s, noVersions())
	if err == nil {
		a.warn(resolved)
	}
	return resolved, 0, err
}
