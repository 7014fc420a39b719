//go:build real

package real_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/test/observer"
)

// managementClient returns a client of the management cluster.
func managementClient(t *testing.T) client.Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", managementKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	management, err := observer.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return management
}

// machines returns the machines of a part of the cluster, the eldest first.
func (c cluster) machines(t *testing.T, part string) []clusterv1.Machine {
	t.Helper()
	var all clusterv1.MachineList
	err := managementClient(t).List(t.Context(), &all, client.InNamespace("default"), client.MatchingLabels{clusterv1.ClusterNameLabel: c.name})
	if err != nil {
		t.Fatal(err)
	}
	machines := slices.DeleteFunc(all.Items, func(m clusterv1.Machine) bool { return c.partOf(m.Name) != part })
	slices.SortFunc(machines, func(a, b clusterv1.Machine) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return machines
}

// machinesAt returns those of the machines of a part that have a version, and stay.
func (c cluster) machinesAt(t *testing.T, part, version string) []clusterv1.Machine {
	t.Helper()
	own := release(t, version).Version.String()
	return slices.DeleteFunc(c.machines(t, part), func(m clusterv1.Machine) bool {
		return m.Spec.Version != own || !m.DeletionTimestamp.IsZero()
	})
}

// deleteMachine has Cluster API replace a machine.
func deleteMachine(t *testing.T, machine clusterv1.Machine) {
	t.Helper()
	if err := managementClient(t).Delete(t.Context(), &machine); err != nil {
		t.Fatal(err)
	}
}

// killMachine ends a machine as a loss of power does.
func killMachine(t *testing.T, name string) {
	t.Helper()
	if _, err := docker(t.Context(), nil, "kill", name); err != nil {
		t.Fatal(err)
	}
}

// logMemory prints how much memory each container of the cluster has in use.
func (c cluster) logMemory(t *testing.T) {
	t.Helper()
	names, err := c.containers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	used, err := docker(t.Context(), nil, append([]string{"stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}"}, names...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("memory: %s", strings.ReplaceAll(used, "\n", "; "))
}
