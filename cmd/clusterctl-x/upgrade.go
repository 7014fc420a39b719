package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// upgradeOptions are the flags of 'upgrade cluster' and 'plan upgrade'.
type upgradeOptions struct {
	file          string
	scope         scope
	latestPatches bool
	// of 'upgrade cluster'
	plan           string
	interactive    bool
	forceConflicts bool
	takeOver       bool
	skip           []string
	dryRun         string
	// of 'plan upgrade'
	from, out string
}

func (o *upgradeOptions) addTo(cmd *cobra.Command) {
	addFile(cmd, &o.file, "file that describes the cluster; - is standard input")
	cmd.Flags().BoolVar(&o.scope.controlPlaneOnly, "control-plane-only", false, "the control plane alone; worker node groups stay as they are")
	cmd.Flags().StringSliceVar(&o.scope.groups, "worker-node-groups", nil, "these worker node groups alone, with commas; everything else stays as it is")
	cmd.Flags().BoolVar(&o.latestPatches, "latest-patches", false, "take the newest patch of a minor, instead of the one that runs already")
}

func (a *app) upgradeClusterCommand() *cobra.Command {
	var o upgradeOptions
	cmd := &cobra.Command{
		Use:   "cluster -f FILE",
		Short: "Take a cluster to what its file describes, step by step, and wait until it is there",
		Long: `Take a cluster to what its file describes: the control plane one minor at a
time, each worker node group with as few rollouts as the version skew policy
allows. The plan is shown first. Stopped at any moment, the same command again
goes on from where the cluster is.`,
		Example: `  clusterctl-x upgrade cluster -f cluster.yaml
  clusterctl-x plan upgrade -f cluster.yaml --out plan.json && clusterctl-x upgrade cluster -f cluster.yaml --plan plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			err := a.upgradeCluster(ctx, o)
			if moved := (*rollout.StalePlanError)(nil); errors.As(err, &moved) {
				moved.Saved = o.plan != ""
			}
			return err
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.plan, "plan", "", "file with the plan to follow, from 'plan upgrade --out'; refused when the cluster has changed since")
	cmd.Flags().BoolVar(&o.interactive, "interactive", false, "ask before the first step")
	cmd.Flags().BoolVar(&o.forceConflicts, "force-conflicts", false, "take over fields that others own")
	addTakeOver(cmd, &o.takeOver)
	a.addExtensionCertificate(cmd)
	cmd.Flags().StringSliceVar(&o.skip, "skip-preflight", nil, "leave these checks out: "+strings.Join(preflights(), ", "))
	cmd.Flags().StringVar(&o.dryRun, "dry-run", dryRunNone, "none, or server: plan, check, and let the management cluster check every object; nothing is changed")
	return cmd
}

func addTakeOver(cmd *cobra.Command, takeOver *bool) {
	cmd.Flags().BoolVar(takeOver, "take-over", false, "end the turn of another run that works on the cluster")
}

// sayWaiting says which run is waited for.
func (a *app) sayWaiting(turn management.Turn) {
	a.say("%s holds %s; waiting to see whether it is still at work", turn.Holder, turn.What())
}

// preflights are the names of all checks that can be left out.
func preflights() []string {
	return append(management.Checks(), validations.CheckNodeImage, validations.CheckNewMachines)
}

// check refuses what the command line of 'upgrade cluster' alone proves wrong.
func (o *upgradeOptions) check() error {
	if err := o.scope.check(); err != nil {
		return err
	}
	if modes := []string{dryRunNone, dryRunServer}; !slices.Contains(modes, o.dryRun) {
		return usageError{fmt.Errorf("--dry-run must be one of %s here, not %q; 'plan upgrade --from' plans without a management cluster", strings.Join(modes, ", "), o.dryRun)}
	}
	if o.interactive && o.file == "-" {
		return usageError{errors.New("--interactive reads your answer from standard input, so the file cannot come from there: name it with -f FILE")}
	}
	for _, name := range o.skip {
		if !slices.Contains(preflights(), name) {
			return usageError{fmt.Errorf("--skip-preflight: there is no check %q; the checks are %s", name, strings.Join(preflights(), ", "))}
		}
	}
	return nil
}

// live is a cluster that is there, with what is known about it.
type live struct {
	*connection
	key    client.ObjectKey
	state  state.Cluster
	spec   spec
	origin origin
}

// lookUp finds the cluster that the file describes.
func (a *app) lookUp(ctx context.Context, o upgradeOptions) (live, error) {
	s, err := a.readSpec(o.file)
	if err != nil {
		return live{}, err
	}
	// What the file alone proves wrong is told before a management cluster is
	// asked. A release that the bundles lack may be in the cluster's record.
	resolved, err := validations.Create(s.config, s.releases(), noVersions())
	if err != nil && !versionsbundle.OnlyMissing(err) {
		a.warn(resolved)
		return live{}, err
	}
	if err := errors.Join(o.scope.checkGroups(s.config), o.scope.checkManaged(s)); err != nil {
		return live{}, err
	}
	connection, connectErr := a.connect(ctx)
	if connectErr != nil {
		return live{}, connectErr
	}
	a.warn(resolved)
	meta := s.config.Cluster.Metadata
	l := live{connection: connection, key: a.key(meta.Name, meta.Namespace, connection), spec: s}
	return l, a.observe(ctx, &l, o.scope)
}

// observe reads the cluster and its record.
func (a *app) observe(ctx context.Context, l *live, about scope) error {
	cluster, exists, err := l.Observe(ctx, l.key)
	switch {
	case err != nil:
		return err
	case !exists:
		return fmt.Errorf("cluster %s: %w; 'clusterctl-x create cluster' creates it", l.key, management.ErrNotFound)
	case cluster.ControlPlane.Version.IsZero():
		return &management.RefusedError{Check: "no-control-plane", Reason: fmt.Sprintf("cluster %s has no control plane with a version yet; 'clusterctl-x describe cluster %s -n %s' says why", l.key, l.key.Name, l.key.Namespace)}
	}
	if err := l.spec.sameMaker(cluster); err != nil {
		return err
	}
	cluster = cluster.Claim(l.spec.claims())
	record, _, err := l.Record(ctx, l.key)
	if err != nil {
		return err
	}
	l.state = cluster
	l.origin = originOf(cluster)
	l.origin.metadata = plan.MetadataOf(cluster, fingerprint(l.spec.data), about.groups...)
	l.origin.compare = func(objects []*unstructured.Unstructured) ([]management.Change, error) {
		return l.Compare(ctx, objects)
	}
	l.origin.unused = func(keep []*unstructured.Unstructured) ([]string, error) { return l.Unused(ctx, l.key, keep) }
	l.origin.recorded = record
	l.spec, l.origin.before = l.spec.withRecord(record, l.key.String())
	if cluster.Topology == nil {
		return nil
	}
	if err := a.observeManaged(ctx, l); err != nil {
		return err
	}
	return about.checkDetached(cluster, l.origin.managed.native)
}

func (a *app) upgradeCluster(ctx context.Context, o upgradeOptions) error {
	saved, err := readPlan(o.plan)
	if err != nil {
		return err
	}
	l, err := a.lookUp(ctx, o)
	if err != nil {
		return err
	}
	p, err := a.prepare(l.spec, l.origin, o, l.key.Namespace)
	if err != nil {
		return err
	}
	if saved != nil {
		if reasons := saved.Stale(p.plan); len(reasons) > 0 {
			return &rollout.StalePlanError{Cluster: l.key.String(), Reasons: reasons}
		}
	}
	if p.plan.Empty() {
		return a.rest(ctx, l, p, o)
	}
	if err := a.showPlan(p.plan, o); err != nil {
		return err
	}
	if err := a.preflight(ctx, l, p, o); err != nil {
		return err
	}
	if o.dryRun == dryRunServer {
		return a.result("cluster %s: the upgrade can begin (server dry run)", l.key)
	}
	if o.interactive {
		yes, err := a.confirm(ctx)
		if err != nil {
			return err
		}
		if !yes {
			return a.result("cluster %s: nothing was changed", l.key)
		}
	}
	return a.carryOut(ctx, l, p, o)
}

// rest waits, where nothing is to be done, until what was begun before is done. What the
// file says and no machine needs, such as a pin at the version that a group has, is
// recorded.
func (a *app) rest(ctx context.Context, l live, p prepared, o upgradeOptions) error {
	if o.scope.whole() && o.dryRun != dryRunServer && l.origin.recorded.Spec != string(p.spec.data) {
		held, release, err := l.Lock(ctx, l.key, management.Claim{TakeOver: o.takeOver, Waiting: a.sayWaiting})
		if err != nil {
			return err
		}
		err = l.ChangeRecord(held, l.key, p.record)
		release()
		if err != nil {
			return err
		}
	}
	if l.state.Done() && !atTheEnd(l.state.Held) || !o.scope.whole() || o.dryRun == dryRunServer {
		return a.result("cluster %s is as the file describes it; nothing to do", l.key)
	}
	return a.waitReady(ctx, l.connection, l.key, waiting{goesOn: "upgrading"})
}

// atTheEnd tells whether a hold is one that an upgrade waits at after its last step.
func atTheEnd(hold *state.Hold) bool {
	return hold != nil && (hold.Point == state.AfterWorkers || hold.Point == state.AfterUpgrade)
}

// preflight looks for what stands in the way, without a write.
func (a *app) preflight(ctx context.Context, l live, p prepared, o upgradeOptions) error {
	var known []plan.Finding
	if !p.spec.managed() { // a class has its images itself
		known = validations.Way(p.resolved.Config, p.plan, p.spec.bundles)
	}
	options := management.PreflightOptions{Known: known, Skip: o.skip, Groups: o.scope.groups, Restored: p.restored, Warn: func(text string) { a.warning("%s", text) }}
	if err := l.Preflight(ctx, l.state, p.plan, options); err != nil {
		return err
	}
	a.warnUnkept(ctx, l)
	if err := a.checkReferences(ctx, l.connection, p.resolved.Config, p.namespace, o.dryRun == dryRunServer); err != nil {
		return err
	}
	first, later := p.rehearsed(l.state)
	var force []client.ApplyOption
	if o.forceConflicts {
		force = append(force, client.ForceOwnership)
	}
	return p.spec.admission(l.Rehearse(ctx, first, later, force...))
}

// carryOut holds the cluster for this run and takes it through the steps.
func (a *app) carryOut(ctx context.Context, l live, p prepared, o upgradeOptions) error {
	held, release, err := l.Lock(ctx, l.key, management.Claim{Groups: o.scope.groups, TakeOver: o.takeOver, Waiting: a.sayWaiting})
	if err != nil {
		return err
	}
	defer release()
	if a.options.Output == outputJSON { // the first event
		if err := json.NewEncoder(a.out).Encode(p.plan); err != nil {
			return err
		}
	}
	began := time.Now()
	progress := a.progress()
	last := rollout.Status{Plan: p.plan}
	err = l.Upgrade(held, l.key, management.Upgrade{
		Plan: p.plan, Stages: p.stages, Record: p.record, Partial: !o.scope.whole(), Groups: o.scope.groups, Force: o.forceConflicts,
		Policy: validations.Policy(p.resolved.Config.Cluster), Warn: func(text string) { a.warning("%s", text) },
		Managed:     p.spec.managed() && o.scope.whole(),
		Native:      p.native,
		Continued:   p.begun(l.origin),
		Templates:   p.templates(),
		Claimed:     l.state.Claimed(),
		Skip:        o.skip,
		NodeStartup: p.resolved.Config.Cluster.Spec.NodeStartup(),
		Concurrency: p.resolved.Config.Cluster.Spec.UpgradePolicy.Concurrency(),
		Show: func(now rollout.Status) {
			last = now
			progress.ShowUpgrade(now.Plan, now.Current(), now.Cluster)
		},
	})
	progress.Close()
	switch {
	case err == nil && !o.scope.whole():
		return a.result("cluster %s: done after %s: %s", l.key, time.Since(began).Round(time.Second), strings.Join(texts(p.plan.Steps), "; "))
	case err == nil:
		return a.result("cluster %s is at %s after %s", l.key, p.plan.To.ControlPlane, time.Since(began).Round(time.Second))
	case errors.Is(err, management.ErrTimeout):
		if err == management.ErrTimeout { //nolint:errorlint // others say themselves what was under way
			err = fmt.Errorf("%w%s", err, waitingFor(last))
		}
		return fmt.Errorf("%w; %s", err, left(last))
	case errors.Is(err, context.Canceled):
		return interruptedError(left(last))
	default:
		return err
	}
}

// readPlan reads a plan that 'plan upgrade --out' wrote; it is nil without a file.
func readPlan(file string) (*plan.Plan, error) {
	const remedy = "'clusterctl-x plan upgrade --out' writes one"
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{fmt.Errorf("reading the plan: %w; %s", err, remedy)}
	}
	var header struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(data, &header); err != nil || header.Kind != plan.DocumentKind || header.APIVersion != v1alpha1.APIVersion {
		return nil, usageError{fmt.Errorf("%s is no plan of this version of clusterctl-x, which has apiVersion %s and kind %s; %s", file, v1alpha1.APIVersion, plan.DocumentKind, remedy)}
	}
	var saved plan.Plan
	if err := yaml.UnmarshalStrict(data, &saved); err != nil {
		return nil, usageError{fmt.Errorf("reading the plan %s: %w; %s", file, err, remedy)}
	}
	if saved.Metadata.UID == "" {
		return nil, usageError{fmt.Errorf("%s was made from two files, with --from: it knows no cluster that could follow it; make one of the cluster itself, without --from", file)}
	}
	return &saved, nil
}

// confirm asks a person.
func (a *app) confirm(ctx context.Context) (bool, error) {
	if _, err := fmt.Fprint(a.err, "go on? [y/N] "); err != nil {
		return false, fmt.Errorf("asking whether to go on: %w; nothing was changed", err)
	}
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(a.in).ReadString('\n') // the end of the input is no yes
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(answer))), nil
	case <-ctx.Done():
		return false, fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	}
}
