package management

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// Names of the preflights. They are documented in docs/errors.md and do not
// change.
const (
	CheckClusterAPI = "cluster-api-version"
	CheckPrivileges = "privileges"
	CheckPaused     = "paused"
	CheckHealth     = "health"
	CheckBudgets    = "pod-disruption-budgets"
)

// Checks returns the names of the preflights, in the order in which they are reported.
func Checks() []string {
	return []string{CheckClusterAPI, CheckPrivileges, CheckPaused, CheckHealth, CheckBudgets}
}

// PreflightError has the findings against an upgrade, or a step of one.
type PreflightError struct {
	Cluster  string
	Findings []plan.Finding
	// Step is the one that the run did not begin after it had Waited for so long; it is
	// empty where nothing was started.
	Step   string
	Waited time.Duration
}

func (e *PreflightError) Error() string {
	var b strings.Builder
	if e.Step == "" {
		fmt.Fprintf(&b, "cluster %s cannot be upgraded in its current state; --skip-preflight NAME skips a check", e.Cluster)
	} else {
		fmt.Fprintf(&b, "cluster %s: %s did not start, because the cluster was not healthy after waiting %s; fix it and run the same command again, or continue as it is with --skip-preflight %s", e.Cluster, e.Step, e.Waited, CheckHealth)
	}
	for _, finding := range e.Findings {
		fmt.Fprintf(&b, "\n  %s: %s", finding.Check, finding.Reason)
	}
	return b.String()
}

// PreflightOptions are the options of the checks before an upgrade.
type PreflightOptions struct {
	// Known are findings of other checks.
	Known []plan.Finding
	// Skip are the names of checks to be left out.
	Skip []string
	// Groups are the groups of an Upgrade: the health of other groups is the concern of
	// other runs.
	Groups []string
	// Restored are parts that get no machine for want of a template that the upgrade
	// creates again.
	Restored []string
	// MachineTemplates are the kinds of templates that machines are made from.
	MachineTemplates []schema.GroupKind
	// Planning is true where another user may be the one who upgrades. The privileges of
	// one who may not lock the cluster are not checked.
	Planning bool
	// Warn is called with what could not be checked.
	Warn func(string)
}

// Preflight runs all checks of a plan that are not skipped, and writes nothing. The
// findings, and those that are already known, are one *PreflightError.
func (c *Client) Preflight(ctx context.Context, cluster state.Cluster, p plan.Plan, options PreflightOptions) error {
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}
	checks := map[string]func() ([]string, error){
		CheckClusterAPI: func() ([]string, error) { return c.clusterAPITooOld() },
		CheckPrivileges: func() ([]string, error) {
			return c.missingForUpgrade(ctx, key.Namespace, privilegesFor(cluster, p, options.MachineTemplates), options)
		},
		CheckPaused: func() ([]string, error) { return paused(cluster, p), nil },
		CheckHealth: func() ([]string, error) {
			seen, err := c.seen(ctx, cluster)
			return unhealthy(seen, p, options), err
		},
		CheckBudgets: func() ([]string, error) { return c.blockingBudgets(ctx, cluster, p, options.Warn) },
	}
	names := Checks()
	found := make([][]string, len(names))
	var tasks errgroup.Group
	for i, name := range names {
		if slices.Contains(options.Skip, name) {
			continue
		}
		tasks.Go(func() (err error) {
			found[i], err = checks[name]()
			return err
		})
	}
	if err := tasks.Wait(); err != nil {
		return c.explain(ctx, fmt.Errorf("checking whether cluster %s can be upgraded: %w", key, err))
	}
	refused := &PreflightError{Cluster: key.String()}
	for i, reasons := range found {
		for _, reason := range reasons {
			refused.Findings = append(refused.Findings, plan.Finding{Check: names[i], Reason: reason})
		}
	}
	for _, finding := range options.Known {
		if !slices.Contains(options.Skip, finding.Check) {
			refused.Findings = append(refused.Findings, finding)
		}
	}
	if len(refused.Findings) > 0 {
		return refused
	}
	return nil
}

// paused returns the objects that Cluster API does not reconcile. Unmanaged groups, and
// those that the plan does not change, do not block an upgrade.
func paused(cluster state.Cluster, p plan.Plan) []string {
	var reasons []string
	if cluster.Paused && cluster.Pause == nil {
		reasons = append(reasons, fmt.Sprintf("Cluster/%s is paused, so Cluster API would do nothing: set spec.paused to false", cluster.Name))
	}
	if cluster.Paused && cluster.Pause != nil && cluster.Pause.For != "" {
		reasons = append(reasons, cluster.Pause.String())
	}
	const says = " is paused, so Cluster API would do nothing: remove its annotation cluster.x-k8s.io/paused"
	if cluster.ControlPlane.Paused {
		reasons = append(reasons, cluster.ControlPlane.Object+says)
	}
	for _, group := range cluster.WorkerNodeGroups {
		touched := slices.ContainsFunc(p.Steps, func(s plan.Step) bool { return s.Group(group.Name).Name == group.Name })
		if group.Paused && !group.Unmanaged && touched {
			reasons = append(reasons, group.Object+says+", or set its spec.paused to false")
		}
	}
	return reasons
}

// maxUnseen is how long Cluster API has time to see what a run wrote that was stopped
// a moment before.
const maxUnseen = 5 * time.Second

// seen is the cluster once Cluster API has seen the latest change of every part, or
// when it had the time to.
func (c *Client) seen(ctx context.Context, cluster state.Cluster) (state.Cluster, error) {
	unseen := func(cluster state.Cluster) bool {
		return cluster.Pause == nil && slices.ContainsFunc(cluster.Parts(), func(p state.Part) bool { return p.Unseen && !p.Unmanaged })
	}
	if !unseen(cluster) {
		return cluster, nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, maxUnseen, ErrTimeout)
	defer cancel()
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Name}
	err := c.Watch(limited, key, func(now state.Cluster, exists bool) (bool, error) {
		if exists {
			cluster = now.Claim(cluster.Claimed())
		}
		return !exists || !unseen(now), nil
	})
	if limited.Err() != nil && ctx.Err() == nil {
		err = nil // whatever is seen of it now
	}
	return cluster, err
}

// unhealthy describes the parts that are not healthy, without those that the plan or a
// rollout under way repairs, and groups whose machines are starting: those of a run
// that was stopped.
func unhealthy(cluster state.Cluster, p plan.Plan, options PreflightOptions) []string {
	tolerated := func(part state.Part) bool {
		if slices.Contains(options.Restored, part.Name) && !part.Unwell() {
			return true // what it lacks comes with the upgrade
		}
		return part.Name != v1alpha1.ControlPlaneName && part.ComesUp()
	}
	return healthReasons(cluster, engine.Unwell(cluster, p, options.Groups, tolerated))
}

// healthReasons returns the findings about parts that are not healthy.
func healthReasons(cluster state.Cluster, parts []state.Part) []string {
	var reasons []string
	if cluster.Infrastructure != "" {
		reasons = append(reasons, "infrastructure: "+cluster.Infrastructure)
	}
	for _, part := range parts {
		reasons = append(reasons, part.Waiting()+"; fix it first: an upgrade takes more machines away")
	}
	return reasons
}

// Writes are the objects that an upgrade writes.
type Writes struct {
	// First are the objects that it writes before its first step.
	First []*unstructured.Unstructured
	// Later are the objects at the end of each step.
	Later []engine.Objects
	// Removed are the MachineDeployments, as Kind/name, that it removes from a namespace.
	Removed   []string
	Namespace string
	// Takeover says which fields of others are taken over.
	Takeover owners.Takeover
}

// DryRun lets the API server check the writes of an upgrade, and writes nothing. It
// checks the first writes completely, and later ones as far as they do not depend on
// earlier steps. Fields that others own are a conflict, unless the upgrade takes them
// over; it returns those that it does.
func (c *Client) DryRun(ctx context.Context, w Writes) ([]FieldConflict, error) {
	objects, err := rehearsed(w.First, w.Later)
	if err != nil {
		return nil, err
	}
	taken, refused := make([][]FieldConflict, len(objects)), make([][]FieldConflict, len(objects))
	var tasks errgroup.Group
	tasks.SetLimit(maxRequests)
	for i, object := range objects {
		tasks.Go(func() (err error) {
			taken[i], refused[i], err = c.tryApply(ctx, object, w.Takeover)
			return err
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, c.explain(ctx, err)
	}
	made, err := c.madeAgain(ctx, w)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	return sorted(taken...), conflictOf(slices.Concat(refused...), made)
}

// tryApply applies an object in a dry run, and returns the fields that others own with other
// values.
func (c *Client) tryApply(ctx context.Context, object *unstructured.Unstructured, takeover owners.Takeover) (taken, refused []FieldConflict, err error) {
	try := func(options ...client.ApplyOption) error {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), append(options, FieldOwner, client.DryRunAll)...)
	}
	if takeover.All {
		err = try(client.ForceOwnership)
	} else if err = try(); len(fieldConflicts(err)) > 0 {
		var unread error
		if taken, refused, unread = c.judged(ctx, object, err, takeover); unread != nil {
			return nil, nil, unread
		}
		if len(refused) == 0 {
			err = try(client.ForceOwnership)
		}
	}
	if err != nil && len(refused) == 0 {
		return nil, nil, fmt.Errorf("trying to apply %s: %w", changes.ObjectName(object), err)
	}
	return taken, refused, nil
}

// aboutGuardrails reports whether a conflict is about the annotation that the dry run adds.
func aboutGuardrails(cause metav1.StatusCause) bool {
	return cause.Field == ".metadata.annotations."+skipGuardrails
}

// skipGuardrails is the annotation with which an object may break the guardrails
// of config/guardrails; its value says why.
const skipGuardrails = "clusterctl-x.io/skip-guardrails"

// rehearsed are the different objects of all stages; of a control plane at
// further versions the next one only, for its webhook lets it move by one minor.
// The guardrails judge what the first step writes. What later steps write comes
// to be legal by the steps before them.
func rehearsed(first []*unstructured.Unstructured, later []engine.Objects) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	seen := map[string]bool{}
	controlPlanes := 0
	for i, stage := range append([]engine.Objects{{Cluster: first}}, later...) {
		for _, object := range stage.All() {
			text, err := object.MarshalJSON()
			if err != nil {
				return nil, err
			}
			if seen[string(text)] {
				continue
			}
			seen[string(text)] = true
			if changes.IsControlPlane(object.GetKind()) {
				if controlPlanes++; controlPlanes > 2 {
					continue
				}
			}
			if i > 1 {
				object = unguarded(object)
			}
			objects = append(objects, object)
		}
	}
	return objects, nil
}

// unguarded is an object that the guardrails let through, where they are about it.
func unguarded(object *unstructured.Unstructured) *unstructured.Unstructured {
	if object.GetKind() != "KubeadmControlPlane" && !changes.IsKind(object, "MachineDeployment") && !changes.IsKind(object, "MachinePool") && !changes.IsKind(object, "Cluster") {
		return object
	}
	object = object.DeepCopy()
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[skipGuardrails] = "dry run of a later step"
	object.SetAnnotations(annotations)
	return object
}
