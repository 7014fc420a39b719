package selfmanaged

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

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

// TestDeletionSteps: wherever a deletion was stopped, what there is says what is left.
func TestDeletionSteps(t *testing.T) {
	t.Parallel()
	const bootstrap = true
	for name, test := range map[string]struct {
		bootstrap bool
		on        backup.Place
		want      []step
	}{
		"nothing yet":                              {!bootstrap, "", []step{startBootstrap, moveToBootstrap, deleteOnBootstrap, removeBootstrap}},
		"the bootstrap started":                    {bootstrap, backup.Absent, []step{moveToBootstrap, deleteOnBootstrap, removeBootstrap}},
		"in the middle of the move":                {bootstrap, backup.Arriving, []step{moveToBootstrap, deleteOnBootstrap, removeBootstrap}},
		"moved, and paused":                        {bootstrap, backup.Arrived, []step{finishMoveBack, deleteOnBootstrap, removeBootstrap}},
		"moved, or a creation before its move":     {bootstrap, backup.Present, []step{deleteOnBootstrap, removeBootstrap}},
		"a creation in the middle of its own move": {bootstrap, backup.Leaving, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, deletionSteps(test.bootstrap, test.on)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

// TestPlans: what a user reads of a creation and of a deletion, new and continued.
func TestPlans(t *testing.T) {
	t.Parallel()
	var said []string
	cluster := Cluster{
		Key:       types.NamespacedName{Name: "mgmt"},
		Bootstrap: &connection.Choice{InstanceName: "bootstrap-mgmt"},
		Say:       func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) },
	}
	c := Creation{
		Cluster:    cluster,
		Kubeconfig: "mgmt.kubeconfig",
		Wanted:     components.Wanted{Providers: map[string]string{"infrastructure-docker": "v1.14.0", "ipam-in-cluster": ""}},
	}
	c.say(found{}.steps())
	c.say(found{true, true, backup.Absent}.steps())
	d := Deletion{Cluster: cluster}
	d.say(deletionSteps(false, ""))
	d.say(deletionSteps(true, backup.Arrived))
	want := []string{
		"Plan for cluster mgmt, which will manage itself, 4 steps:",
		` 1. start its bootstrap, embedded management cluster "bootstrap-mgmt"`,
		" 2. create the cluster on the bootstrap, wait until it is ready, and write its kubeconfig to mgmt.kubeconfig",
		" 3. install cluster-api v1.14.0, bootstrap-kubeadm v1.14.0, control-plane-kubeadm v1.14.0, infrastructure-docker v1.14.0, ipam-in-cluster and cert-manager into the cluster, wait until they answer, and move the cluster into itself",
		" 4. remove the bootstrap",
		"Plan for cluster mgmt, which will manage itself, 2 steps:",
		" 1. wait until the cluster is ready by itself",
		" 2. remove the bootstrap",
		"Plan to delete cluster mgmt, which manages itself, 4 steps:",
		` 1. start its bootstrap, embedded management cluster "bootstrap-mgmt"`,
		" 2. move the cluster to the bootstrap",
		" 3. delete the cluster on the bootstrap, and wait until it is gone",
		" 4. remove the bootstrap",
		"Plan to delete cluster mgmt, which manages itself, 3 steps:",
		" 1. end the pause of the cluster, which is moved to the bootstrap",
		" 2. delete the cluster on the bootstrap, and wait until it is gone",
		" 3. remove the bootstrap",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
}
