package state

import "slices"

// Claim returns the cluster with the MachineDeployments that others made as groups of
// a file, where they have the names that clusterctl-x gives to these groups.
func (c Cluster) Claim(groups []string) Cluster {
	c.WorkerNodeGroups = slices.Clone(c.WorkerNodeGroups)
	for _, name := range groups {
		if _, exists := c.Group(name); exists {
			continue
		}
		i := slices.IndexFunc(c.WorkerNodeGroups, func(p Part) bool { return p.Unmanaged && p.Object == "MachineDeployment/"+c.Name+"-"+name })
		if i < 0 {
			continue
		}
		part := &c.WorkerNodeGroups[i]
		part.Name, part.Unmanaged, part.Claimed = name, false, true
		part.Detached = c.Topology != nil // which does not have it
	}
	return c
}

// Claimed are the names of the groups that Claim recognized, in the order of the
// cluster.
func (c Cluster) Claimed() []string {
	var names []string
	for _, part := range c.WorkerNodeGroups {
		if part.Claimed {
			names = append(names, part.Name)
		}
	}
	return names
}
