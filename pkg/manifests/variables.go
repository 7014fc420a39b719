package manifests

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Names of the variables of the classes of clusterctl-x. config/classes defines
// them.
const (
	variableFiles                = "files"
	variableCommands             = "preKubeadmCommands"
	variableKubeletArgs          = "kubeletExtraArgs"
	variableTaints               = "taints"
	variablePatches              = "kubeadmPatchesDirectory"
	variableAPIServer            = "apiServer"
	variableControllerManager    = "controllerManager"
	variableExternalEtcd         = "externalEtcd"
	variableAdvertiseAddress     = "advertiseAddress"
	variableControlPlaneMaxSurge = "controlPlaneMaxSurge"
)

// ofSpecAlone renders what the spec says about machines, whatever their version.
func (r renderer) ofSpecAlone() (renderer, versionsbundle.Release) {
	r.Provider, r.defaults = r.Provider.WithoutNode(), programs{}
	return r, versionsbundle.Release{Version: r.Versions.ControlPlane}
}

// ownClass reports whether the class is a user's own, whose variables are unknown here.
func (r renderer) ownClass() bool { return !r.Provider.Known() }

// controlPlaneVariables returns the control plane's fields as variables of a class of
// clusterctl-x.
func (r renderer) controlPlaneVariables() (map[string]any, error) {
	if r.ownClass() {
		return nil, nil
	}
	alone, release := r.ofSpecAlone()
	kubeadm, err := alone.controlPlaneKubeadm(release)
	if err != nil {
		return nil, err
	}
	variables := machineVariables(kubeadm)
	if r.Config.Cluster.Spec.ControlPlaneConfiguration.Taints == nil && r.givenToControlPlane(variableTaints) {
		delete(variables, variableTaints) // that there are none is a default only
	}
	set := func(name string, given bool, value any) {
		if given {
			variables[name] = value
		}
	}
	cluster := kubeadm.ClusterConfiguration
	server := cluster.APIServer
	set(variableAPIServer, len(server.CertSANs)+len(server.ExtraArgs)+len(server.ExtraVolumes) > 0, server)
	set(variableControllerManager, len(cluster.ControllerManager.ExtraArgs) > 0, cluster.ControllerManager)
	set(variableExternalEtcd, len(cluster.Etcd.External.Endpoints) > 0, cluster.Etcd.External)
	address := kubeadm.InitConfiguration.LocalAPIEndpoint.AdvertiseAddress
	set(variableAdvertiseAddress, address != "", address)
	if strategy := controlPlaneStrategy(r.Config.Cluster.Spec.ControlPlaneConfiguration.UpgradeRolloutStrategy); strategy != nil {
		set(variableControlPlaneMaxSurge, strategy.RollingUpdate.MaxSurge != nil, strategy.RollingUpdate.MaxSurge)
	}
	return variables, nil
}

// givenToControlPlane reports whether the user gives a variable, for the cluster or
// for the control plane.
func (r renderer) givenToControlPlane(variable string) bool {
	spec := r.Config.Cluster.Spec
	_, ofCluster := spec.ClusterClass.Variables[variable]
	_, own := spec.ControlPlaneConfiguration.Variables[variable]
	return ofCluster || own
}

// groupVariables are the same of a worker node group.
func (r renderer) groupVariables(group v1alpha1.WorkerNodeGroupConfiguration) (map[string]any, error) {
	if r.ownClass() {
		return nil, nil
	}
	alone, release := r.ofSpecAlone()
	kubeadm, err := alone.groupKubeadm(group, release)
	return machineVariables(kubeadm), err
}

func machineVariables(kubeadm bootstrapv1.KubeadmConfigSpec) map[string]any {
	variables := map[string]any{}
	node := kubeadm.JoinConfiguration.NodeRegistration
	if len(kubeadm.Files) > 0 {
		variables[variableFiles] = kubeadm.Files
	}
	if len(kubeadm.PreKubeadmCommands) > 0 {
		variables[variableCommands] = kubeadm.PreKubeadmCommands
	}
	if len(node.KubeletExtraArgs) > 0 {
		variables[variableKubeletArgs] = node.KubeletExtraArgs
	}
	if node.Taints != nil {
		variables[variableTaints] = node.Taints
	}
	if directory := kubeadm.JoinConfiguration.Patches.Directory; directory != "" {
		variables[variablePatches] = directory
	}
	return variables
}

// variables are values of variables, sorted by name: those that fields of the
// spec mean, and those that the user gives at a path. One that is both is an
// error, of type strictyaml.Problems.
func (r renderer) variables(own, given map[string]any, path *field.Path) ([]clusterv1.ClusterVariable, error) {
	var twice field.ErrorList
	for name := range own {
		if _, both := given[name]; both {
			twice = append(twice, field.Forbidden(path.Child(name), "other fields of the spec, which mean this variable of the class, are set too; remove it, or say it there"))
		}
	}
	if len(twice) > 0 {
		return nil, r.Config.Locate(v1alpha1.ClusterKind, twice).OrNil()
	}
	var variables []clusterv1.ClusterVariable
	for _, values := range []map[string]any{own, given} {
		for name, value := range values {
			data, err := json.Marshal(value)
			if err != nil {
				return nil, fmt.Errorf("writing the variable %s: %w", name, err)
			}
			variables = append(variables, clusterv1.ClusterVariable{Name: name, Value: apiextensionsv1.JSON{Raw: data}})
		}
	}
	slices.SortFunc(variables, func(a, b clusterv1.ClusterVariable) int { return strings.Compare(a.Name, b.Name) })
	return variables, nil
}
