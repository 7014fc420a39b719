package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/skew"
)

// Program is all that is known of an upgrade before its first write.
type Program struct {
	Plan plan.Plan
	// Desired are complete renderings: the first one of the versions that the plan
	// begins with, then one of the versions at the end of each step.
	Desired []Objects
	// Policy is the skew policy that holds.
	Policy skew.Policy
	// Concurrency is how many groups of a step move at the same time.
	Concurrency int
	// Topology is true for a cluster from a ClusterClass: Cluster API's topology
	// controller takes the steps that are not about detached groups.
	Topology bool
	// TopologyVersions is true where Cluster API itself takes versions for groups of
	// a topology, so that it takes the steps of detached groups, too.
	TopologyVersions bool
	// Claimed are the objects of groups that others made and that have no label of
	// clusterctl-x, as Kind/name, by the names of the groups.
	Claimed map[string]string
	// Groups are the worker node groups that the upgrade is about, where it is about
	// nothing else. What other runs do to other groups does not disturb it.
	Groups []string
	// Continued is true for what is left of an upgrade that an earlier run began.
	Continued bool
	// NodeStartup is how long the machines of worker node groups may take to become nodes.
	NodeStartup time.Duration
	// IgnoreHealth is true where no step waits until the cluster is healthy.
	IgnoreHealth bool
}

// Engine carries out a program.
type Engine struct {
	Program
	// cluster names the cluster, as namespace/name.
	cluster string
	driver  driver
	// sole has the objects of the cluster as a whole that no one else may change.
	sole []*unstructured.Unstructured
}

// driver moves a cluster from step to step.
type driver interface {
	// begin does what waits for nothing.
	begin(t *turn)
	// disturbed says what others did to the cluster that is not in the plan.
	disturbed(t *turn) []string
	// take continues the next step. It reports whether the step is done.
	take(t *turn) (bool, error)
	// arrived reports whether the cluster is at its target, after all steps.
	arrived(t *turn) bool
}

// New returns an engine for a program of a cluster, which is named as namespace/name.
func New(cluster string, program Program) Engine {
	e := Engine{Program: program, cluster: cluster, driver: direct{}}
	if program.Topology {
		e.driver, e.sole = topology{}, program.last().Cluster
	}
	if program.Topology && program.TopologyVersions {
		e.driver = topologyVersions{}
	}
	return e
}

// last are the objects of the cluster at the end of the plan.
func (p Program) last() Objects {
	return p.Desired[len(p.Desired)-1]
}
