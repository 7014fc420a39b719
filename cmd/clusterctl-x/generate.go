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

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/lifecycle"
	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
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
			if err := o.checkScope(); err != nil {
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
	if !o.whole() || o.LatestPatches {
		return nil, usageError{errors.New("--control-plane-only, --worker-node-groups and --latest-patches are about the steps of an upgrade: use them with --from and --step")}
	}
	spec, resolved, err := a.validSpec(o.file)
	if err != nil {
		return nil, err
	}
	a.sayReferences(resolved.Config)
	return spec.Manifests(a.namespaceOffline())
}

// manifestsOfStep are the complete manifests of a cluster at the end of a step
// of the plan from one file to another.
func (a *app) manifestsOfStep(ctx context.Context, o upgradeOptions, step int) ([]templater.Object, error) {
	u, err := a.planBetween(ctx, o)
	if err != nil {
		return nil, err
	}
	if steps := len(u.Plan.Steps); step < 0 || step > steps {
		return nil, usageError{fmt.Errorf("--step must be from 0 to %d, the number of steps of this plan; 'plan upgrade -f %s --from %s' shows them", steps, o.file, o.from)}
	}
	if step > 0 {
		a.say("step %d of %d: %s", step, len(u.Plan.Steps), u.Plan.Steps[step-1])
		for _, object := range u.Removals(step) {
			a.say("delete %s: 'kubectl apply' does not", object)
		}
	}
	return u.Manifests(step)
}

// sayReferences says what is to be made besides the cluster's own objects.
func (a *app) sayReferences(config *v1alpha1.Config) {
	for _, reference := range lifecycle.References(config) {
		a.say("needs %s", reference)
	}
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
			config, versions, steps, err := a.validated(cmd.Context(), o)
			if err != nil {
				return err
			}
			a.sayReferences(config)
			return a.print(document("ClusterVersions", versions), func() error {
				line := fmt.Sprintf("%s: cluster %s is valid: control plane %s", fileName(o.file), config.Cluster.Metadata.Name, versions.ControlPlane)
				for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
					line += fmt.Sprintf(", %s %s", group.Name, versions.WorkerNodeGroups[group.Name])
				}
				if o.from != "" {
					line += fmt.Sprintf("; steps from %s: %d", fileName(o.from), steps)
				}
				if class := config.Cluster.Spec.ClusterClass; class != nil {
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
func (a *app) validated(ctx context.Context, o upgradeOptions) (*v1alpha1.Config, v1alpha1.ClusterVersions, int, error) {
	if o.from != "" {
		u, err := a.planBetween(ctx, o)
		return u.Config(), u.Versions(), len(u.Plan.Steps), err
	}
	_, resolved, err := a.validSpec(o.file)
	return resolved.Config, resolved.Versions, 0, err
}
