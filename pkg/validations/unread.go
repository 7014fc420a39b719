package validations

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

// wellFounded leaves out errors of the Cluster document that may follow from a
// mistake elsewhere: a rule about two fields says nothing where one of them is
// in the file and could not be read.
func wellFounded(config *v1alpha1.Config, errs field.ErrorList) field.ErrorList {
	if len(config.Problems) == 0 {
		return errs
	}
	all := premises()
	return slices.DeleteFunc(errs, func(err *field.Error) bool {
		if err.Origin == ownClassOnly && config.Unread(v1alpha1.ClusterKind, "spec.datacenterRef.kind") {
			return true
		}
		return slices.ContainsFunc(all, func(p premise) bool {
			match := p.of.FindStringSubmatchIndex(err.Field)
			return match != nil && config.Unread(v1alpha1.ClusterKind, string(p.of.ExpandString(nil, p.on, err.Field, match)))
		})
	})
}

// premise is a field that rules about another one look at as well.
type premise struct {
	of *regexp.Regexp // the path of an error
	on string         // what it depends on; may have parts of the path
}

func premises() []premise {
	const group = `^(spec\.workerNodeGroupConfigurations\[\d+\])`
	return []premise{
		{regexp.MustCompile(`^spec\.controlPlaneConfiguration\.upgradeRolloutStrategy\.rollingUpdate\.maxSurge$`), "spec.controlPlaneConfiguration.count"},
		{regexp.MustCompile(`^spec\.controlPlaneConfiguration\.taints\[\d+\]\.effect$`), "spec.workerNodeGroupConfigurations"},
		{regexp.MustCompile(`^spec\.controlPlaneConfiguration\.count$`), "spec.externalEtcdConfiguration.endpoints"},
		{regexp.MustCompile(`^spec\.externalEtcdConfiguration\.count$`), "spec.externalEtcdConfiguration.endpoints"},
		{regexp.MustCompile(`^spec\.clusterNetwork\.cniConfig$`), "spec.clusterNetwork.cniConfig.cilium"},
		{regexp.MustCompile(`^spec\.clusterNetwork\.cniConfig$`), "spec.clusterNetwork.cniConfig.kindnetd"},
		{regexp.MustCompile(`^spec\.(controlPlaneConfiguration|workerNodeGroupConfigurations\[\d+\])\.(class|variables|deferUpgrade|holdUpgradeSequence)$`), "spec.clusterClass"},
		{regexp.MustCompile(`^spec\.datacenterRef\.(kind|name)$`), "spec.clusterClass"},
		{regexp.MustCompile(group + `\.(count|autoscalingConfiguration\.maxCount)$`), "$1.autoscalingConfiguration.minCount"},
		{regexp.MustCompile(group + `\.count$`), "$1.autoscalingConfiguration.maxCount"},
		{regexp.MustCompile(group + `\.upgradeRolloutStrategy\.rollingUpdate\.maxUnavailable$`), "$1.upgradeRolloutStrategy.rollingUpdate.maxSurge"},
	}
}
