package validations_test

import (
	"testing"

	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
)

func TestSpecAutoscaling(t *testing.T) {
	t.Parallel()
	const (
		most = 1<<31 - 1
		path = "spec.workerNodeGroupConfigurations[1]."
	)
	bounds := func(least, most int, count ...int) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			group := &c.Spec.WorkerNodeGroupConfigurations[1]
			group.AutoscalingConfiguration = &v1alpha1.AutoscalingConfiguration{MinCount: least, MaxCount: most}
			for _, given := range count {
				group.Count = &given
			}
		}
	}
	testSpec(t, map[string]specTest{
		"from 0 to 1":          {bounds(0, 1), nil},
		"from 3 to 3":          {bounds(3, 3), nil},
		"to the most":          {bounds(most, most), nil},
		"from -1":              {bounds(-1, 1), []string{path + "autoscalingConfiguration.minCount: Invalid value: -1: must be 0 or more"}},
		"to 0":                 {bounds(0, 0), []string{path + "autoscalingConfiguration.maxCount: Required value: the largest number of machines, 1 or more"}},
		"from 3 to 2":          {bounds(3, 2), []string{path + "autoscalingConfiguration.maxCount: Invalid value: 2: must be minCount (3) or more"}},
		"count below":          {bounds(2, 4, 1), []string{path + "count: Invalid value: 1: must be from minCount (2) to maxCount (4); better remove it: the autoscaler decides"}},
		"least count":          {bounds(2, 4, 2), nil},
		"greatest count":       {bounds(2, 4, 4), nil},
		"count above":          {bounds(2, 4, 5), []string{path + "count: Invalid value: 5: must be from minCount (2) to maxCount (4); better remove it: the autoscaler decides"}},
		"count of no bounds":   {bounds(4, 2, 3), []string{path + "autoscalingConfiguration.maxCount: Invalid value: 2: must be minCount (4) or more"}},
		"from and to too many": {bounds(most+1, most+2, 1), []string{path + "autoscalingConfiguration.minCount: Invalid value: 2147483648: must be 2147483647 or less", path + "autoscalingConfiguration.maxCount: Invalid value: 2147483649: must be 2147483647 or less"}},
	})
}

func TestSpecFailureDomains(t *testing.T) {
	t.Parallel()
	const path = "spec.workerNodeGroupConfigurations[0].failureDomains"
	domains := func(names ...string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.WorkerNodeGroupConfigurations[0].FailureDomains = names }
	}
	testSpec(t, map[string]specTest{
		"one":            {domains("a"), nil},
		"256 characters": {domains(long(256)), nil},
		"257 characters": {domains(long(257)), []string{path + `[0]: Invalid value: "` + long(257) + `": must be the name of a failure domain, of 1 to 256 characters`}},
		"without name":   {domains(""), []string{path + `[0]: Invalid value: "": must be the name of a failure domain, of 1 to 256 characters`}},
		"two":            {domains("a", "b"), []string{path + ": Invalid value: has 2 entries and must have one; make a group for each failure domain"}},
	})
}

func TestSpecMachineDeletion(t *testing.T) {
	t.Parallel()
	const most = "596523h14m7s"
	controlPlane := func(timeout string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ControlPlaneConfiguration.MachineDeletion.NodeDrainTimeout = duration(timeout)
		}
	}
	testSpec(t, map[string]specTest{
		"no limit":         {controlPlane("0s"), nil},
		"the most":         {controlPlane(most), nil},
		"too long":         {controlPlane("596523h14m8s"), []string{`spec.controlPlaneConfiguration.machineDeletion.nodeDrainTimeout: Invalid value: "596523h14m8s": must be 596523h14m7s or less`}},
		"longer by a part": {controlPlane("596523h14m7.5s"), []string{`spec.controlPlaneConfiguration.machineDeletion.nodeDrainTimeout: Invalid value: "596523h14m7.5s": must be 596523h14m7s or less`}},
		"all of a group": {
			func(c *v1alpha1.Cluster) {
				c.Spec.WorkerNodeGroupConfigurations[1].MachineDeletion = v1alpha1.MachineDeletion{
					NodeDrainTimeout: duration("1.5s"), NodeVolumeDetachTimeout: duration("100ms"), NodeDeletionTimeout: duration("1m0.001s"),
				}
			},
			[]string{
				`spec.workerNodeGroupConfigurations[1].machineDeletion.nodeDrainTimeout: Invalid value: "1.5s": must be whole seconds; use 1s or 2s`,
				`spec.workerNodeGroupConfigurations[1].machineDeletion.nodeVolumeDetachTimeout: Invalid value: "100ms": must be whole seconds; use 0s or 1s`,
				`spec.workerNodeGroupConfigurations[1].machineDeletion.nodeDeletionTimeout: Invalid value: "1m0.001s": must be whole seconds; use 1m0s or 1m1s`,
			},
		},
	})
}

func TestSpecRollout(t *testing.T) {
	t.Parallel()
	const (
		controlPlanePath = "spec.controlPlaneConfiguration.upgradeRolloutStrategy."
		groupPath        = "spec.workerNodeGroupConfigurations[1].upgradeRolloutStrategy."
		none             = groupPath + "rollingUpdate.maxUnavailable: Invalid value: 0: must be 1 or more where maxSurge is 0, or no machine could be replaced; set it, or maxSurge to 1"
		most             = 1<<31 - 1
	)
	controlPlane := func(count int, strategy v1alpha1.ControlPlaneRolloutStrategy) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.ControlPlaneConfiguration.Count = &count
			c.Spec.ControlPlaneConfiguration.UpgradeRolloutStrategy = &strategy
		}
	}
	surge := func(count, surge int) func(*v1alpha1.Cluster) {
		return controlPlane(count, v1alpha1.ControlPlaneRolloutStrategy{RollingUpdate: &v1alpha1.ControlPlaneRollingUpdate{MaxSurge: &surge}})
	}
	group := func(strategy v1alpha1.WorkerRolloutStrategy) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.WorkerNodeGroupConfigurations[1].UpgradeRolloutStrategy = &strategy
		}
	}
	update := func(surge, unavailable *int) func(*v1alpha1.Cluster) {
		return group(v1alpha1.WorkerRolloutStrategy{RollingUpdate: &v1alpha1.WorkerRollingUpdate{MaxSurge: surge, MaxUnavailable: unavailable}})
	}
	testSpec(t, map[string]specTest{
		"control plane, nothing given":   {controlPlane(1, v1alpha1.ControlPlaneRolloutStrategy{}), nil},
		"control plane, default":         {controlPlane(1, v1alpha1.ControlPlaneRolloutStrategy{Type: "RollingUpdate"}), nil},
		"control plane, empty":           {controlPlane(1, v1alpha1.ControlPlaneRolloutStrategy{RollingUpdate: &v1alpha1.ControlPlaneRollingUpdate{}}), nil},
		"control plane in place":         {controlPlane(1, v1alpha1.ControlPlaneRolloutStrategy{Type: "InPlace"}), []string{controlPlanePath + `type: Invalid value: "InPlace": upgrades in place need EKS Anywhere's fork of Cluster API; use RollingUpdate, which replaces machines`}},
		"control plane, another":         {controlPlane(1, v1alpha1.ControlPlaneRolloutStrategy{Type: "OnDelete"}), []string{controlPlanePath + `type: Unsupported value: "OnDelete": supported values: "RollingUpdate"`}},
		"control plane of 1, surge of 1": {surge(1, 1), nil},
		"control plane of 3, surge of 0": {surge(3, 0), nil},
		"control plane of 1, surge of 0": {surge(1, 0), []string{controlPlanePath + "rollingUpdate.maxSurge: Invalid value: 0: removes a machine before its replacement exists, which needs a control plane of 3 or more; use 1"}},
		"control plane of 2, surge of 0": {
			func(c *v1alpha1.Cluster) {
				surge(2, 0)(c)
				c.Spec.ExternalEtcdConfiguration = &v1alpha1.ExternalEtcdConfiguration{Endpoints: []string{"https://a:1"}}
			},
			[]string{controlPlanePath + "rollingUpdate.maxSurge: Invalid value: 0: removes a machine before its replacement exists, which needs a control plane of 3 or more; use 1"},
		},
		"control plane, surge of 2":  {surge(3, 2), []string{controlPlanePath + "rollingUpdate.maxSurge: Invalid value: 2: must be 0 or 1"}},
		"control plane, surge of -1": {surge(3, -1), []string{controlPlanePath + "rollingUpdate.maxSurge: Invalid value: -1: must be 0 or 1"}},

		"group, nothing given":     {group(v1alpha1.WorkerRolloutStrategy{}), nil},
		"group, default":           {group(v1alpha1.WorkerRolloutStrategy{Type: "RollingUpdate"}), nil},
		"group in place":           {group(v1alpha1.WorkerRolloutStrategy{Type: "InPlace"}), []string{groupPath + `type: Invalid value: "InPlace": upgrades in place need EKS Anywhere's fork of Cluster API; use RollingUpdate, which replaces machines`}},
		"group, empty":             {update(nil, nil), nil},
		"group, surge of 0":        {update(new(0), nil), []string{none}},
		"group, none":              {update(new(0), new(0)), []string{none}},
		"group, surge of 1":        {update(new(1), new(0)), nil},
		"group, 1 unavailable":     {update(new(0), new(1)), nil},
		"group, only unavailable":  {update(nil, new(0)), nil},
		"group, the most":          {update(new(most), new(most)), nil},
		"group, negative surge":    {update(new(-1), nil), []string{groupPath + "rollingUpdate.maxSurge: Invalid value: -1: must be 0 or more"}},
		"group, too many":          {update(nil, new(most+1)), []string{groupPath + "rollingUpdate.maxUnavailable: Invalid value: 2147483648: must be 2147483647 or less"}},
		"group, negative and none": {update(new(0), new(-1)), []string{groupPath + "rollingUpdate.maxUnavailable: Invalid value: -1: must be 0 or more"}},
	})
}

func TestSpecHealthCheck(t *testing.T) {
	t.Parallel()
	const path = "spec.machineHealthCheck."
	check := func(startup, unhealthy string, most *v1alpha1.IntOrPercent) *v1alpha1.MachineHealthCheck {
		return &v1alpha1.MachineHealthCheck{NodeStartupTimeout: duration(startup), UnhealthyMachineTimeout: duration(unhealthy), MaxUnhealthy: most}
	}
	startup := func(timeout string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.MachineHealthCheck = check(timeout, "", nil) }
	}
	unhealthy := func(timeout string) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) { c.Spec.MachineHealthCheck = check("", timeout, nil) }
	}
	most := func(value int, percent bool) func(*v1alpha1.Cluster) {
		return func(c *v1alpha1.Cluster) {
			c.Spec.MachineHealthCheck = check("", "", &v1alpha1.IntOrPercent{Value: value, Percent: percent})
		}
	}
	testSpec(t, map[string]specTest{
		"empty":                   {func(c *v1alpha1.Cluster) { c.Spec.MachineHealthCheck = &v1alpha1.MachineHealthCheck{} }, nil},
		"no limit of startup":     {startup("0s"), nil},
		"shortest startup":        {startup("30s"), nil},
		"too short a startup":     {startup("29.999s"), []string{path + `nodeStartupTimeout: Invalid value: "29.999s": must be 30s or more, or 0s for no limit`}},
		"startup of half a time":  {startup("30.5s"), []string{path + `nodeStartupTimeout: Invalid value: "30.5s": must be whole seconds; use 30s or 31s`}},
		"too long a startup":      {startup("596524h0m0s"), []string{path + `nodeStartupTimeout: Invalid value: "596524h0m0s": must be 596523h14m7s or less`}},
		"shortest unhealthiness":  {unhealthy("1s"), nil},
		"too short unhealthiness": {unhealthy("0s"), []string{path + `unhealthyMachineTimeout: Invalid value: "0s": must be 1s or more; without a machineHealthCheck no machine is replaced`}},
		"parts of a second":       {unhealthy("1.5s"), []string{path + `unhealthyMachineTimeout: Invalid value: "1.5s": must be whole seconds; use 1s or 2s`}},
		"0 machines":              {most(0, false), nil},
		"most machines":           {most(1<<31-1, false), nil},
		"101 machines":            {most(101, false), nil},
		"too many machines":       {most(1<<31, false), []string{path + `maxUnhealthy: Invalid value: "2147483648": must be a number of machines, such as 2, or a percentage, such as 40%`}},
		"-1 machines":             {most(-1, false), []string{path + `maxUnhealthy: Invalid value: "-1": must be a number of machines, such as 2, or a percentage, such as 40%`}},
		"0%":                      {most(0, true), nil},
		"100%":                    {most(100, true), nil},
		"101%":                    {most(101, true), []string{path + `maxUnhealthy: Invalid value: "101%": must be from 0% to 100%`}},
		"-1%":                     {most(-1, true), []string{path + `maxUnhealthy: Invalid value: "-1%": must be from 0% to 100%`}},
		"of the parts": {
			func(c *v1alpha1.Cluster) {
				c.Spec.ControlPlaneConfiguration.MachineHealthCheck = check("1s", "", nil)
				c.Spec.WorkerNodeGroupConfigurations[1].MachineHealthCheck = check("", "0s", &v1alpha1.IntOrPercent{Value: -2})
			},
			[]string{
				`spec.controlPlaneConfiguration.machineHealthCheck.nodeStartupTimeout: Invalid value: "1s": must be 30s or more, or 0s for no limit`,
				`spec.workerNodeGroupConfigurations[1].machineHealthCheck.unhealthyMachineTimeout: Invalid value: "0s": must be 1s or more; without a machineHealthCheck no machine is replaced`,
				`spec.workerNodeGroupConfigurations[1].machineHealthCheck.maxUnhealthy: Invalid value: "-2": must be a number of machines, such as 2, or a percentage, such as 40%`,
			},
		},
		"inherited": {
			func(c *v1alpha1.Cluster) {
				all := check("1s", "0s", &v1alpha1.IntOrPercent{Value: -1})
				c.Spec.MachineHealthCheck = all
				c.Spec.ControlPlaneConfiguration.MachineHealthCheck = &v1alpha1.MachineHealthCheck{NodeStartupTimeout: all.NodeStartupTimeout, UnhealthyMachineTimeout: all.UnhealthyMachineTimeout, MaxUnhealthy: all.MaxUnhealthy}
				c.Spec.WorkerNodeGroupConfigurations[0].MachineHealthCheck = &v1alpha1.MachineHealthCheck{NodeStartupTimeout: all.NodeStartupTimeout, UnhealthyMachineTimeout: duration("0s"), MaxUnhealthy: all.MaxUnhealthy}
			},
			[]string{
				`spec.workerNodeGroupConfigurations[0].machineHealthCheck.unhealthyMachineTimeout: Invalid value: "0s": must be 1s or more; without a machineHealthCheck no machine is replaced`,
				path + `nodeStartupTimeout: Invalid value: "1s": must be 30s or more, or 0s for no limit`,
				path + `unhealthyMachineTimeout: Invalid value: "0s": must be 1s or more; without a machineHealthCheck no machine is replaced`,
				path + `maxUnhealthy: Invalid value: "-1": must be a number of machines, such as 2, or a percentage, such as 40%`,
			},
		},
	})
}
