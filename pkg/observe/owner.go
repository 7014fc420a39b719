package observe

import (
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// ownerOf returns the first owner of a Cluster; nil where none is known.
func ownerOf(cluster *clusterv1.Cluster) *state.Owner {
	all := owners.Of(cluster)
	if len(all) == 0 {
		return nil
	}
	return &state.Owner{Tool: string(all[0].Tool), Name: all[0].Reason()}
}
