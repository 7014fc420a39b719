package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/changes"
	"github.com/clusterctl-x/clusterctl-x/pkg/management"
	"github.com/clusterctl-x/clusterctl-x/pkg/management/topology"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rollout"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

func (a *app) planUpgradeCommand() *cobra.Command {
	var o upgradeOptions
	cmd := &cobra.Command{
		Use:   "upgrade -f FILE",
		Short: "Show what 'upgrade cluster' would do, step by step; nothing is changed",
		Example: `  clusterctl-x plan upgrade -f cluster.yaml
  clusterctl-x plan upgrade -f cluster.yaml --from old.yaml
  clusterctl-x plan upgrade -f cluster.yaml --out plan.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.scope.check(); err != nil {
				return err
			}
			ctx, cancel := a.withTimeout(cmd.Context(), 0)
			defer cancel()
			p, err := a.planUpgrade(ctx, o)
			if err != nil {
				return err
			}
			if o.out != "" {
				if err := savePlan(o.out, p.plan); err != nil {
					return fmt.Errorf("writing the plan to %s: %w", o.out, err)
				}
				a.say("plan written to %s%s", o.out, forReading(o.from))
			}
			return a.print(p.plan, func() error { return a.style(a.out).Plan(a.out, p.plan) })
		},
	}
	o.addTo(cmd)
	cmd.Flags().StringVar(&o.from, "from", "", "file that describes the cluster as it is, instead of a live one; no management cluster is asked")
	a.addExtensionCertificate(cmd)
	cmd.Flags().StringVar(&o.out, "out", "", "file to write the plan to, for 'upgrade cluster --plan'")
	return cmd
}

func (a *app) planUpgrade(ctx context.Context, o upgradeOptions) (prepared, error) {
	if o.from != "" {
		p, _, err := a.prepareOffline(ctx, o)
		return p, err
	}
	l, err := a.lookUp(ctx, o)
	if err != nil {
		return prepared{}, err
	}
	return a.prepare(l.spec, l.origin, o, l.key.Namespace)
}

// forReading says what a plan that was made without a cluster is not good for.
func forReading(from string) string {
	if from == "" {
		return ""
	}
	return ", for reading: 'upgrade cluster --plan' takes plans of the cluster itself, made without --from"
}

// showPlan shows a person what is going to happen, whoever is asked in any case.
func (a *app) showPlan(p plan.Plan, o upgradeOptions) error {
	if !o.interactive && (a.options.Quiet || a.options.Output == outputJSON) {
		return nil
	}
	return a.style(a.err).Plan(a.err, p)
}

// savePlan writes the plan, all of it or nothing.
func savePlan(file string, p plan.Plan) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return errors.New("it is a directory; name a file")
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-")
	if err != nil {
		return withoutPath(err)
	}
	defer os.Remove(temporary.Name()) //nolint:errcheck // it has its name by then, unless writing failed, which is returned
	if _, err := temporary.Write(append(data, '\n')); err != nil {
		return withoutPath(err)
	}
	if err := temporary.Close(); err != nil {
		return withoutPath(err)
	}
	return withoutPath(os.Rename(temporary.Name(), file))
}

// withoutPath is an error without the path of a file that nobody named.
func withoutPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	default:
		return err
	}
}

// prepareOffline plans the way from the cluster that one file describes to that
// of another. It returns also what the cluster is made of before.
func (a *app) prepareOffline(ctx context.Context, o upgradeOptions) (prepared, rollout.Objects, error) {
	was, s, err := a.readBoth(o)
	if err != nil {
		return prepared{}, rollout.Objects{}, err
	}
	before := was.resolved
	objects, err := was.stage(before.Versions, scope{})
	if err != nil {
		return prepared{}, rollout.Objects{}, err
	}
	p, err := a.prepare(s, origin{
		metadata: plan.Metadata{Name: before.Config.Cluster.Metadata.Name, Namespace: was.namespace, Spec: fingerprint(s.data)},
		start:    atRest(before), before: before.Config,
		compare: func(wanted []*unstructured.Unstructured) ([]management.Change, error) {
			both, err := topology.Parts{"before": objects.All(), "after": wanted}.WithDefaults(ctx)
			if err != nil {
				return nil, err
			}
			return compareOffline(both["before"], both["after"])
		},
		unused: func(keep []*unstructured.Unstructured) ([]string, error) {
			return unusedOffline(s.config, objects, keep), nil
		},
	}, o, was.namespace)
	return p, objects, err
}

// readBoth reads the file that describes the cluster as it is, and the one that
// describes it as it is to be.
func (a *app) readBoth(o upgradeOptions) (was prepared, s spec, err error) {
	if o.from == "-" && o.file == "-" {
		return was, s, usageError{errors.New("-f and --from cannot both be standard input; give one of them a file")}
	}
	old, err := a.readSpecOf("--from names the file that describes the cluster as it is, and - is standard input", o.from)
	if err != nil {
		return was, s, err
	}
	if err := notOffline(old); err != nil {
		return was, s, err
	}
	before, err := validations.Create(old.config, old.bundles, noVersions())
	if err != nil {
		return was, s, err
	}
	if s, err = a.readSpec(o.file); err != nil {
		return was, s, err
	}
	if err := notOffline(s); err != nil {
		return was, s, err
	}
	resolved, err := a.resolve(s, before.Versions)
	if err != nil {
		return was, s, err
	}
	if err := o.scope.checkGroups(resolved.Config); err != nil {
		return was, s, err
	}
	a.warn(resolved)
	is, wanted := before.Config.Cluster.Metadata, resolved.Config.Cluster.Metadata
	if another := is.Namespace != "" && wanted.Namespace != "" && is.Namespace != wanted.Namespace; is.Name != wanted.Name || another {
		return was, s, &management.RefusedError{Check: "immutable", Reason: fmt.Sprintf(
			"%s describes cluster %s, and %s cluster %s: name and namespace cannot be changed; a cluster of another name is another cluster",
			fileName(o.from), fullName(is), fileName(o.file), fullName(wanted))}
	}
	return prepared{spec: old, resolved: before, namespace: a.namespace(cmp.Or(wanted.Namespace, is.Namespace), "default")}, s, nil
}

// fullName is the name of a cluster, with its namespace where the file has one.
func fullName(meta v1alpha1.Meta) string {
	return strings.TrimPrefix(meta.Namespace+"/"+meta.Name, "/")
}

// atRest is a cluster exactly as its spec describes it.
func atRest(resolved validations.Resolved) plan.Start {
	part := func(version v1alpha1.Version, machines int) plan.Part {
		return plan.Part{Version: version, Oldest: version, Machines: machines, Fresh: machines}
	}
	spec := resolved.Config.Cluster.Spec
	start := plan.Start{ControlPlane: part(resolved.Versions.ControlPlane, spec.ControlPlaneConfiguration.Replicas()), WorkerNodeGroups: map[string]plan.Part{}}
	for _, group := range spec.WorkerNodeGroupConfigurations {
		start.WorkerNodeGroups[group.Name] = part(resolved.Versions.WorkerNodeGroups[group.Name], group.Replicas())
	}
	return start
}

// compareOffline is management.Compare with rendered objects in the place of
// live ones.
func compareOffline(before, wanted []*unstructured.Unstructured) ([]management.Change, error) {
	old, fresh := map[string]*unstructured.Unstructured{}, map[string]*unstructured.Unstructured{}
	for _, object := range before {
		old[changes.ObjectName(object)] = object
	}
	for _, object := range wanted {
		fresh[changes.ObjectName(object)] = object
	}
	all := make([]management.Change, len(wanted))
	for i, object := range wanted {
		all[i] = management.Change{Object: changes.ObjectName(object), Action: management.Created}
		was, exists := old[all[i].Object]
		if !exists {
			continue
		}
		fields, err := changes.Between(was, object)
		if err == nil {
			fields, err = changes.FollowTemplates(was, object, fields, fresh, func(called string, instead *unstructured.Unstructured) (*unstructured.Unstructured, error) {
				return old[instead.GetKind()+"/"+called], nil
			})
		}
		if err != nil {
			return nil, err
		}
		all[i].Action, all[i].Fields = management.Unchanged, fields
		if len(fields) > 0 {
			all[i].Action = management.Changed
		}
	}
	return all, nil
}

// unusedOffline is management.Unused with rendered objects in the place of live
// ones: what was rendered for the cluster and the groups that stay, and is no
// longer.
func unusedOffline(config *v1alpha1.Config, before rollout.Objects, keep []*unstructured.Unstructured) []string {
	kept := map[string]bool{}
	for _, object := range keep {
		kept[changes.ObjectName(object)] = true
	}
	were := slices.Concat(before.Cluster, before.Parts[v1alpha1.ControlPlaneName])
	for _, group := range config.Cluster.Spec.WorkerNodeGroupConfigurations {
		were = append(were, before.Parts[group.Name]...)
	}
	var names []string
	for _, object := range were {
		if name := changes.ObjectName(object); !kept[name] && !changes.IsTemplate(object.GetKind()) {
			names = append(names, name)
		}
	}
	return names
}
