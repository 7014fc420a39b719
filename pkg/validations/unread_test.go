package validations_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/strictyaml"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// TestRulesAboutTwoFields: where one of them could not be read, that is all
// that is told. Each case has a second spec, in which it can be read.
func TestRulesAboutTwoFields(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		unread string
		read   string
		field  string // that the rule is told of where both are read
	}{
		{
			"removing a machine first, of an unread count",
			"  controlPlaneConfiguration: {count: '3', upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 0}}}\n",
			"  controlPlaneConfiguration: {count: 1, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 0}}}\n",
			"spec.controlPlaneConfiguration.upgradeRolloutStrategy.rollingUpdate.maxSurge",
		},
		{
			"taints of the only nodes, with unread groups",
			"  controlPlaneConfiguration: {taints: [{key: a, effect: NoSchedule}]}\n  workerNodeGroupConfiguration: [{name: a}]\n",
			"  controlPlaneConfiguration: {taints: [{key: a, effect: NoSchedule}]}\n",
			"spec.controlPlaneConfiguration.taints[0].effect",
		},
		{
			"an even control plane, with unread endpoints",
			"  controlPlaneConfiguration: {count: 2}\n  externalEtcdConfiguration: {endpoint: ['https://a:1']}\n",
			"  controlPlaneConfiguration: {count: 2}\n  externalEtcdConfiguration: {count: 3}\n",
			"spec.controlPlaneConfiguration.count",
		},
		{
			"no etcd machines, with unread endpoints",
			"  externalEtcdConfiguration: {endpoints: 'https://a:1'}\n",
			"  externalEtcdConfiguration: {}\n",
			"spec.externalEtcdConfiguration.count",
		},
		{
			"bounds of which the lower is unread",
			groups("{name: a, count: 1, autoscalingConfiguration: {minCount: '2', maxCount: -1}}"),
			groups("{name: a, autoscalingConfiguration: {minCount: 2, maxCount: 1}}"),
			"spec.workerNodeGroupConfigurations[0].autoscalingConfiguration.maxCount",
		},
		{
			"count between bounds of which the lower is unread",
			groups("{name: a, count: 6, autoscalingConfiguration: {minCount: '2', maxCount: 5}}"),
			groups("{name: a, count: 6, autoscalingConfiguration: {minCount: 2, maxCount: 5}}"),
			"spec.workerNodeGroupConfigurations[0].count",
		},
		{
			"count between bounds of which the upper is unread",
			groups("{name: a, count: 6, autoscalingConfiguration: {minCount: 7, maxCount: '9'}}"),
			groups("{name: a, count: 6, autoscalingConfiguration: {minCount: 7, maxCount: 9}}"),
			"spec.workerNodeGroupConfigurations[0].count",
		},
		{
			"nothing to replace, with unread surge",
			groups("{name: a, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: '0', maxUnavailable: -1}}}"),
			groups("{name: a, upgradeRolloutStrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}"),
			"spec.workerNodeGroupConfigurations[0].upgradeRolloutStrategy.rollingUpdate.maxUnavailable",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if fields := fieldsOf(t, file+test.read); !strings.Contains(strings.Join(fields, " "), test.field) {
				t.Errorf("both are read, and there are errors about %s only", fields)
			}
			if fields := fieldsOf(t, file+test.unread); len(fields) != 1 || fields[0] == test.field {
				t.Errorf("one is not read, and there are errors about %s", fields)
			}
		})
	}
	for name, plugin := range map[string]string{"cilium": "cillium: {}", "kindnetd": "kindnet: {}"} {
		text := strings.Replace(file, "    pods:", "    cniConfig: {"+plugin+"}\n    pods:", 1)
		if diff := cmp.Diff([]string{"spec.clusterNetwork.cniConfig." + strings.TrimSuffix(plugin, ": {}")}, fieldsOf(t, text)); diff != "" {
			t.Errorf("%s misspelt: errors about (-want +got):\n%s", name, diff)
		}
	}
}

// fieldsOf are the paths of what is wrong with a spec.
func fieldsOf(t *testing.T, text string) []string {
	t.Helper()
	_, err := validations.Create(decode(t, text), devProviders(), bundles(), v1alpha1.ClusterVersions{})
	var fields []string
	if problems, ok := err.(strictyaml.Problems); ok { //nolint:errorlint // is documented to be of this type
		for _, problem := range problems {
			fields = append(fields, problem.Err.Field)
		}
	}
	return fields
}

// TestRulesAboutAClass: they look at two fields as well, of which one that is
// misspelt is not also told as missing.
func TestRulesAboutAClass(t *testing.T) {
	t.Parallel()
	const (
		none     = "  datacenterRef:\n    kind: InMemoryDatacenterConfig\n    name: prod\n"
		ofAClass = "  controlPlaneConfiguration: {variables: {a: 1}}\n  workerNodeGroupConfigurations: [{name: a, class: b, variables: {c: 1}, deferUpgrade: true, holdUpgradeSequence: true}]\n"
		ofOurs   = "  clusterClass: {name: a}\n  podIamConfig: {serviceAccountIssuer: 'https://issuer.example.org'}\n  controlPlaneConfiguration: {taints: []}\n"
		first    = "spec.workerNodeGroupConfigurations[0]."
	)
	needed := []string{"spec.podIamConfig", "spec.controlPlaneConfiguration.taints"}
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"fields of a class", file + "  clusterClass: {name: a}\n" + ofAClass, nil},
		{"fields of a class, without one", file + ofAClass, []string{"spec.controlPlaneConfiguration.variables", first + "class", first + "deferUpgrade", first + "holdUpgradeSequence", first + "variables"}},
		{"fields of a class that is misspelt", file + "  clusterclass: {name: a}\n" + ofAClass, []string{"spec.clusterclass"}},
		{"fields of a class that is no mapping", file + "  clusterClass: inmemory\n" + ofAClass, []string{"spec.clusterClass"}},
		{"no datacenter", strings.Replace(file, none, "", 1), []string{"spec.datacenterRef.kind", "spec.datacenterRef.name"}},
		{"no datacenter, and a class that is misspelt", strings.Replace(file, none, "  clusterClas: {name: a}\n", 1), []string{"spec.clusterClas"}},
		{"fields of our classes", file + ofOurs, nil},
		{"fields of our classes, without a datacenter", strings.Replace(file, none, "", 1) + ofOurs, needed},
		{"fields of our classes, with a datacenter that is misspelt", strings.Replace(file, "datacenterRef", "datacentreRef", 1) + ofOurs, []string{"spec.datacentreRef"}},
		{"fields of our classes, with a datacenter that is text", strings.Replace(file, none, "  datacenterRef: docker\n", 1) + ofOurs, []string{"spec.datacenterRef"}},
		{"fields of our classes, with misspelt fields of a datacenter", strings.Replace(file, none, "  datacenterRef: {knd: Docker, nam: a}\n", 1) + ofOurs, []string{"spec.datacenterRef.knd", "spec.datacenterRef.nam"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, fieldsOf(t, test.text)); diff != "" {
				t.Errorf("errors about (-want +got):\n%s", diff)
			}
		})
	}
}
