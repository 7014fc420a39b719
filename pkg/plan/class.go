package plan

// ClassDocumentKind is the kind of a ClassPlan that is written down.
const ClassDocumentKind = "ClusterClassPlan"

// ClassPlan is the effect of a change of a ClusterClass on the clusters that use it.
type ClassPlan struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"` // of the class
	// Clusters that use the class, each with what becomes of it; what has to wait
	// for no other version begins as soon as the class is applied.
	Clusters []Plan `json:"clusters"`
	// MachinesReplaced of all clusters together, at most: the upgrades that a
	// cluster is still to make are among them.
	MachinesReplaced Machines `json:"machinesReplaced"`
}

// Add adds a cluster.
func (p *ClassPlan) Add(cluster Plan) {
	p.Clusters = append(p.Clusters, cluster)
	p.MachinesReplaced.ControlPlane += cluster.MachinesReplaced.ControlPlane
	p.MachinesReplaced.Workers += cluster.MachinesReplaced.Workers
}
