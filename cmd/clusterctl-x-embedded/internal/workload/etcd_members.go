package workload

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	cloudv1 "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/cloud/api/v1alpha1"
	inmemoryclient "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/client"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oneEtcd creates members of one etcd only. After a start all machines are simulated
// anew, several at the same time, and two members that each see no other one would found
// two etcds, which nothing ever mends.
type oneEtcd struct {
	inmemoryclient.Client
	founding *sync.Mutex
}

// Create refuses a member of another etcd than the present members are of. Whoever makes
// it looks again, and finds these.
func (c oneEtcd) Create(ctx context.Context, object client.Object) error {
	etcd, isMember := object.GetAnnotations()[cloudv1.EtcdClusterIDAnnotationName]
	if !isMember {
		return c.Client.Create(ctx, object)
	}
	c.founding.Lock()
	defer c.founding.Unlock()
	var members corev1.PodList
	if err := c.List(ctx, &members, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"component": "etcd", "tier": "control-plane"}); err != nil {
		return err
	}
	for _, member := range members.Items {
		_, removed := member.Annotations[cloudv1.EtcdMemberRemoved]
		if founded := member.Annotations[cloudv1.EtcdClusterIDAnnotationName]; !removed && founded != etcd {
			return fmt.Errorf("%s was founded meanwhile by %s; %s joins it at the next try", founded, member.Name, object.GetName())
		}
	}
	return c.Client.Create(ctx, object)
}
