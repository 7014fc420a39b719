package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
)

// liftTimeout is how long the end of a pause may take, also where the command was told to end.
const liftTimeout = 30 * time.Second

// pauser is the client that clusterctl pauses and resumes Clusters and ClusterClasses with, and
// patches them for nothing else. Each gets its mark together with its pause, and loses it
// together with that: so a pause without a mark is never one of clusterctl-x.
type pauser struct {
	client.Client
	// mark is that of the pauses.
	mark string

	mu sync.Mutex
	// paused are those that were paused and not resumed.
	paused map[string]*unstructured.Unstructured
}

// Patch pauses or resumes a Cluster or ClusterClass, as the patch of clusterctl does.
func (p *pauser) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	target := &unstructured.Unstructured{}
	switch object := object.(type) {
	case *clusterv1.ClusterClass:
		target.SetGroupVersionKind(clusterv1.GroupVersion.WithKind(clusterv1.ClusterClassKind))
	case *unstructured.Unstructured:
		target.SetGroupVersionKind(object.GroupVersionKind())
	}
	if !pauses(target) {
		return p.Client.Patch(ctx, object, patch, options...)
	}
	target.SetNamespace(object.GetNamespace())
	target.SetName(object.GetName())
	pausing, changes, err := paused(patch, object)
	if err != nil || !changes {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if pausing { // where the answer is lost the pause may be there
		p.paused[nameOf(target)] = target
		return pause(ctx, p.Client, target, p.mark)
	}
	if err := lift(ctx, p.Client, target); err != nil {
		return err
	}
	delete(p.paused, nameOf(target))
	return nil
}

// paused reports whether a patch of clusterctl pauses an object or resumes it, and whether it
// does either.
func paused(patch client.Patch, object client.Object) (pausing, changes bool, err error) {
	data, err := patch.Data(object)
	if err != nil {
		return false, false, err
	}
	var content struct {
		Metadata struct {
			Annotations map[string]*string `json:"annotations"`
		} `json:"metadata"`
		Spec map[string]*bool `json:"spec"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return false, false, fmt.Errorf("reading how clusterctl pauses: %w", err)
	}
	field, ofCluster := content.Spec["paused"]
	annotation, ofClass := content.Metadata.Annotations[clusterv1.PausedAnnotation]
	return ofCluster && field != nil && *field || ofClass && annotation != nil, ofCluster || ofClass, nil
}

// liftAll ends the pauses that clusterctl left, since it failed or was told to end.
func (p *pauser) liftAll(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), liftTimeout)
	defer cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, object := range p.paused {
		errs = append(errs, lift(ctx, p.Client, object))
	}
	return errors.Join(errs...)
}

// pause pauses a Cluster or ClusterClass, with a mark.
func pause(ctx context.Context, c client.Client, object *unstructured.Unstructured, mark string) error {
	if err := patchPause(ctx, c, object, mark, true); err != nil {
		return fmt.Errorf("pausing %s: %w", nameOf(object), err)
	}
	return nil
}

// lift ends the pause of a Cluster or ClusterClass together with its mark.
func lift(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	if err := client.IgnoreNotFound(patchPause(ctx, c, object, nil, nil)); err != nil {
		return fmt.Errorf("lifting the pause of %s: %w", nameOf(object), err)
	}
	return nil
}

// patchPause writes a mark and a pause, or removes them where they are nil.
func patchPause(ctx context.Context, c client.Client, object *unstructured.Unstructured, mark, paused any) error {
	annotations := map[string]any{v1alpha1.PauseAnnotation: mark}
	content := map[string]any{"metadata": map[string]any{"annotations": annotations}}
	switch {
	case isCluster(object):
		content["spec"] = map[string]any{"paused": paused}
	case paused != nil:
		annotations[clusterv1.PausedAnnotation] = ""
	default:
		annotations[clusterv1.PausedAnnotation] = nil
	}
	patch, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return c.Patch(ctx, object.DeepCopy(), client.RawPatch(types.MergePatchType, patch), management.FieldOwner)
}
