package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/pkg/templater"
)

func (a *app) generateManifestsCommand() *cobra.Command {
	var file, directory string
	cmd := &cobra.Command{
		Use:   "manifests -f FILE",
		Short: "Write exactly what 'create cluster' applies",
		Example: `  clusterctl-x generate manifests -f cluster.yaml | kubectl apply -f -
  clusterctl-x generate manifests -f cluster.yaml -o manifests/`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if directory == outputText || directory == outputJSON || directory == outputYAML {
				return usageError{fmt.Errorf("-o names a directory here, and manifests are always YAML; if you mean a directory of this name, write ./%s", directory)}
			}
			s, err := a.readSpec(file)
			if err != nil {
				return err
			}
			resolved, err := a.resolve(s, noVersions())
			if err != nil {
				return err
			}
			a.warn(resolved)
			a.sayReferences(resolved.Config)
			objects, err := a.render(s, resolved, "default")
			if err != nil {
				return err
			}
			if directory != "" {
				return a.writeManifests(directory, objects)
			}
			return a.printManifests(objects)
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file that describes the cluster; - is standard input")
	cmd.Flags().StringVarP(&directory, "output", "o", "", "directory to write to, one file for each object; default: standard output")
	return cmd
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
		if err := os.WriteFile(filepath.Join(directory, name), object.YAML, 0o644); err != nil {
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

func (a *app) validateCommand() *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check a file as 'create cluster' does, without a management cluster",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := a.readSpec(file)
			if err != nil {
				return err
			}
			resolved, err := a.resolve(s, noVersions())
			if err != nil {
				return err
			}
			a.warn(resolved)
			a.sayReferences(resolved.Config)
			return a.print(document("ClusterVersions", resolved.Versions), func() error {
				line := fmt.Sprintf("%s: cluster %s is valid: control plane %s", fileName(file), resolved.Config.Cluster.Metadata.Name, resolved.Versions.ControlPlane)
				for _, group := range resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
					line += fmt.Sprintf(", %s %s", group.Name, resolved.Versions.WorkerNodeGroups[group.Name])
				}
				_, err := fmt.Fprintln(a.out, line)
				return err
			})
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file that describes the cluster; - is standard input")
	return cmd
}
