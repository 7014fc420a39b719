package selfmanaged

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/backup"
	"github.com/clusterctl-x/clusterctl-x/pkg/components"
	"github.com/clusterctl-x/clusterctl-x/pkg/connection"
)

// TestSteps: wherever a creation was stopped, what there is says what is left.
func TestSteps(t *testing.T) {
	t.Parallel()
	const bootstrap, kubeconfig = true, true
	for name, test := range map[string]struct {
		found found
		want  []step
	}{
		"nothing yet":                               {found{}, []step{startBootstrap, createOnBootstrap, moveIntoItself, removeBootstrap}},
		"the bootstrap started":                     {found{bootstrap, false, backup.Absent}, []step{createOnBootstrap, moveIntoItself, removeBootstrap}},
		"objects on the bootstrap":                  {found{bootstrap, false, backup.Present}, []step{createOnBootstrap, moveIntoItself, removeBootstrap}},
		"the kubeconfig written":                    {found{bootstrap, kubeconfig, backup.Present}, []step{createOnBootstrap, moveIntoItself, removeBootstrap}},
		"in the middle of the move":                 {found{bootstrap, kubeconfig, backup.Leaving}, []step{moveIntoItself, removeBootstrap}},
		"the move without the kubeconfig":           {found{bootstrap, false, backup.Leaving}, []step{moveIntoItself, removeBootstrap}},
		"moved, and the bootstrap left":             {found{bootstrap, kubeconfig, backup.Absent}, []step{finishMove, removeBootstrap}},
		"moved, and the bootstrap removed":          {found{false, kubeconfig, ""}, []step{finishMove}},
		"a deletion whose move begins":              {found{bootstrap, kubeconfig, backup.Arriving}, nil},
		"a deletion whose move is all but complete": {found{bootstrap, kubeconfig, backup.Arrived}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.found.steps()); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLines: what a user reads of a new creation, and of one that is continued.
func TestLines(t *testing.T) {
	t.Parallel()
	c := Creation{
		Cluster:    Cluster{Bootstrap: &connection.Choice{InstanceName: "bootstrap-mgmt"}},
		Kubeconfig: "mgmt.kubeconfig",
		Wanted:     components.Wanted{Providers: map[string]string{"infrastructure-docker": "v1.14.0", "ipam-in-cluster": ""}},
	}
	fresh := []string{
		` 1. start its bootstrap, embedded management cluster "bootstrap-mgmt"`,
		" 2. create the cluster on the bootstrap, wait until it is ready, and write its kubeconfig to mgmt.kubeconfig",
		" 3. install cluster-api v1.14.0, bootstrap-kubeadm v1.14.0, control-plane-kubeadm v1.14.0, infrastructure-docker v1.14.0, ipam-in-cluster and cert-manager into the cluster, wait until they answer, and move the cluster into itself",
		" 4. remove the bootstrap",
	}
	if diff := cmp.Diff(fresh, c.lines(found{}.steps())); diff != "" {
		t.Errorf("a new creation (-want +got):\n%s", diff)
	}
	moved := []string{" 1. wait until the cluster is ready by itself", " 2. remove the bootstrap"}
	if diff := cmp.Diff(moved, c.lines(found{true, true, backup.Absent}.steps())); diff != "" {
		t.Errorf("after the move (-want +got):\n%s", diff)
	}
}
