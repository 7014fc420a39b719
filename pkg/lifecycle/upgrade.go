package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/clusterclass"
	"github.com/clusterctl-x/clusterctl-x/pkg/engine"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// UpgradeOptions say what an upgrade is about.
type UpgradeOptions struct {
	// Scope is the part of the cluster that is upgraded; the zero value is all of it.
	Scope plan.Scope
	// LatestPatches takes the newest patch of a minor instead of the one that runs.
	LatestPatches bool
}

// PreflightOptions are the options of the checks before an upgrade.
type PreflightOptions struct {
	// Skip are the names of checks to be left out.
	Skip []string
	// ForceConflicts says which fields of others are taken over.
	ForceConflicts owners.Takeover
	// DryRun warns about Secrets and ConfigMaps that are missing, which are refused
	// otherwise.
	DryRun bool
	// Planning is true where another user may be the one who upgrades.
	Planning bool
}

// RunOptions are the options of carrying out an upgrade.
type RunOptions struct {
	// Skip are the names of checks to be left out, as in PreflightOptions.
	Skip []string
	// ForceConflicts says which fields of others are taken over.
	ForceConflicts owners.Takeover
	// TakeOver takes over the locks of other runs that work on the cluster.
	TakeOver bool
	// NoWait ends the run as soon as nothing more can be written without waiting for
	// machines. Cluster API completes what was begun; another run continues with the rest.
	NoWait bool
	// AllowRemovals allows the upgrade to remove worker node groups.
	AllowRemovals bool
	// Locked is called once the cluster is locked, before anything is written.
	Locked func() error
	// Show is called with every change of the progress, unless it is nil.
	Show func(engine.Status)
}

// Preflights are the names of all checks that can be left out.
func Preflights() []string {
	return append(management.Checks(), validations.CheckNodeImage, validations.CheckNewMachines)
}

// CheckPreflights refuses names that no check has.
func CheckPreflights(names []string) error {
	for _, name := range names {
		if !slices.Contains(Preflights(), name) {
			return fmt.Errorf("there is no check %q; the checks are %s", name, strings.Join(Preflights(), ", "))
		}
	}
	return nil
}

// CheckUpgrade checks what can be known of an upgrade to the spec without a management
// cluster, and returns the warnings about it. A release that the bundles lack may be in
// the record of the cluster.
func (s Spec) CheckUpgrade(o UpgradeOptions) ([]strictyaml.Warning, error) {
	resolved, err := validations.Create(s.Config, s.providers, s.releases(), v1alpha1.ClusterVersions{})
	if err != nil && !versionsbundle.OnlyMissing(err) {
		return resolved.Warnings, err
	}
	return resolved.Warnings, errors.Join(scope{o.Scope}.check(s)...)
}

// PlanUpgrade plans the upgrade of a cluster to a spec. Nothing is written.
func (s *Service) PlanUpgrade(ctx context.Context, spec Spec, o UpgradeOptions) (Upgrade, error) {
	if _, err := spec.CheckUpgrade(o); err != nil {
		return Upgrade{}, err
	}
	spec, from, err := s.observe(ctx, spec, scope{o.Scope})
	if err != nil {
		return Upgrade{}, err
	}
	l := s.live(s.keyOf(spec))
	return prepare(ctx, spec, from, source{comparer: l, topology: l}, o, s.options)
}

// Saved returns the plan as it is saved: with what it was made from.
func (p Upgrade) Saved() plan.Plan {
	saved := p.Plan
	saved.Source = &plan.Source{File: p.spec.Name, Change: p.spec.change, Scope: p.options.Scope, LatestPatches: p.options.LatestPatches}
	if p.spec.change == nil {
		saved.Source.Spec = string(p.spec.data)
	}
	return saved
}

// Removal returns the error with which the upgrade is refused unless removals are allowed;
// nil where it removes no worker node group.
func (p Upgrade) Removal() *RemovalError {
	if removed := p.Plan.Removed(); len(removed) > 0 {
		return &RemovalError{Cluster: p.Key, Groups: removed}
	}
	return nil
}

// CheckFollows checks that the upgrade is the one that was planned before; nil is any.
func (p Upgrade) CheckFollows(saved *plan.Plan) error {
	if saved == nil {
		return nil
	}
	if reasons := saved.Stale(p.Plan); len(reasons) > 0 {
		return &engine.StalePlanError{Cluster: p.Key.String(), Reasons: reasons}
	}
	return nil
}

// Config is the spec that the upgrade leads to, with its defaults.
func (p Upgrade) Config() *v1alpha1.Config { return p.resolved.Config }

// Versions returns the versions that the spec was resolved to.
func (p Upgrade) Versions() v1alpha1.ClusterVersions { return p.resolved.Versions }

// Whole reports whether the upgrade is about the whole cluster.
func (p Upgrade) Whole() bool { return p.scope.Whole() }

// Settled reports whether nothing is left to wait for when the plan is empty: the cluster
// is as the spec describes it.
func (p Upgrade) Settled() bool {
	return !p.scope.Whole() || p.from.state.Done() && !atTheEnd(p.from.state.Held)
}

// atTheEnd reports whether a hold is one that an upgrade waits at after its last step.
func atTheEnd(hold *state.Hold) bool {
	return hold != nil && (hold.Point == state.AfterWorkers || hold.Point == state.AfterUpgrade)
}

// machineTemplates returns the kinds of templates that the machines are made from, sorted.
func (p Upgrade) machineTemplates() []schema.GroupKind {
	var kinds []schema.GroupKind
	for _, objects := range p.States {
		for _, object := range objects.All() {
			kind := object.GroupVersionKind().GroupKind()
			if changes.IsTemplate(kind.Kind) && kind.Group != bootstrapv1.GroupVersion.Group && !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	return kinds
}

// Preflight checks for problems of an upgrade, and writes nothing. It warns of fields that
// the upgrade takes over from others.
func (s *Service) Preflight(ctx context.Context, p Upgrade, o PreflightOptions) error {
	notes, err := s.preflight(ctx, p, o)
	for _, note := range notes {
		s.options.warn("%s", note)
	}
	return err
}

// preflight returns what the upgrade takes over from others.
func (s *Service) preflight(ctx context.Context, p Upgrade, o PreflightOptions) ([]string, error) {
	options := management.PreflightOptions{Known: p.execution.missing(p.Plan), Skip: o.Skip, Groups: p.scope.Groups, Restored: p.restored, Planning: o.Planning, Warn: s.warn, MachineTemplates: p.machineTemplates()}
	if err := s.client.Preflight(ctx, p.from.state, p.Plan, options); err != nil {
		return nil, err
	}
	s.warnUnkept(ctx, p.from.state)
	missing, err := s.missingReferences(ctx, p.resolved, p.Key.Namespace)
	switch {
	case err != nil:
		return nil, err
	case o.DryRun:
		for _, reference := range missing {
			s.options.warn("%s; without it the upgrade is refused", reference)
		}
	case len(missing) > 0:
		return nil, referencesMissing(missing)
	}
	first, later := p.execution.dryRun(p.Plan, p.States)
	taken, err := s.client.DryRun(ctx, management.Writes{First: first, Later: later, Removed: p.removed(), Namespace: p.Key.Namespace, Takeover: p.takeover(o.ForceConflicts)})
	return management.Taken(taken), clusterclass.Admission(p.spec.Config, err)
}

// takeover returns whose fields the upgrade takes over. Who asks for versions by name means the
// fields with the versions, whatever people wrote there before.
func (p Upgrade) takeover(asked owners.Takeover) owners.Takeover {
	asked.People = asked.People || p.spec.change != nil
	return asked
}

// removed returns the MachineDeployments that the plan removes, as Kind/name.
func (p Upgrade) removed() []string {
	var objects []string
	for _, group := range p.Plan.Removed() {
		if part, exists := p.from.state.Group(group.Name); exists {
			objects = append(objects, part.Object)
		}
	}
	return objects
}

// RemovalError says which worker node groups an upgrade would remove that it is not
// allowed to remove.
type RemovalError struct {
	Cluster types.NamespacedName
	Groups  []plan.Group
}

func (e *RemovalError) Error() string {
	return fmt.Sprintf("the upgrade of cluster %s removes %s; confirm it with --yes", e.Cluster, e.What())
}

// What lists the groups with their machines.
func (e *RemovalError) What() string {
	groups := make([]string, len(e.Groups))
	for i, group := range e.Groups {
		groups[i] = fmt.Sprintf("worker node group %s (machines: %d)", group.Name, group.MachinesRemoved)
	}
	return inWords(groups)
}

// FindingRefused names an object that the management cluster does not accept, among the
// findings of Review.
const FindingRefused = "refused"

// Review adds to a plan what the upgrade would be refused for in the current state of the
// cluster: the findings of Preflight. It writes nothing.
func (s *Service) Review(ctx context.Context, p Upgrade) (Upgrade, error) {
	if p.Plan.Empty() {
		return p, nil
	}
	taken, err := s.preflight(ctx, p, PreflightOptions{DryRun: true, Planning: true})
	p.Plan.Notes = slices.Concat(p.Plan.Notes, taken)
	var preflight *management.PreflightError
	var conflict *management.ConflictError
	var denied validations.Refused
	var refused *management.RefusedError
	switch {
	case errors.As(err, &preflight):
		p.Plan.Findings = preflight.Findings
	case errors.As(err, &conflict):
		p.Plan.Findings = conflict.Findings()
	case errors.As(err, &denied), errors.As(err, &refused), apierrors.IsInvalid(err), apierrors.IsForbidden(err):
		p.Plan.Findings = []plan.Finding{{Check: FindingRefused, Reason: err.Error()}}
	default:
		return p, err
	}
	return p, nil
}

// Upgrade locks a cluster and takes it through the steps of an upgrade. It stops before
// its next write when ctx ends; a new plan continues from there. For an upgrade without
// steps it records changes of the spec that no machine needs, such as a pin at a
// group's current version. The error is a *RemovalError where the plan removes worker node
// groups and the options do not allow it.
func (s *Service) Upgrade(ctx context.Context, p Upgrade, o RunOptions) error {
	if p.Plan.Empty() {
		return s.recordSpec(ctx, p, o)
	}
	if refused := p.Removal(); refused != nil && !o.AllowRemovals {
		return refused
	}
	if err := s.prepareContainers(ctx, p.resolved.Provider.Spec.ContainerNetwork); err != nil {
		return err
	}
	held, release, err := s.client.Lock(ctx, p.Key, management.Claim{Groups: p.scope.Groups, TakeOver: o.TakeOver, Waiting: s.options.Waiting})
	if err != nil {
		return err
	}
	defer release()
	if o.Locked != nil {
		if err := o.Locked(); err != nil {
			return err
		}
	}
	show := o.Show
	if show == nil {
		show = func(engine.Status) {}
	}
	cluster := p.resolved.Config.Cluster
	program := engine.Program{
		Plan: p.Plan, Desired: p.States, Groups: p.scope.Groups, Policy: validations.Policy(cluster),
		Continued:    p.begun(),
		Claimed:      p.from.state.Claimed(),
		IgnoreHealth: slices.Contains(o.Skip, management.CheckHealth),
		NodeStartup:  cluster.Spec.NodeStartup(),
		Concurrency:  cluster.Spec.UpgradePolicy.Concurrency(),
	}
	p.execution.drive(&program)
	return s.client.Upgrade(held, p.Key, management.Upgrade{
		Command: s.command("upgrade"), Program: program, Record: p.record, Templates: p.templates, Partial: !p.scope.Whole() || p.spec.change != nil, Takeover: p.takeover(o.ForceConflicts), NoWait: o.NoWait, Warn: s.warn, Show: show,
	})
}

// recordSpec records the spec if there is nothing to do for it.
func (s *Service) recordSpec(ctx context.Context, p Upgrade, o RunOptions) error {
	if !p.scope.Whole() || p.spec.change != nil || p.from.recorded.Spec == string(p.spec.data) {
		return nil
	}
	held, release, err := s.client.Lock(ctx, p.Key, management.Claim{TakeOver: o.TakeOver, Waiting: s.options.Waiting})
	if err != nil {
		return err
	}
	defer release()
	return s.client.ChangeRecord(held, p.Key, p.record)
}
