package e2e_test

import "testing"

// TestRemoveRefused: an embedded management cluster with clusters of real machines is not
// removed, also where it does not run, unless the user says so.
func TestRemoveRefused(t *testing.T) {
	t.Parallel()
	const instance = "real"
	cli(t, 0, "management", "start", "--name", instance)
	kubectl(t, instance, []byte(realCluster), "apply", "-f", "-")
	cli(t, 0, "create", "cluster", "-f", specFile(t, "simulated", "1.35", "md-0"), "--name", instance, "--no-wait")
	cli(t, 0, "management", "stop", "--name", instance)
	const want = `error: embedded management cluster "real" manages clusters of real machines, which would go on without it: default/containers; ` +
		`delete them with 'clusterctl-x delete cluster', or save them with 'clusterctl-x backup management --to DIR' and add --abandon-clusters` + "\n"
	assertEndsWith(t, cli(t, 3, "management", "stop", "--remove", "--name", instance).stderr, want)
	cli(t, 0, "get", "clusters", "--name", instance) // it runs
	cli(t, 0, "management", "stop", "--remove", "--abandon-clusters", "--name", instance)
}

// realCluster is of machines that are containers.
const realCluster = `{apiVersion: cluster.x-k8s.io/v1beta2, kind: Cluster, metadata: {name: containers, namespace: default},
spec: {paused: true, infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DevCluster, name: containers}}}
---
{apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DevCluster, metadata: {name: containers, namespace: default}, spec: {backend: {docker: {}}}}
`
