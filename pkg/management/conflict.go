package management

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
)

// Names of findings about fields of others. They are documented in docs/errors.md and do
// not change.
const (
	// FindingConflict is a field that another field manager owns with another value.
	FindingConflict = "field-conflict"
	// FindingGitOps is a tool that would put back what the upgrade changes.
	FindingGitOps = "gitops-owner"
)

// ConflictError says which fields others own that an upgrade would change.
type ConflictError struct{ Fields []FieldConflict }

// FieldConflict is a field that another field manager owns.
type FieldConflict struct {
	Object string // Kind/name
	Path   string // empty for an object that is removed
	Reason string // names the owner
	// Managers are the field managers that own the field, and Owner is the one of them that
	// writes the field again; the zero value where the owner is not known.
	Managers []string
	Owner    owners.Owner
}

func (f FieldConflict) String() string { return f.what() + ": " + f.Reason }

func (f FieldConflict) what() string { return strings.TrimSpace(f.Object + " " + f.Path) }

func (e *ConflictError) Error() string {
	text := "other field managers own fields that the upgrade would change; set their values in the file, or take the fields over with --force-conflicts"
	for _, conflict := range e.Fields {
		text += "\n  " + conflict.String()
	}
	for _, finding := range e.Reverted() {
		text += fmt.Sprintf("\n  %s: %s", finding.Check, finding.Reason)
	}
	return text
}

// Findings are the conflicts as findings about a plan: for each tool that would put its
// fields back one, and one for each other field.
func (e *ConflictError) Findings() []plan.Finding {
	findings := e.Reverted()
	for _, field := range e.Fields {
		if !field.Owner.Reconciles() {
			findings = append(findings, plan.Finding{Check: FindingConflict, Reason: field.String()})
		}
	}
	return findings
}

// Reverted says of each tool that would put fields back what to do instead.
func (e *ConflictError) Reverted() []plan.Finding {
	var findings []plan.Finding
	for _, group := range byOwner(e.Fields) {
		owner := group[0].Owner
		if !owner.Reconciles() {
			continue
		}
		stopped := "it no longer writes the object"
		if suspend := owner.Suspend(); suspend != "" {
			stopped = "it is stopped by " + suspend
		}
		findings = append(findings, plan.Finding{Check: FindingGitOps, Reason: fmt.Sprintf(
			"%s writes %s, and %s; change it in Git, with the files of 'clusterctl-x generate manifests --step', or take it over with --force-conflicts=%s once %s",
			owner, whats(group), owner.Effect(), strings.Join(managersOf(group), ","), stopped)})
	}
	return findings
}

// Taken describes fields that an upgrade takes over, in a sentence for each owner.
func Taken(fields []FieldConflict) []string {
	var notes []string
	for _, group := range byOwner(fields) {
		notes = append(notes, fmt.Sprintf("takes over %s from %s; change the files that it applies too", whats(group), strings.Join(managersOf(group), ", ")))
	}
	return notes
}

// byOwner groups fields by their owner, in the order of the owners' names.
func byOwner(fields []FieldConflict) [][]FieldConflict {
	named := map[string][]FieldConflict{}
	var names []string
	for _, field := range fields {
		name := field.Owner.String()
		if len(named[name]) == 0 {
			names = append(names, name)
		}
		named[name] = append(named[name], field)
	}
	slices.Sort(names)
	var groups [][]FieldConflict
	for _, name := range names {
		groups = append(groups, named[name])
	}
	return groups
}

func whats(fields []FieldConflict) string {
	all := make([]string, len(fields))
	for i, field := range fields {
		all[i] = field.what()
	}
	return strings.Join(all, ", ")
}

func managersOf(fields []FieldConflict) []string {
	var all []string
	for _, field := range fields {
		all = append(all, field.Managers...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// conflictOf puts the conflicts of applying objects together; nil without any.
func conflictOf(fields ...[]FieldConflict) error {
	if all := sorted(fields...); len(all) > 0 {
		return &ConflictError{Fields: all}
	}
	return nil
}

// sorted returns each conflict once.
func sorted(fields ...[]FieldConflict) []FieldConflict {
	all := slices.Concat(fields...)
	slices.SortFunc(all, func(a, b FieldConflict) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(all, func(a, b FieldConflict) bool { return a.String() == b.String() })
}

// judged divides the fields of an object that others own with other values, as an error of
// the API server says, by whether they may be taken over. The annotation that a dry run adds
// is none of them.
func (c *Client) judged(ctx context.Context, object *unstructured.Unstructured, refusal error, takeover owners.Takeover) (taken, refused []FieldConflict, err error) {
	causes := slices.DeleteFunc(fieldConflicts(refusal), aboutGuardrails)
	if len(causes) == 0 {
		return nil, nil, nil
	}
	live, err := c.live(ctx, object)
	if client.IgnoreNotFound(err) != nil {
		return nil, nil, fmt.Errorf("reading who owns the fields of %s: %w", changes.ObjectName(object), err)
	}
	for _, cause := range causes {
		field := FieldConflict{Object: changes.ObjectName(object), Path: strings.TrimPrefix(cause.Field, "."), Reason: cause.Message}
		if field.Managers, err = owners.ManagersOf(live, cause.Field, string(FieldOwner)); err != nil {
			return nil, nil, err
		}
		field.Owner = ownerOf(live, field.Managers)
		if takeover.Allows(live, field.Managers) {
			taken = append(taken, field)
		} else {
			refused = append(refused, field)
		}
	}
	return taken, refused, nil
}

// madeAgain are the removed MachineDeployments that a tool would make again. The topology
// controller is no such tool: it is what removes a group that spec.topology no longer has.
func (c *Client) madeAgain(ctx context.Context, w Writes) ([]FieldConflict, error) {
	var refused []FieldConflict
	for _, removed := range w.Removed {
		_, name, _ := strings.Cut(removed, "/")
		var live clusterv1.MachineDeployment
		err := c.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, &live)
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading who owns %s: %w", removed, err)
		}
		for _, owner := range owners.Of(&live) {
			if owner.Tool != owners.Topology && owner.Reconciles() && !w.Takeover.Allows(&live, owner.Managers) {
				refused = append(refused, FieldConflict{Object: removed, Reason: fmt.Sprintf("is to be removed, and %s makes it again", owner), Managers: owner.Managers, Owner: owner})
			}
		}
	}
	return refused, nil
}

// ownerOf returns the owner that some field managers belong to: one that writes its fields
// again by itself, if there is one.
func ownerOf(object *unstructured.Unstructured, managers []string) owners.Owner {
	var owner owners.Owner
	for _, manager := range managers {
		if of := owners.OfManager(object, manager); owner.Tool == "" || of.Reconciles() && !owner.Reconciles() {
			owner = of
		}
	}
	return owner
}

// fieldConflicts are the causes of an error that are about fields of other owners.
func fieldConflicts(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsConflict(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(status.Status().Details.Causes), func(cause metav1.StatusCause) bool {
		return cause.Type != metav1.CauseTypeFieldManagerConflict
	})
}
