package validations_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/validations"
)

// valid is a spec that keeps every rule. Tests change it.
func valid(change func(*v1alpha1.Cluster)) *v1alpha1.Cluster {
	cluster := &v1alpha1.Cluster{
		Metadata: v1alpha1.Meta{Name: "prod"},
		Spec: v1alpha1.ClusterSpec{
			KubernetesVersion:             kubernetesVersion("1.34"),
			ControlPlaneConfiguration:     v1alpha1.ControlPlaneConfiguration{Count: new(3)},
			WorkerNodeGroupConfigurations: []v1alpha1.WorkerNodeGroupConfiguration{{Name: "md-0", Count: new(2)}, {Name: "md-1"}},
			DatacenterRef:                 v1alpha1.Ref{Kind: "InMemoryDatacenterConfig", Name: "prod"},
			ClusterNetwork: v1alpha1.ClusterNetwork{
				Pods:     v1alpha1.Network{CIDRBlocks: []string{"192.168.0.0/16"}},
				Services: v1alpha1.Network{CIDRBlocks: []string{"10.96.0.0/12"}},
			},
		},
	}
	change(cluster)
	return cluster
}

func kubernetesVersion(text string) v1alpha1.KubernetesVersion {
	version, err := v1alpha1.ParseKubernetesVersion(text)
	if err != nil {
		panic(err)
	}
	return version
}

// duration is nil where there is no text.
func duration(text string) *v1alpha1.Duration {
	if text == "" {
		return nil
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return &v1alpha1.Duration{Duration: parsed}
}

// printed are errors as they print.
func printed(errs field.ErrorList) []string {
	var lines []string
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	return lines
}

// specTest is a spec that breaks no rule, or the ones of the lines.
type specTest struct {
	change func(*v1alpha1.Cluster)
	want   []string
}

func testSpec(t *testing.T, tests map[string]specTest) {
	t.Helper()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, printed(validations.Spec(valid(test.change), devProviders()))); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpecNames(t *testing.T) {
	t.Parallel()
	const label = "must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit"
	name := func(name string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Metadata.Name = name }
	}
	group := func(cluster, group string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Metadata.Name = cluster
			c.Spec.WorkerNodeGroupConfigurations = []v1alpha1.WorkerNodeGroupConfiguration{{Name: group}}
		}
	}
	namespace := func(name string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Metadata.Namespace = name }
	}
	management := func(name string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ManagementCluster.Name = name }
	}
	testSpec(t, map[string]specTest{
		"valid":                    {func(*v1alpha1.Cluster) {}, nil},
		"name of 40 characters":    {name(long(40)), nil},
		"name of 41 characters":    {name(long(41)), []string{`metadata.name: Invalid value: "` + long(41) + `": must have at most 40 characters, and has 41; shorten it`}},
		"name longer than a label": {name(long(64)), []string{`metadata.name: Invalid value: "` + long(64) + `": must have at most 40 characters, and has 64; shorten it`}},
		"name of digits and dash":  {name("1-2"), nil},
		"name with a capital":      {name("Prod"), []string{`metadata.name: Invalid value: "Prod": ` + label}},
		"name with a dot":          {name("a.b"), []string{`metadata.name: Invalid value: "a.b": ` + label}},
		"name that ends in a dash": {name("a-"), []string{`metadata.name: Invalid value: "a-": ` + label}},
		"no name":                  {name(""), []string{"metadata.name: Required value: a name of lower-case letters, digits and dashes"}},

		"namespace":                     {namespace("team-a"), nil},
		"namespace of 63 characters":    {namespace(long(63)), nil},
		"namespace of 64 characters":    {namespace(long(64)), []string{`metadata.namespace: Invalid value: "` + long(64) + `": must have at most 63 characters, and has 64; shorten it`}},
		"namespace of 63, with a dot":   {namespace(long(62) + "."), []string{`metadata.namespace: Invalid value: "` + long(62) + `.": ` + label}},
		"namespace with a slash":        {namespace("a/b"), []string{`metadata.namespace: Invalid value: "a/b": ` + label}},
		"management cluster":            {management("mgmt"), nil},
		"management cluster with space": {management("my mgmt"), []string{`spec.managementCluster.name: Invalid value: "my mgmt": ` + label}},

		"group of one letter":              {group("prod", "a"), nil},
		"group without name":               {group("prod", ""), []string{"spec.workerNodeGroupConfigurations[0].name: Required value: a name of lower-case letters, digits and dashes"}},
		"group with an underscore":         {group("prod", "a_b"), []string{`spec.workerNodeGroupConfigurations[0].name: Invalid value: "a_b": ` + label}},
		"together 47 characters":           {group(long(40), long(7)), nil},
		"together 48 characters":           {group(long(40), long(8)), []string{`spec.workerNodeGroupConfigurations[0].name: Invalid value: "` + long(8) + `": the names of cluster and group together must have at most 47 characters, and have 48; shorten one of them`}},
		"group of 46 characters":           {group("a", long(46)), nil},
		"group of 49 characters":           {group("a", long(49)), []string{`spec.workerNodeGroupConfigurations[0].name: Invalid value: "` + long(49) + `": must have at most 48 characters, and has 49; shorten it`}},
		"group of too long cluster":        {group(long(41), "a"), []string{`metadata.name: Invalid value: "` + long(41) + `": must have at most 40 characters, and has 41; shorten it`}},
		"group named as the control plane": {group("prod", "control-plane"), []string{`spec.workerNodeGroupConfigurations[0].name: Invalid value: "control-plane": is the name of the control plane; use another one for the group`}},
		"groups of one name": {
			func(c *v1alpha1.Cluster) {
				c.Spec.WorkerNodeGroupConfigurations = []v1alpha1.WorkerNodeGroupConfiguration{{Name: "a"}, {Name: "b"}, {Name: "a"}, {Name: "a"}}
			},
			[]string{
				`spec.workerNodeGroupConfigurations[2].name: Duplicate value: "a": spec.workerNodeGroupConfigurations[0] has this name already; each group needs its own`,
				`spec.workerNodeGroupConfigurations[3].name: Duplicate value: "a": spec.workerNodeGroupConfigurations[0] has this name already; each group needs its own`,
			},
		},
		"groups without name": {
			func(c *v1alpha1.Cluster) {
				c.Spec.WorkerNodeGroupConfigurations = []v1alpha1.WorkerNodeGroupConfiguration{{}, {}}
			},
			[]string{
				"spec.workerNodeGroupConfigurations[0].name: Required value: a name of lower-case letters, digits and dashes",
				"spec.workerNodeGroupConfigurations[1].name: Required value: a name of lower-case letters, digits and dashes",
			},
		},
		"no groups": {func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations = nil }, nil},
	})
}

func TestSpecCounts(t *testing.T) {
	t.Parallel()
	const most = 1<<31 - 1
	controlPlane := func(count int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.ControlPlaneConfiguration.Count = &count }
	}
	group := func(count int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[1].Count = &count }
	}
	etcd := func(count int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Count: count}
		}
	}
	testSpec(t, map[string]specTest{
		"control plane of 1":        {controlPlane(1), nil},
		"control plane of 5":        {controlPlane(5), nil},
		"control plane of 0":        {controlPlane(0), []string{"spec.controlPlaneConfiguration.count: Invalid value: 0: must be 1 or more"}},
		"control plane of -1":       {controlPlane(-1), []string{"spec.controlPlaneConfiguration.count: Invalid value: -1: must be 1 or more"}},
		"control plane of 2":        {controlPlane(2), []string{"spec.controlPlaneConfiguration.count: Invalid value: 2: must be odd: etcd has a member on each control plane machine, and an even number survives no more failures than one less; use 1 or 3"}},
		"control plane of 7":        {controlPlane(7), nil},
		"control plane of 9":        {controlPlane(9), []string{"spec.controlPlaneConfiguration.count: Invalid value: 9: must be at most 7: etcd has a member on each control plane machine, and each write waits for a majority of them; use 3, 5 or 7, or an external etcd"}},
		"control plane of too many": {controlPlane(most + 2), []string{"spec.controlPlaneConfiguration.count: Invalid value: 2147483649: must be 2147483647 or less"}},
		"group of 0":                {group(0), nil},
		"group of 2":                {group(2), nil},
		"group of -1":               {group(-1), []string{"spec.workerNodeGroupConfigurations[1].count: Invalid value: -1: must be 0 or more"}},
		"group of the most":         {group(most), nil},
		"group of too many":         {group(most + 1), []string{"spec.workerNodeGroupConfigurations[1].count: Invalid value: 2147483648: must be 2147483647 or less"}},
		"etcd of 1":                 {etcd(1), nil},
		"etcd of 0":                 {etcd(0), []string{"spec.externalEtcdConfiguration.count: Required value: an odd number, such as 3; or give endpoints"}},
		"etcd of 4":                 {etcd(4), []string{"spec.externalEtcdConfiguration.count: Invalid value: 4: must be odd: etcd decides by majority, and an even number survives no more failures than one less; use 3 or 5"}},
	})
}

func TestSpecDatacenter(t *testing.T) {
	t.Parallel()
	ref := func(kind, name string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.DatacenterRef = v1alpha1.Ref{Kind: kind, Name: name} }
	}
	testSpec(t, map[string]specTest{
		"docker":           {ref("DockerDatacenterConfig", "other"), nil},
		"another provider": {ref("VSphereDatacenterConfig", "prod"), []string{`spec.datacenterRef.kind: Unsupported value: "VSphereDatacenterConfig": supported values: "DockerDatacenterConfig", "InMemoryDatacenterConfig"`}},
		"no kind":          {ref("", "prod"), []string{"spec.datacenterRef.kind: Required value: the provider: DockerDatacenterConfig or InMemoryDatacenterConfig"}},
		"no name":          {ref("InMemoryDatacenterConfig", ""), []string{"spec.datacenterRef.name: Required value: the name of the provider document; if there is none, any name"}},
	})
}

// TestSpecReportsAll breaks one rule of each kind.
func TestSpecReportsAll(t *testing.T) {
	t.Parallel()
	testSpec(t, map[string]specTest{"nothing given": {
		func(c *v1alpha1.Cluster) {
			*c = v1alpha1.Cluster{Spec: v1alpha1.ClusterSpec{
				ExternalEtcdConfiguration:     &v1alpha1.ExternalEtcdConfiguration{},
				WorkerNodeGroupConfigurations: []v1alpha1.WorkerNodeGroupConfiguration{{}},
			}}
		},
		[]string{
			"metadata.name: Required value: a name of lower-case letters, digits and dashes",
			"spec.workerNodeGroupConfigurations[0].name: Required value: a name of lower-case letters, digits and dashes",
			"spec.datacenterRef.kind: Required value: the provider: DockerDatacenterConfig or InMemoryDatacenterConfig",
			"spec.datacenterRef.name: Required value: the name of the provider document; if there is none, any name",
			"spec.externalEtcdConfiguration.count: Required value: an odd number, such as 3; or give endpoints",
			"spec.clusterNetwork.pods.cidrBlocks: Required value: one network, such as 192.168.0.0/16",
			"spec.clusterNetwork.services.cidrBlocks: Required value: one network, such as 10.96.0.0/12",
		},
	}})
}

// devProviders are those that tests of the common parts of a spec use; what there is
// besides them changes nothing.
func devProviders() providers.Set {
	all := providers.BuiltIn()
	return providers.Set{"docker": all["docker"], "inmemory": all["inmemory"]}
}
