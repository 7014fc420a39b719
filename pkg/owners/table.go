package owners

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// row describes a tool: how its objects are recognized, and what it does to them.
type row struct {
	tool Tool
	// kind of what makes the tool write an object.
	kind string
	// managers are its field managers; one that ends in * stands for all that begin so.
	managers []string
	// mark reads the labels and annotations that the tool gives its objects, and reports
	// whether they are there.
	mark func(object metav1.Object, owner *Owner) bool
	// markedOnly is true where the field managers alone do not count.
	markedOnly bool
	// reconciles is true where the tool writes objects again by itself.
	reconciles bool
	// personal is true where a person starts each write.
	personal bool
	// effect says what becomes of a field that another client changed.
	effect string
	// suspend says how to stop the tool; NAME and NAMESPACE stand for those of the owner.
	suspend string
	optOut  optOut
}

// ownerOf returns the tool as the owner of an object that some field managers wrote, and
// whether it is.
func (r row) ownerOf(object metav1.Object, managers map[string]bool) (Owner, bool) {
	owner := Owner{Tool: r.tool, Kind: r.kind, OptOut: r.optOut.of(object), row: r}
	for manager := range managers {
		if r.is(manager) {
			owner.Managers = append(owner.Managers, manager)
		}
	}
	slices.Sort(owner.Managers)
	marked := r.mark != nil && r.mark(object, &owner)
	return owner, marked || len(owner.Managers) > 0 && !r.markedOnly
}

func (r row) is(manager string) bool {
	return slices.ContainsFunc(r.managers, func(name string) bool {
		prefix, open := strings.CutSuffix(name, "*")
		return manager == name || open && strings.HasPrefix(manager, prefix)
	})
}

// optOut are the annotations, with their values in lower case, that tell a tool to leave
// an object alone.
type optOut map[string][]string

func (o optOut) of(object metav1.Object) string {
	for key, values := range o {
		if value, set := object.GetAnnotations()[key]; set && slices.Contains(values, strings.ToLower(value)) {
			return key + ": " + value
		}
	}
	return ""
}

// table lists the tools, those first whose word counts more. The names are those of their
// sources and documentation, as docs/tasks/gitops.md has them.
func table() []row {
	return slices.Concat(reconcilers(), applied())
}

// reconcilers are tools that write objects again by themselves.
func reconcilers() []row {
	return []row{
		{
			tool: Flux, kind: "Kustomization", managers: []string{"kustomize-controller"},
			mark:       labelled("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"),
			reconciles: true, effect: "puts it back at the next reconciliation, every spec.interval",
			suspend: "'flux suspend kustomization NAME -n NAMESPACE'",
			optOut:  optOut{"kustomize.toolkit.fluxcd.io/reconcile": {"disabled"}, "kustomize.toolkit.fluxcd.io/ssa": {"ignore", "ifnotpresent"}},
		},
		{
			tool: Flux, kind: "HelmRelease", managers: []string{"helm-controller"},
			mark:       labelled("helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"),
			reconciles: true, effect: "puts it back with the next release, and at the next reconciliation with driftDetection.mode: enabled",
			suspend: "'flux suspend helmrelease NAME -n NAMESPACE'",
			optOut:  optOut{"helm.toolkit.fluxcd.io/driftDetection": {"disabled"}},
		},
		{
			tool: ArgoCD, kind: "Application", managers: []string{"argocd-*"}, mark: markedByArgoCD,
			reconciles: true, effect: "shows OutOfSync, and puts it back within seconds with automated sync and selfHeal, else at the next sync",
			suspend: "'argocd app set NAME --sync-policy none'",
		},
		{
			tool: RancherFleet, kind: "Bundle", managers: []string{"fleetagent", "fleet-agent", "fleetcontroller"}, mark: markedByFleet,
			reconciles: true, effect: "marks it Modified, and puts it back with correctDrift.enabled, else with the next change in Git",
			suspend: "setting spec.paused of the GitRepo, and correctDrift.enabled to false",
		},
		{
			tool: Rancher, mark: markedByRancher, managers: []string{"rancher"},
			reconciles: true, effect: "puts it back from the object in Rancher that it is made from",
		},
		{
			tool: Sveltos, managers: []string{"application/apply-patch"}, mark: markedBySveltos,
			reconciles: true, effect: "puts it back with syncMode: ContinuousWithDriftDetection, else with its next change",
			suspend: "setting spec.syncMode of the profile to DryRun",
		},
		{
			tool: Topology, kind: "Cluster", managers: []string{"capi-topology"},
			reconciles: true, effect: "puts it back from spec.topology of the Cluster",
		},
	}
}

// applied are tools that write when someone calls them.
func applied() []row {
	own := []string{"clusterctl-x"}
	return []row{
		{tool: Helm, kind: "release", managers: []string{"helm", "Helm"}, mark: annotated("meta.helm.sh/release-name", "meta.helm.sh/release-namespace"), effect: "puts it back with the next 'helm upgrade'"},
		{tool: ClusterctlX, managers: own, markedOnly: true, mark: func(object metav1.Object, owner *Owner) bool {
			return len(owner.Managers) > 0 && object.GetLabels()[v1alpha1.ClusterLabel] != ""
		}},
		{tool: Kubectl, managers: []string{"kubectl", "kubectl-*", "before-first-apply"}, personal: true, mark: func(object metav1.Object, _ *Owner) bool {
			return object.GetAnnotations()["kubectl.kubernetes.io/last-applied-configuration"] != ""
		}},
		{tool: Clusterctl, managers: []string{"clusterctl"}, personal: true},
		// k9s; browsers, for the pages of Rancher and others; Lens.
		{tool: Person, managers: []string{"k9s", "Mozilla", "node-fetch", "Lens", "OpenLens"}, personal: true},
		{tool: ClusterctlX, managers: own}, // of objects that it wrote a version to
	}
}

// labelled returns a mark of two labels: the name and the namespace of what the tool
// reads.
func labelled(name, namespace string) func(metav1.Object, *Owner) bool {
	return func(object metav1.Object, owner *Owner) bool {
		return owner.named(object.GetLabels()[namespace], object.GetLabels()[name])
	}
}

func annotated(name, namespace string) func(metav1.Object, *Owner) bool {
	return func(object metav1.Object, owner *Owner) bool {
		return owner.named(object.GetAnnotations()[namespace], object.GetAnnotations()[name])
	}
}

func (o *Owner) named(namespace, name string) bool {
	o.Namespace, o.Name = namespace, name
	return name != ""
}

// markedByArgoCD reads the tracking id, APPLICATION:GROUP/KIND:NAMESPACE/NAME; with the
// other methods of tracking the application is in a label that others use too.
func markedByArgoCD(object metav1.Object, owner *Owner) bool {
	id, tracked := object.GetAnnotations()["argocd.argoproj.io/tracking-id"]
	application, _, _ := strings.Cut(id, ":")
	if !tracked && (len(owner.Managers) > 0 || object.GetAnnotations()["argocd.argoproj.io/installation-id"] != "") {
		application, tracked = object.GetLabels()["app.kubernetes.io/instance"], true
	}
	// An application of another namespace than Argo CD's.
	if namespace, name, qualified := strings.Cut(application, "_"); qualified {
		return owner.named(namespace, name)
	}
	owner.Name = application
	return tracked
}

const objectSet = "objectset.rio.cattle.io/"

// markedByFleet reads the marks of the library that Fleet and Rancher apply objects with.
func markedByFleet(object metav1.Object, owner *Owner) bool {
	from := object.GetAnnotations()
	if kind := from[objectSet+"owner-gvk"]; kind != "" && !strings.HasPrefix(kind, "fleet.cattle.io/") {
		return false // Rancher's own
	}
	owner.named(from[objectSet+"owner-namespace"], cmp.Or(from[objectSet+"owner-name"], from[objectSet+"id"]))
	return object.GetLabels()[objectSet+"hash"] != "" || from[objectSet+"id"] != ""
}

func markedByRancher(object metav1.Object, owner *Owner) bool {
	from := object.GetAnnotations()
	group, kind, made := strings.Cut(from[objectSet+"owner-gvk"], ", Kind=")
	if !made || strings.HasPrefix(group, "fleet.cattle.io/") {
		return false
	}
	owner.Kind = kind
	return owner.named(from[objectSet+"owner-namespace"], from[objectSet+"owner-name"])
}

func markedBySveltos(object metav1.Object, owner *Owner) bool {
	from := object.GetAnnotations()
	owner.Kind = from["projectsveltos.io/owner-kind"]
	_, deployed := from["deployed-by-sveltos"]
	return owner.named("", from["projectsveltos.io/owner-name"]) || deployed
}
