package management

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/controlplanes"
	"github.com/clusterctl-x/clusterctl-x/pkg/plan"
	"github.com/clusterctl-x/clusterctl-x/pkg/rbac"
	"github.com/clusterctl-x/clusterctl-x/pkg/state"
)

// privilege is the use of a resource by an upgrade. config/rbac grants all of them.
type privilege struct {
	group, resource string
	verbs           []string
}

// privilegesFor returns the privileges that an upgrade of the cluster by a plan needs, whose
// machines are made from templates of these kinds.
func privilegesFor(cluster state.Cluster, p plan.Plan, machineTemplates []schema.GroupKind) []privilege {
	switch detached := p.NextDetached(0) < len(p.Steps); {
	case cluster.Topology != nil && !detached:
		return managedPrivileges()
	case cluster.Topology != nil:
		return append(upgradePrivileges(machineTemplates), privilege{"cluster.x-k8s.io", "clusterclasses", []string{"get", "list"}})
	}
	return append(upgradePrivileges(machineTemplates), privilegesOfOthers(cluster, p)...)
}

// privilegesOfOthers returns the privileges for what only clusters of others have: MachinePools
// that the plan moves, and a control plane of another known kind than kubeadm's.
func privilegesOfOthers(cluster state.Cluster, p plan.Plan) []privilege {
	var privileges []privilege
	name, _, _ := strings.Cut(cluster.ControlPlane.Object, "/")
	if kind := controlplanes.Of(name); kind.Group != "" && p.From.ControlPlane != p.To.ControlPlane {
		privileges = append(privileges, privilege{kind.Group, rbac.ResourceOf(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}), []string{"get", "patch"}})
	}
	moved := func(group state.Part) bool {
		return group.Pool() && p.From.WorkerNodeGroups[group.Name] != p.To.WorkerNodeGroups[group.Name]
	}
	if slices.ContainsFunc(cluster.WorkerNodeGroups, moved) {
		privileges = append(privileges, privilege{"cluster.x-k8s.io", "machinepools", []string{"patch"}})
	}
	return privileges
}

// managedPrivileges returns the privileges for clusters from a ClusterClass.
func managedPrivileges() []privilege {
	watch := []string{"get", "list", "watch"}
	return []privilege{
		{"cluster.x-k8s.io", "clusters", append(watch, "patch")},
		{"cluster.x-k8s.io", "clusterclasses", []string{"get", "list"}},
		{"cluster.x-k8s.io", "machinedeployments", watch},
		{"cluster.x-k8s.io", "machinesets", watch},
		{"cluster.x-k8s.io", "machines", watch},
		{"cluster.x-k8s.io", "machinepools", watch},
		{"addons.cluster.x-k8s.io", "clusterresourcesets", append(watch, "create", "patch", "delete")},
		{"controlplane.cluster.x-k8s.io", "kubeadmcontrolplanes", watch},
		{"coordination.k8s.io", "leases", []string{"get", "list", "create", "update"}},
		{"", "secrets", []string{"get", "create", "patch"}},
		{"", "configmaps", []string{"get", "list", "create", "patch", "delete"}},
	}
}

func upgradePrivileges(machineTemplates []schema.GroupKind) []privilege {
	watch := []string{"get", "list", "watch"}
	privileges := []privilege{
		{"cluster.x-k8s.io", "clusters", append(watch, "patch")},
		{"cluster.x-k8s.io", "machinedeployments", append(watch, "create", "patch", "delete")},
		{"cluster.x-k8s.io", "machinesets", watch},
		{"cluster.x-k8s.io", "machines", watch},
		{"cluster.x-k8s.io", "machinepools", watch},
		{"cluster.x-k8s.io", "machinehealthchecks", []string{"get", "list", "create", "patch", "delete"}},
		{"addons.cluster.x-k8s.io", "clusterresourcesets", append(watch, "create", "patch", "delete")},
		{"controlplane.cluster.x-k8s.io", "kubeadmcontrolplanes", append(watch, "patch")},
		{"bootstrap.cluster.x-k8s.io", "kubeadmconfigtemplates", []string{"get", "list", "create", "patch", "delete"}},
		{"bootstrap.cluster.x-k8s.io", "kubeadmconfigs", []string{"list"}},
		{"coordination.k8s.io", "leases", []string{"get", "list", "create", "update"}},
		{"", "secrets", []string{"get", "create", "patch"}},
		{"", "configmaps", []string{"get", "list", "create", "patch", "delete"}},
	}
	for _, kind := range machineTemplates {
		privileges = append(privileges, privilege{kind.Group, rbac.ResourceOf(kind), []string{"get", "list", "create", "patch", "delete"}})
	}
	return privileges
}

// missingForUpgrade returns which privileges for an upgrade are missing. Where it is only
// planned, those of a user who cannot upgrade at all do not matter.
func (c *Client) missingForUpgrade(ctx context.Context, namespace string, wanted []privilege, options PreflightOptions) ([]string, error) {
	if options.Planning {
		missing, err := c.missingPrivileges(ctx, namespace, []privilege{{"coordination.k8s.io", "leases", []string{"create", "update"}}})
		if err != nil || len(missing) > 0 {
			return nil, err
		}
	}
	return c.missingPrivileges(ctx, namespace, wanted)
}

// missingPrivileges asks the API server what the user may not do.
func (c *Client) missingPrivileges(ctx context.Context, namespace string, wanted []privilege) ([]string, error) {
	missing := make([][]string, len(wanted))
	var tasks errgroup.Group
	tasks.SetLimit(maxRequests)
	for i, privilege := range wanted {
		tasks.Go(func() error {
			for _, verb := range privilege.verbs {
				review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
					ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: privilege.group, Resource: privilege.resource},
				}}
				if err := c.Create(ctx, review); err != nil {
					return fmt.Errorf("checking the privilege to %s %s: %w", verb, privilege.resource, err)
				}
				if !review.Status.Allowed {
					missing[i] = append(missing[i], verb)
				}
			}
			return nil
		})
	}
	if err := tasks.Wait(); err != nil {
		return nil, err
	}
	where := "in namespace " + namespace
	if namespace == "" {
		where = "in all namespaces"
	}
	var reasons []string
	for i, verbs := range missing {
		if len(verbs) > 0 {
			resource := strings.TrimSuffix(wanted[i].resource+"."+wanted[i].group, ".")
			reasons = append(reasons, fmt.Sprintf("the user of this kubeconfig may not %s %s %s; give it the privileges of 'clusterctl-x generate rbac'", strings.Join(verbs, ", "), resource, where))
		}
	}
	return reasons, nil
}

// clusterAPITooOld looks for a field that came with Cluster API 1.14: a
// management cluster does not tell its version to those who may not read its
// controllers.
func (c *Client) clusterAPITooOld() ([]string, error) {
	paths, err := c.discovery.OpenAPIV3().Paths()
	if err != nil {
		return nil, fmt.Errorf("asking for the schemas of the management cluster: %w", err)
	}
	found, err := hasField(paths["apis/"+clusterv1.GroupVersion.String()], clusterv1.GroupVersion.Version+".Cluster", "status", "controlPlane", "upgradePlan")
	if err != nil || found {
		return nil, err
	}
	return []string{"the management cluster runs a Cluster API older than 1.14; upgrade it, for instance with 'clusterctl upgrade apply'"}, nil
}

// jsonSchema is as much of a JSON Schema as says which fields there are.
type jsonSchema struct {
	Properties map[string]jsonSchema `json:"properties"`
}

// hasField reports whether a kind has a field at a path.
func hasField(group openapi.GroupVersion, kind string, path ...string) (bool, error) {
	if group == nil {
		return false, nil
	}
	text, err := group.Schema("application/json")
	if err != nil {
		return false, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	var document struct {
		Components struct {
			Schemas map[string]jsonSchema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return false, fmt.Errorf("reading the schema of %s: %w", kind, err)
	}
	for name, properties := range document.Components.Schemas {
		if strings.HasSuffix(name, "."+kind) && properties.has(path) {
			return true, nil
		}
	}
	return false, nil
}

func (s jsonSchema) has(path []string) bool {
	for _, field := range path {
		next, ok := s.Properties[field]
		if !ok {
			return false
		}
		s = next
	}
	return true
}
