// Package validations holds the rules that a cluster spec must keep. It is
// pure: it looks at values and returns errors with the paths of their fields.
package validations

import (
	"fmt"
	"slices"
	"strings"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
)

// Spec returns everything that is wrong with a spec by itself, where there are these
// providers.
func Spec(cluster *v1alpha1.Cluster, known providers.Set) field.ErrorList {
	path := field.NewPath("spec")
	return slices.Concat(
		metadata(cluster.Metadata, longestCluster(cluster)),
		controlPlane(cluster, known, path.Child("controlPlaneConfiguration")),
		groups(cluster, path.Child("workerNodeGroupConfigurations")),
		clusterClass(cluster, path),
		datacenter(cluster, known, path.Child("datacenterRef")),
		managementCluster(cluster.Spec.ManagementCluster, path.Child("managementCluster")),
		externalEtcd(cluster.Spec.ExternalEtcdConfiguration, path.Child("externalEtcdConfiguration")),
		networks(cluster, known.Of(cluster), path.Child("clusterNetwork")),
		identityProviders(cluster.Spec.IdentityProviderRefs, path.Child("identityProviderRefs")),
		podIAM(cluster.Spec.PodIAMConfig, path.Child("podIamConfig")),
		healthCheck(cluster.Spec.MachineHealthCheck, nil, path.Child("machineHealthCheck")),
		encryption(cluster.Spec.EtcdEncryption, path.Child("etcdEncryption")),
		proxy(cluster.Spec.ProxyConfiguration, path.Child("proxyConfiguration")),
		mirror(cluster.Spec.RegistryMirrorConfiguration, path.Child("registryMirrorConfiguration")),
		addOns(cluster.Metadata.Name, cluster.Spec.AddOns, path.Child("addOns")),
		upgradePolicy(cluster.Spec.UpgradePolicy, path.Child("upgradePolicy")),
	)
}

func metadata(meta v1alpha1.Meta, longest int) field.ErrorList {
	path := field.NewPath("metadata")
	var errs field.ErrorList
	if meta.Namespace != "" {
		errs = append(errs, dnsLabel(meta.Namespace, utilvalidation.DNS1123LabelMaxLength, path.Child("namespace"))...)
	}
	return append(errs, dnsLabel(meta.Name, longest, path.Child("name"))...)
}

func datacenter(cluster *v1alpha1.Cluster, known providers.Set, path *field.Path) field.ErrorList {
	spec := cluster.Spec
	ref := spec.DatacenterRef
	if spec.ClusterClass != nil && ref == (v1alpha1.Ref{}) {
		return nil // the class says where machines are made
	}
	var errs field.ErrorList
	kinds := known.Datacenters()
	switch {
	case slices.Contains(kinds, ref.Kind):
	case ref.Kind == "":
		errs = append(errs, field.Required(path.Child("kind"), "the provider: "+strings.Join(kinds, " or ")))
	default:
		errs = append(errs, field.NotSupported(path.Child("kind"), ref.Kind, kinds))
	}
	if machine := known.Of(cluster).Spec.Machine.Kind; spec.ClusterClass != nil && machine != "" {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("a ClusterClass has what documents of kind %s say, and 'clusterctl-x generate clusterclass -f FILE' makes one of them; remove this and the documents, or spec.clusterClass", machine)))
	}
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "the name of the provider document; if there is none, any name"))
	}
	return errs
}

func managementCluster(config v1alpha1.ManagementCluster, path *field.Path) field.ErrorList {
	if config.Name == "" {
		return nil
	}
	return dnsLabel(config.Name, utilvalidation.DNS1123LabelMaxLength, path.Child("name"))
}
