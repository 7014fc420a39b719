package management

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Restarting is what a restart needs besides the parts.
type Restarting struct {
	// Command is what the history of the cluster calls the run.
	Command string
	// Warn is called with failures that do not affect the cluster.
	Warn func(string)
}

// Restart has Cluster API replace all machines of parts that exist now, by their field
// spec.rollout.after. Within the lock of ctx, if it has one. A part of a kind without the
// field is refused, and then nothing is written.
func (c *Client) Restart(ctx context.Context, key client.ObjectKey, parts []state.Part, r Restarting) error {
	kinds := map[string]schema.GroupVersionKind{
		"MachineDeployment":   clusterv1.GroupVersion.WithKind("MachineDeployment"),
		"KubeadmControlPlane": controlplanev1.GroupVersion.WithKind("KubeadmControlPlane"),
	}
	var objects []*unstructured.Unstructured
	for _, part := range parts {
		kind, name, _ := strings.Cut(part.Object, "/")
		gvk, known := kinds[kind]
		if !known {
			return &RefusedError{Check: "restart", Reason: fmt.Sprintf("%s of cluster %s has no field that replaces its machines; use the tools of its provider", part.Object, key)}
		}
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(gvk)
		object.SetNamespace(key.Namespace)
		object.SetName(name)
		objects = append(objects, object)
	}
	run := c.newRun(ctx, r.Command)
	for _, part := range parts {
		run.Parts = append(run.Parts, part.Name)
	}
	if err := c.ChangeRecord(ctx, key, func(before Record) Record { return before.with(run) }); err != nil {
		return err
	}
	err := c.restart(ctx, objects)
	c.endRun(ctx, key, run, err, r.Warn)
	return err
}

// restart sets the field of all objects to now.
func (c *Client) restart(ctx context.Context, objects []*unstructured.Unstructured) error {
	after := c.opts().Clock.Now().UTC().Format(time.RFC3339)
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"rollout": map[string]any{"after": after}}})
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := c.whileHeld(ctx, func() error {
			return c.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), FieldOwner)
		})
		if err != nil {
			return c.explain(ctx, fmt.Errorf("restarting %s/%s: %w", object.GetKind(), object.GetName(), err))
		}
	}
	return nil
}
