package state

import (
	"slices"
	"strings"
)

// Claim returns the cluster with objects that others made as its worker node groups. groups
// are the objects, as Kind/name, by the names of the groups.
func (c Cluster) Claim(groups map[string]string) Cluster {
	c.WorkerNodeGroups = slices.Clone(c.WorkerNodeGroups)
	for name, object := range groups {
		if _, exists := c.Group(name); exists {
			continue
		}
		i := slices.IndexFunc(c.WorkerNodeGroups, func(p Part) bool { return p.Unmanaged && p.Object == object })
		if i < 0 {
			continue
		}
		part := &c.WorkerNodeGroups[i]
		part.Name, part.Unmanaged, part.Claimed = name, false, true
		part.Detached = c.Topology != nil // which does not have it
	}
	return c
}

// Claimed are the objects of the groups that Claim recognized, as Kind/name, by the names
// of the groups.
func (c Cluster) Claimed() map[string]string {
	claimed := map[string]string{}
	for _, part := range c.WorkerNodeGroups {
		if part.Claimed {
			claimed[part.Name] = part.Object
		}
	}
	return claimed
}

// Unclaimed are the objects that others made and that could be worker node groups, as
// Kind/name, by the names that the groups would have: that of the object without the one
// of the cluster, or as it is where two would have the same. An object without a version is
// none: its provider chooses the version.
func (c Cluster) Unclaimed() map[string]string {
	taken := map[string]int{}
	for _, part := range c.WorkerNodeGroups {
		taken[part.Name]++
	}
	unclaimed := map[string]string{}
	for _, part := range c.WorkerNodeGroups {
		if !part.Unmanaged || part.Version.IsZero() {
			continue
		}
		name := part.Name
		if taken[name] > 1 {
			_, name, _ = strings.Cut(part.Object, "/")
		}
		unclaimed[name] = part.Object
	}
	return unclaimed
}
