package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fleetSize is how many clusters of the management cluster the figures of a fleet are for.
const fleetSize = 300

// fleet measures commands about many clusters, each with a control plane, a group and four
// machines. They are paused, so that no controller is at work beside the commands.
func (b bench) fleet(ctx context.Context) (err error) {
	if _, err := b.exec(ctx, b.cli, "management", "start"); err != nil {
		return err
	}
	defer func() {
		_, stopErr := b.exec(ctx, b.cli, "management", "stop", "--remove")
		err = errors.Join(err, stopErr)
	}()
	cluster, err := testdata.ReadFile("testdata/fleet.yaml")
	if err != nil {
		return err
	}
	var all strings.Builder
	for i := range fleetSize {
		all.WriteString(strings.ReplaceAll(string(cluster), "NAME", fmt.Sprintf("c%03d", i)))
	}
	create := exec.CommandContext(ctx, b.kubectl, "--kubeconfig", filepath.Join(b.dir, "embedded", "default", "kubeconfig"), "create", "-f", "-")
	create.Stdin, create.Stderr = strings.NewReader(all.String()), os.Stderr
	if err := create.Run(); err != nil {
		return fmt.Errorf("creating %d clusters: %w", fleetSize, err)
	}
	medians, err := b.compare(ctx, 5, command{"get", b.cli, []string{"get", "clusters", "-A"}},
		command{"plan", b.cli, []string{"plan", "upgrade", "--all", "-A", "--kubernetes-version", "1.36", "-o", "json"}})
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("get clusters -A, %d clusters", fleetSize), medians["get"], "3s, 200 MiB", "")
	b.row(fmt.Sprintf("plan upgrade --all -o json, %d clusters", fleetSize), medians["plan"], "3s, 200 MiB", "")
	return nil
}
