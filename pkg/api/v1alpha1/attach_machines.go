package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
)

// attachMachines keeps the documents that the parts of the cluster name by
// machineGroupRef. Where the provider has such documents, each part needs one.
func (d *decoder) attachMachines() {
	datacenter, known := d.infrastructure[d.config.Cluster.Spec.DatacenterRef.Kind]
	if _, other := d.otherProvider(); other {
		return
	}
	kinds := d.infrastructure.machinesOf(datacenter.Provider)
	d.eachMachineRef(func(path *field.Path, ref *Ref) {
		switch {
		case d.clusterUnread(path.String()), ref == nil && len(kinds) == 0:
		case ref == nil:
			d.misses(ClusterKind, field.Required(path, fmt.Sprintf("the kind and name of the %s that describes the machines", strings.Join(kinds, " or "))))
		case known && len(kinds) == 0:
			d.misses(ClusterKind, field.Forbidden(path, fmt.Sprintf("with a datacenterRef of kind %s no document describes machines; remove it", d.config.Cluster.Spec.DatacenterRef.Kind)))
		case !known: // what datacenterRef should be is said elsewhere
		case !slices.Contains(kinds, ref.Kind):
			d.misses(ClusterKind, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
		default:
			d.attachMachine(path, *ref)
		}
	})
	for _, ref := range slices.SortedFunc(maps.Keys(d.machines), compareRefs) {
		if d.config.Machines[ref] == nil {
			unused := strictyaml.Warning{Path: "metadata.name", Text: fmt.Sprintf("no machineGroupRef of the cluster names this %s: it has no effect; add the reference, or remove the document", ref.Kind)}
			d.config.Warnings = append(d.config.Warnings, d.config.LocateWarnings(d.machines[ref].document, []strictyaml.Warning{unused})...)
		}
	}
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// attachMachine keeps the document of a reference at a path.
func (d *decoder) attachMachine(path *field.Path, ref Ref) {
	document, given := d.machines[ref]
	switch {
	case ref.Name == "":
		d.misses(ClusterKind, field.Required(path.Child("name"), "the name of a document of kind "+ref.Kind))
	case given:
		d.config.Machines[ref] = document
		d.sameNamespace(document.document, document.Metadata)
	case !d.unread:
		d.misses(ClusterKind, missingDocument(path, ref))
	}
}

// eachMachineRef visits the references of the control plane and of the groups.
func (d *decoder) eachMachineRef(visit func(*field.Path, *Ref)) {
	spec := d.config.Cluster.Spec
	visit(field.NewPath("spec", "controlPlaneConfiguration", "machineGroupRef"), spec.ControlPlaneConfiguration.MachineGroupRef)
	for i, group := range spec.WorkerNodeGroupConfigurations {
		visit(field.NewPath("spec", "workerNodeGroupConfigurations").Index(i).Child("machineGroupRef"), group.MachineGroupRef)
	}
}
