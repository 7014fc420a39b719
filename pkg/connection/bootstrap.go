package connection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// Bootstrap returns the embedded management cluster that a cluster which manages itself begins and
// ends on: one of its own, whichever the user names.
func (c Choice) Bootstrap(cluster string) *Choice {
	c.Kind, c.Kubeconfig, c.Starts, c.InstanceName = Embedded, management.Kubeconfig{}, true, bootstrapName(cluster)
	return &c
}

// bootstrapName is "bootstrap-" and the name of the cluster, or, where that is too long for an
// embedded management cluster, its beginning and a hash.
func bootstrapName(cluster string) string {
	const longest, hash = 40, 8
	name := "bootstrap-" + cluster
	if len(name) <= longest {
		return name
	}
	sum := sha256.Sum256([]byte(cluster))
	return strings.TrimRight(name[:longest-hash-1], "-") + "-" + hex.EncodeToString(sum[:])[:hash]
}

// Remove stops the embedded management cluster and removes all that it keeps.
func (c *Choice) Remove(ctx context.Context) error {
	instance, started, _, err := c.Stop(ctx)
	if err != nil || !started {
		return err
	}
	if err := instance.Remove(); err != nil {
		return err
	}
	c.Report("embedded management cluster %q is removed", instance.Name)
	return nil
}
