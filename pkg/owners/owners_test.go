package owners_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/owners"
)

// said is what an owner says of itself.
type said struct {
	Owner, Effect, Suspend, OptOut string
	Managers                       []string
	Reconciles, Personal           bool
}

func of(object metav1.Object) []said {
	var all []said
	for _, o := range owners.Of(object) {
		all = append(all, said{o.String(), o.Effect(), o.Suspend(), o.OptOut, o.Managers, o.Reconciles(), o.Personal()})
	}
	return all
}

// object has labels, annotations and field managers, each by its operation.
func object(labels, annotations map[string]string, managers ...metav1.ManagedFieldsEntry) metav1.Object {
	return &metav1.ObjectMeta{Labels: labels, Annotations: annotations, ManagedFields: managers}
}

func applies(manager string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply}
}

func updates(manager string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate}
}

const (
	kustomization = "puts it back at the next reconciliation, every spec.interval"
	argo          = "shows OutOfSync, and puts it back within seconds with automated sync and selfHeal, else at the next sync"
	fleet         = "marks it Modified, and puts it back with correctDrift.enabled, else with the next change in Git"
	fleetPause    = "setting spec.paused of the GitRepo, and correctDrift.enabled to false"
)

func TestOf(t *testing.T) {
	t.Parallel()
	status := updates("kubectl-edit")
	status.Subresource = "status"
	for name, c := range map[string]struct {
		object metav1.Object
		want   []said
	}{
		"nobody":      {object(nil, nil), nil},
		"controllers": {object(nil, nil, updates("manager"), applies("capi-machinedeployment"), updates("cluster-api-core"), updates("kube-controller-manager"), status), nil},
		"Flux, a Kustomization": {
			object(map[string]string{"kustomize.toolkit.fluxcd.io/name": "clusters", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, nil, applies("kustomize-controller"), updates("manager")),
			[]said{{"Flux Kustomization flux-system/clusters", kustomization, "'flux suspend kustomization clusters -n flux-system'", "", []string{"kustomize-controller"}, true, false}},
		},
		"Flux, told to leave the object alone": {
			object(map[string]string{"kustomize.toolkit.fluxcd.io/name": "clusters", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}, map[string]string{"kustomize.toolkit.fluxcd.io/reconcile": "Disabled"}),
			[]said{{"Flux Kustomization flux-system/clusters", "", "'flux suspend kustomization clusters -n flux-system'", "kustomize.toolkit.fluxcd.io/reconcile: Disabled", nil, false, false}},
		},
		"Flux, by its field manager alone": {
			object(nil, nil, applies("kustomize-controller")),
			[]said{{"Flux", kustomization, "'flux suspend kustomization NAME -n NAMESPACE'", "", []string{"kustomize-controller"}, true, false}},
		},
		"Flux, a HelmRelease": {
			object(map[string]string{"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "apps"}, map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "apps"}, applies("helm-controller")),
			[]said{{"Flux HelmRelease apps/web", "puts it back with the next release, and at the next reconciliation with driftDetection.mode: enabled", "'flux suspend helmrelease web -n apps'", "", []string{"helm-controller"}, true, false}},
		},
		"Argo CD, a tracking id": {
			object(nil, map[string]string{"argocd.argoproj.io/tracking-id": "fleet:cluster.x-k8s.io/Cluster:default/prod"}, updates("argocd-controller")),
			[]said{{"Argo CD Application fleet", argo, "'argocd app set fleet --sync-policy none'", "", []string{"argocd-controller"}, true, false}},
		},
		"Argo CD, an Application of another namespace": {
			object(nil, map[string]string{"argocd.argoproj.io/tracking-id": "team_fleet:cluster.x-k8s.io/Cluster:default/prod"}),
			[]said{{"Argo CD Application team/fleet", argo, "'argocd app set fleet --sync-policy none'", "", nil, true, false}},
		},
		"Argo CD, a label": {
			object(map[string]string{"app.kubernetes.io/instance": "fleet"}, nil, applies("argocd-controller")),
			[]said{{"Argo CD Application fleet", argo, "'argocd app set fleet --sync-policy none'", "", []string{"argocd-controller"}, true, false}},
		},
		"a label that others use too": {object(map[string]string{"app.kubernetes.io/instance": "web"}, nil), nil},
		"Rancher Fleet": {
			object(map[string]string{"objectset.rio.cattle.io/hash": "1f"}, map[string]string{"objectset.rio.cattle.io/id": "default-clusters", "meta.helm.sh/release-name": "clusters"}, applies("fleetagent")),
			[]said{{"Rancher Fleet Bundle default-clusters", fleet, fleetPause, "", []string{"fleetagent"}, true, false}},
		},
		"Rancher, an object of its own": {
			object(map[string]string{"objectset.rio.cattle.io/hash": "1f"}, map[string]string{
				"objectset.rio.cattle.io/id": "rke-cluster", "objectset.rio.cattle.io/owner-gvk": "provisioning.cattle.io/v1, Kind=Cluster",
				"objectset.rio.cattle.io/owner-name": "prod", "objectset.rio.cattle.io/owner-namespace": "fleet-default",
			}, updates("rancher")),
			[]said{{"Rancher Cluster fleet-default/prod", "puts it back from the object in Rancher that it is made from", "", "", []string{"rancher"}, true, false}},
		},
		"Sveltos": {
			object(nil, map[string]string{"projectsveltos.io/owner-kind": "ClusterProfile", "projectsveltos.io/owner-name": "prod"}, applies("application/apply-patch")),
			[]said{{"Sveltos ClusterProfile prod", "puts it back with syncMode: ContinuousWithDriftDetection, else with its next change", "setting spec.syncMode of the profile to DryRun", "", []string{"application/apply-patch"}, true, false}},
		},
		"Helm": {
			object(map[string]string{"app.kubernetes.io/managed-by": "Helm"}, map[string]string{"meta.helm.sh/release-name": "prod", "meta.helm.sh/release-namespace": "default"}, updates("helm")),
			[]said{{"Helm release default/prod", "", "", "", []string{"helm"}, false, false}},
		},
		"a topology": {
			object(nil, nil, applies("capi-topology")),
			[]said{{"Cluster API's topology controller", "puts it back from spec.topology of the Cluster", "", "", []string{"capi-topology"}, true, false}},
		},
		"people": {
			object(nil, map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "{}"}, updates("kubectl-client-side-apply"), updates("kubectl-edit"), updates("k9s"), updates("clusterctl")),
			[]said{{"kubectl", "", "", "", []string{"kubectl-client-side-apply", "kubectl-edit"}, false, true}, {"clusterctl", "", "", "", []string{"clusterctl"}, false, true}, {"an editor", "", "", "", []string{"k9s"}, false, true}},
		},
		"clusterctl-x, and a person since": {
			object(map[string]string{v1alpha1.ClusterLabel: "prod"}, nil, applies("clusterctl-x"), updates("kubectl-edit")),
			[]said{{"clusterctl-x", "", "", "", []string{"clusterctl-x"}, false, false}, {"kubectl", "", "", "", []string{"kubectl-edit"}, false, true}},
		},
		"a person, and a version by clusterctl-x": {
			object(nil, nil, applies("clusterctl-x"), applies("kubectl")),
			[]said{{"kubectl", "", "", "", []string{"kubectl"}, false, true}, {"clusterctl-x", "", "", "", []string{"clusterctl-x"}, false, false}},
		},
		"unknown ones": {
			object(nil, nil, updates("terraform"), applies("portal")),
			[]said{{"portal", "", "", "", []string{"portal"}, false, false}, {"terraform", "", "", "", []string{"terraform"}, false, false}},
		},
		"half and half": {
			object(map[string]string{"kustomize.toolkit.fluxcd.io/name": "a", "kustomize.toolkit.fluxcd.io/namespace": "b"}, map[string]string{"argocd.argoproj.io/tracking-id": "fleet:x"}, applies("kustomize-controller"), updates("argocd-controller"), updates("kubectl-patch")),
			[]said{
				{"Flux Kustomization b/a", kustomization, "'flux suspend kustomization a -n b'", "", []string{"kustomize-controller"}, true, false},
				{"Argo CD Application fleet", argo, "'argocd app set fleet --sync-policy none'", "", []string{"argocd-controller"}, true, false},
				{"kubectl", "", "", "", []string{"kubectl-patch"}, false, true},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, of(c.object)); diff != "" {
				t.Errorf("owners (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOfManager(t *testing.T) {
	t.Parallel()
	from := object(map[string]string{"kustomize.toolkit.fluxcd.io/name": "a", "kustomize.toolkit.fluxcd.io/namespace": "b"}, nil, applies("kustomize-controller"))
	for manager, want := range map[string]string{"kustomize-controller": "Flux Kustomization b/a", "argocd-controller": "Argo CD", "kubectl-edit": "kubectl", "portal": "portal"} {
		if got := owners.OfManager(from, manager).String(); got != want {
			t.Errorf("%s is of %q, want %q", manager, got, want)
		}
	}
}
