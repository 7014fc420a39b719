package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/embedded"
	"github.com/clusterctl-x/clusterctl-x/pkg/manifests"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/docker"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers/inmemory"
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
			s, err := a.readSpec(file)
			if err != nil {
				return err
			}
			resolved, err := a.resolve(s, noVersions())
			if err != nil {
				return err
			}
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
	for i, object := range objects {
		name := fmt.Sprintf("%04d-%s-%s.yaml", i, object.Kind.Kind, object.Name)
		if err := embedded.WriteFile(filepath.Join(directory, name), object.YAML); err != nil {
			return fmt.Errorf("writing manifests: %w", err)
		}
	}
	a.say("%d files written to %s", len(objects), directory)
	return nil
}

func (a *app) generateClusterConfigCommand() *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use:     "clusterconfig NAME --provider inmemory|docker",
		Short:   "Write a file that describes a cluster, to begin with",
		Example: "  clusterctl-x generate clusterconfig prod --provider inmemory > prod.yaml",
		Args:    oneName,
		RunE: func(_ *cobra.Command, args []string) error {
			kinds := map[string]string{inmemory.Name: v1alpha1.InMemoryKind, docker.Name: v1alpha1.DockerKind}
			kind, known := kinds[provider]
			if !known {
				return usageError{errors.New("--provider is required: inmemory or docker")}
			}
			bundles, err := a.readBundles()
			if err != nil {
				return err
			}
			versions := bundles.Versions()
			templates, err := templater.Parse(config.Samples, "samples/clusterconfig.yaml.tmpl")
			if err != nil {
				return err
			}
			text, err := templates.Render("clusterconfig.yaml.tmpl", struct{ Name, Kind, Version string }{args[0], kind, versions[len(versions)-1].Minor().String()})
			if err != nil {
				return err
			}
			// A name that makes the file invalid is better told now than by the next command.
			decoded, err := v1alpha1.Decode("the generated file", text)
			if err != nil {
				return err
			}
			if _, err := a.resolve(spec{config: decoded, bundles: bundles}, noVersions()); err != nil {
				return err
			}
			_, err = a.out.Write(text)
			return err
		},
	}
	cmd.Flags().StringVarP(&provider, "provider", "p", "", "inmemory or docker")
	return cmd
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
			if _, err := manifests.Render(manifests.Input{
				Config: resolved.Config, Versions: resolved.Versions, Set: resolved.Set, Namespace: "default", Downloads: s.bundles.Releases(),
			}); err != nil {
				return err
			}
			return a.print(document("ClusterVersions", resolved.Versions), func() error {
				fmt.Fprintf(a.out, "%s: cluster %s is valid: control plane %s", file, resolved.Config.Cluster.Metadata.Name, resolved.Versions.ControlPlane)
				for _, group := range resolved.Config.Cluster.Spec.WorkerNodeGroupConfigurations {
					fmt.Fprintf(a.out, ", %s %s", group.Name, resolved.Versions.WorkerNodeGroups[group.Name])
				}
				fmt.Fprintln(a.out)
				return nil
			})
		},
	}
	cmd.Flags().StringVarP(&file, "filename", "f", "", "file that describes the cluster; - is standard input")
	return cmd
}
