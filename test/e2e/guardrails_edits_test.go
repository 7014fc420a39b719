package e2e_test

import "k8s.io/apimachinery/pkg/types"

// controlPlaneEdits are of control planes that break nothing.
func controlPlaneEdits() []edit {
	const even, late, pool, rolling, old, forms = "kubeadmcontrolplane/even", "kubeadmcontrolplane/late", "kubeadmcontrolplane/pool", "kubeadmcontrolplane/rolling", "kubeadmcontrolplane/old", "kubeadmcontrolplane/forms"
	return []edit{
		{name: "control plane to the next minor", object: even, version: "v1.35.0"},
		{name: "control plane to a newer patch", object: even, version: "v1.34.3"},
		{
			name: "control plane to an older patch", object: even, version: "v1.34.1", policy: movesDown,
			message: "control plane even: v1.34.1 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane to an older minor with a newer patch", object: even, version: "v1.33.9", policy: movesDown,
			message: "control plane even: v1.33.9 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane to an older minor of fewer digits", object: even, version: "v1.9.9", policy: movesDown,
			message: "control plane even: v1.9.9 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane across a minor", object: even, version: "v1.36.0", policy: movesDown,
			message: "control plane even: v1.36.0 is more than one minor newer than v1.34.2, which it has; a control plane moves one minor at a time: go to 1.35 first",
		},
		{
			name: "control plane down by a JSON patch", write: patched(even, types.JSONPatchType, `[{"op":"replace","path":"/spec/version","value":"v1.34.0"}]`), policy: movesDown,
			message: "control plane even: v1.34.0 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane applied at an older version", write: applied(thing{kind: "KubeadmControlPlane", cluster: "even", version: "v1.34.1"}.manifest(""), "kubectl"), policy: movesDown,
			message: "control plane even: v1.34.1 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane that leaves a group behind", object: late, version: "v1.35.0", policy: groupBehind + byControlPlane,
			message: "control plane late: worker node group late-0 is at v1.31.5, which is too old for v1.35.0; a node may be at most 3 minors older than the control plane: upgrade it to 1.32 or newer first",
		},
		{name: "control plane that leaves no group behind", object: late, version: "v1.34.9"},
		{
			name: "control plane that leaves a MachinePool behind", object: pool, version: "v1.35.0", policy: poolBehind + byControlPlane,
			message: "control plane pool: worker node group pool-0 is at v1.31.5, which is too old for v1.35.0; a node may be at most 3 minors older than the control plane: upgrade it to 1.32 or newer first",
		},
		{
			name: "control plane that leaves a machine of a rollout behind", object: rolling, version: "v1.35.0", policy: nodeBehind + byControlPlane,
			message: "control plane rolling: machine rolling-0-x is at v1.31.5, which is too old for v1.35.0; a node may be at most 3 minors older than the control plane: replace it with one of 1.32 or newer first",
		},
		{
			name: "control plane that leaves nodes before 1.25 behind", object: old, version: "v1.27.0", policy: groupBehind + byControlPlane,
			message: "control plane old: worker node group old-0 is at v1.24.9, which is too old for v1.27.0; a node may be at most 2 minors older than the control plane: upgrade it to 1.25 or newer first",
		},
		{name: "control plane that leaves no nodes before 1.25 behind", object: old, version: "v1.26.4"},
		{name: "control plane elsewhere", object: even, version: "v1.36.1", in: elsewhere},
		{
			name: "control plane elsewhere down", object: even, version: "v1.35.0", in: elsewhere, policy: movesDown,
			message: "control plane even: v1.35.0 is older than v1.36.0, which it has; downgrades are not supported: use v1.36.0 or newer",
		},
		{name: "control plane without its v", object: even, version: "1.35.0"},
		{
			name: "control plane down without its v", object: even, version: "1.34.1", policy: movesDown,
			message: "control plane even: v1.34.1 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
		{
			name: "control plane at no version", object: even, version: "latest",
			message: `admission webhook "validation.kubeadmcontrolplane.controlplane.cluster.x-k8s.io" denied the request: KubeadmControlPlane.cluster.x-k8s.io "even" is invalid: ` +
				`[spec.version: Invalid value: "vlatest": must be a valid semantic version, spec.version: Internal error: failed to parse updated kubeadmcontrolplane version: vlatest: Invalid character(s) found in major number "0latest"]`,
		},
		{name: "control plane from a pre-release to the release", object: forms, version: "v1.34.0"},
		{name: "control plane to a later pre-release by number", object: forms, version: "v1.34.0-rc.10"},
		{
			name: "control plane to an earlier pre-release", object: forms, version: "v1.34.0-beta.9", policy: movesDown,
			message: "control plane forms: v1.34.0-beta.9 is older than v1.34.0-rc.2, which it has; downgrades are not supported: use v1.34.0-rc.2 or newer",
		},
		{
			name: "control plane to a pre-release of what it has", object: even, version: "v1.34.2-rc.1", policy: movesDown,
			message: "control plane even: v1.34.2-rc.1 is older than v1.34.2, which it has; downgrades are not supported: use v1.34.2 or newer",
		},
	}
}

// workerEdits are of worker node groups that break nothing.
func workerEdits() []edit {
	const group, pool, forms = "machinedeployment/even-0", "machinepool/even-1", "machinedeployment/forms-0"
	const beside = ", which is at v1.34.2; no node is newer than its control plane, not even by a patch: use v1.34.2 or older, or upgrade the control plane first"
	return []edit{
		{name: "group to the version of the control plane", object: group, version: "v1.34.2"},
		{name: "group to a version in between", object: group, version: "v1.33.9"},
		{name: "group across minors", object: "machinedeployment/late-0", version: "v1.34.2"},
		{name: "group ahead by a patch", object: group, version: "v1.34.3", policy: besideCP, message: "worker node group even-0: v1.34.3 is newer than control plane even" + beside},
		{name: "group ahead by a build", object: group, version: "v1.34.2+vendor.1", policy: besideCP, message: "worker node group even-0: v1.34.2+vendor.1 is newer than control plane even" + beside},
		{name: "group ahead by a minor", object: group, version: "v1.35.0", policy: besideCP, message: "worker node group even-0: v1.35.0 is newer than control plane even" + beside},
		{name: "group ahead of a control plane elsewhere only", object: group, version: "v1.35.0", in: elsewhere},
		{
			name: "group down", object: group, version: "v1.33.0", policy: movesDown,
			message: "worker node group even-0: v1.33.0 is older than v1.33.1, which it has; downgrades are not supported: use v1.33.1 or newer",
		},
		{name: "group of a control plane of another kind", object: "machinedeployment/left-0", version: "v1.35.0"},
		{name: "MachinePool to the version of the control plane", object: pool, version: "v1.34.2"},
		{name: "MachinePool ahead", object: pool, version: "v1.34.3", policy: besideCP, message: "worker node group even-1: v1.34.3 is newer than control plane even" + beside},
		{
			name: "MachinePool down", object: pool, version: "v1.32.9", policy: movesDown,
			message: "worker node group even-1: v1.32.9 is older than v1.33.1, which it has; downgrades are not supported: use v1.33.1 or newer",
		},
		{name: "group to a later build by number", object: forms, version: "v1.33.4+vendor.10"},
		{
			name: "group to an earlier build", object: forms, version: "v1.33.4+vendor.1", policy: movesDown,
			message: "worker node group forms-0: v1.33.4+vendor.1 is older than v1.33.4+vendor.2, which it has; downgrades are not supported: use v1.33.4+vendor.2 or newer",
		},
		{
			name: "group to no build", object: forms, version: "v1.33.4", policy: movesDown,
			message: "worker node group forms-0: v1.33.4 is older than v1.33.4+vendor.2, which it has; downgrades are not supported: use v1.33.4+vendor.2 or newer",
		},
		{
			name: "group to the release of the control plane's pre-release", object: forms, version: "v1.34.0", policy: besideCP,
			message: "worker node group forms-0: v1.34.0 is newer than control plane forms, which is at v1.34.0-rc.2; no node is newer than its control plane, not even by a patch: use v1.34.0-rc.2 or older, or upgrade the control plane first",
		},
		{
			name: "group at no version", object: group, version: "latest",
			message: `admission webhook "validation.machinedeployment.cluster.x-k8s.io" denied the request: MachineDeployment.cluster.x-k8s.io "even-0" is invalid: spec.template.spec.version: Invalid value: "vlatest": must be a valid semantic version`,
		},
	}
}

// calledOffEdits take groups back whose rollouts began.
func calledOffEdits() []edit {
	const down = " is older than v1.34.1, which it has; downgrades are not supported: use v1.34.1 or newer"
	return []edit{
		{name: "rollout called off", object: "machinedeployment/stuck", version: "v1.33.6"},
		{name: "rollout called off, to what no machine runs", object: "machinedeployment/stuck", version: "v1.33.5", policy: movesDown, message: "worker node group stuck: v1.33.5" + down},
		{
			name: "rollout that brought a ready machine", object: "machinedeployment/moving", version: "v1.33.6", policy: calledOff,
			message: "worker node group moving: it cannot go back to v1.33.6, because machines of it are ready at v1.34.1; downgrades are not supported: use v1.34.1 or newer",
		},
		{name: "rollout that brought a ready machine, for a reason", object: "machinedeployment/moving", version: "v1.33.6", reason: "kernel bug"},
		{name: "rollout of a MachinePool called off", object: "machinepool/stuck-pool", version: "v1.33.6"},
		{name: "rollout of a MachinePool with machines", object: "machinepool/moving-pool", version: "v1.33.6", policy: movesDown, message: "worker node group moving-pool: v1.33.6" + down},
	}
}

// brokenEdits are of clusters that break the policy, and such that are to break it.
func brokenEdits() []edit {
	const broken, ahead, behind, far = "kubeadmcontrolplane/broken", "machinedeployment/ahead", "machinedeployment/behind", "machinedeployment/far-behind"
	const old = " is too old for control plane broken, which is at v1.34.2; a node may be at most 3 minors older than the control plane: use 1.31 or newer"
	return []edit{
		{name: "label of a control plane that breaks the policy", write: labelled(broken)},
		{name: "count of a control plane that breaks the policy", write: merged(broken, `{"spec":{"replicas":3}}`, "scale")},
		{name: "count of a group that breaks the policy", write: merged(ahead, `{"spec":{"replicas":3}}`, "scale")},
		{name: "count of a group, by a patch", write: merged(behind, `{"spec":{"replicas":3}}`)},
		{name: "pause of a group that breaks the policy", write: merged(ahead, `{"spec":{"paused":true}}`)},
		{name: "pause by an annotation", write: merged(broken, `{"metadata":{"annotations":{"cluster.x-k8s.io/paused":""}}}`)},
		{name: "status of a group that breaks the policy", write: merged(behind, `{"status":{"replicas":1}}`, "status")},
		{name: "template of a group that breaks the policy", write: merged(ahead, `{"spec":{"template":{"spec":{"infrastructureRef":{"name":"other"}}}}}`)},
		{name: "deletion of a group that breaks the policy", write: removed(behind)},
		{name: "deletion of a control plane that breaks the policy", write: removed(broken)},
		{name: "group that is far behind comes closer", object: far, version: "v1.29.0"},
		{name: "group that is behind catches up", object: behind, version: "v1.31.0"},
		{name: "group that is behind comes no closer", object: behind, version: "v1.30.9", policy: besideCP, message: "worker node group behind: v1.30.9" + old},
		{
			name: "group that is ahead goes farther", object: ahead, version: "v1.35.2", policy: besideCP,
			message: "worker node group ahead: v1.35.2 is newer than control plane broken, which is at v1.34.2; no node is newer than its control plane, not even by a patch: use v1.34.2 or older, or upgrade the control plane first",
		},
		{name: "group ahead, for a reason", object: "machinedeployment/even-0", version: "v1.35.0", reason: "node image is late"},
		{
			name: "group ahead, for an empty reason", object: "machinedeployment/even-0", version: "v1.35.0", reason: "empty ", policy: besideCP,
			message: "worker node group even-0: v1.35.0 is newer than control plane even, which is at v1.34.2; no node is newer than its control plane, not even by a patch: use v1.34.2 or older, or upgrade the control plane first",
		},
		{name: "control plane down, for a reason", object: "kubeadmcontrolplane/even", version: "v1.34.1", reason: "regression in v1.34.2"},
		{name: "control plane down, for a reason that it has", object: "kubeadmcontrolplane/reasoned", version: "v1.33.0"},
		{name: "control plane that leaves a group behind, for a reason", object: "kubeadmcontrolplane/late", version: "v1.35.0", reason: "the group goes away today"},
	}
}

// topologyEdits are of clusters from a ClusterClass.
func topologyEdits() []edit {
	left := func(cluster, what, how string) string {
		return "cluster " + cluster + ": " + what + " is at v1.31.14, which is too old for v1.35.4; a node may be at most 3 minors older than the control plane: " + how + " 1.32 or newer first"
	}
	const down = "cluster managed: v1.33.5 is older than v1.33.6, which it has; downgrades are not supported: use v1.33.6 or newer"
	return []edit{
		{name: "topology across minors, with its own groups", object: "cluster/managed", version: "v1.35.4"},
		{name: "topology to a newer patch", object: "cluster/left", version: "v1.33.13"},
		{name: "topology to the farthest minor beside a group that it left", object: "cluster/left", version: "v1.34.4"},
		{name: "topology that leaves a group behind", object: "cluster/left", version: "v1.35.4", policy: groupBehind + byTopology, message: left("left", "worker node group left-0", "upgrade it to")},
		{name: "topology that leaves a MachinePool behind", object: "cluster/left-pool", version: "v1.35.4", policy: poolBehind + byTopology, message: left("left-pool", "worker node group left-pool-0", "upgrade it to")},
		{name: "topology that leaves a machine behind", object: "cluster/left-machine", version: "v1.35.4", policy: nodeBehind + byTopology, message: left("left-machine", "machine left-machine-0", "replace it with one of")},
		{name: "topology that leaves a group behind, for a reason", object: "cluster/left", version: "v1.35.4", reason: "the group goes away today"},
		{name: "topology down", object: "cluster/managed", version: "v1.33.5", policy: movesDown, message: down},
		{name: "topology down, of an older API version", object: "clusters.v1beta1.cluster.x-k8s.io/managed", version: "v1.33.5", policy: movesDown, message: down},
		{name: "label of a cluster", write: labelled("cluster/left")},
		{name: "cluster goes on", write: merged("cluster/left", `{"spec":{"paused":false}}`)},
		{name: "deletion of a cluster", write: removed("cluster/left")},
		{
			name: "control plane of a topology, by hand", object: "kubeadmcontrolplane/managed", version: "v1.33.5", policy: movesDown,
			message: "control plane managed: v1.33.5 is older than v1.33.6, which it has; downgrades are not supported: use v1.33.6 or newer",
		},
		{name: "control plane of a topology, by the topology controller", write: applied(thing{kind: "KubeadmControlPlane", cluster: "managed", version: "v1.33.5"}.manifest(""), topologyController)},
		{name: "group of a topology, by the topology controller", write: applied(thing{kind: "MachineDeployment", cluster: "managed", name: "managed-0", version: "v1.30.1"}.manifest(""), topologyController)},
	}
}

// topologyController is the field manager by which Cluster API applies what belongs to a
// topology.
const topologyController = "capi-topology"

// otherEdits are of what the guardrails are not about.
func otherEdits() []edit {
	return []edit{
		{name: "cluster without a topology", write: labelled("cluster/even")},
		{name: "machine", write: labelled("machine/rolling-0-x")},
		{name: "MachineSet", write: merged("machineset/stuck-new", `{"spec":{"replicas":0}}`, "scale")},
	}
}

// createEdits make new objects.
func createEdits() []edit {
	group := func(kind, cluster, version string) thing {
		return thing{kind: kind, cluster: cluster, name: "new", version: version}
	}
	const owned = ", ownerReferences: [{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, name: even, uid: 3b0e1a5e-7d0f-4c41-9d0c-0d1d0a1b2c3d}]"
	const beside = ", which is at v1.34.2; no node is newer than its control plane, not even by a patch: use v1.34.2 or older, or upgrade the control plane first"
	reasoned := group("MachineDeployment", "even", "v1.35.0")
	reasoned.reason = "a test of the next release"
	return []edit{
		{name: "new group", write: made(group("MachineDeployment", "even", "v1.34.2").manifest(""))},
		{name: "new group ahead", write: made(group("MachineDeployment", "even", "v1.35.0").manifest("")), policy: besideCP, message: "worker node group new: v1.35.0 is newer than control plane even" + beside},
		{name: "new MachinePool ahead", write: made(group("MachinePool", "even", "v1.34.3").manifest("")), policy: besideCP, message: "worker node group new: v1.34.3 is newer than control plane even" + beside},
		{
			name: "new group too old", write: made(group("MachineDeployment", "even", "v1.30.4").manifest("")), policy: besideCP,
			message: "worker node group new: v1.30.4 is too old for control plane even, which is at v1.34.2; a node may be at most 3 minors older than the control plane: use 1.31 or newer",
		},
		{name: "new group ahead, for a reason", write: made(reasoned.manifest(""))},
		{name: "group ahead that moves here", write: made(group("MachineDeployment", "even", "v1.35.0").manifest(owned))},
		{name: "new group before its control plane", write: made(group("MachineDeployment", "none", "v1.35.0").manifest(""))},
		{name: "new control plane beside older groups", write: made(thing{kind: "KubeadmControlPlane", cluster: "left", version: "v1.36.0"}.manifest(""))},
	}
}
