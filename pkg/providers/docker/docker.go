// Package docker is the provider of machines that are containers: the docker
// backend of Cluster API's dev infrastructure provider.
package docker

import (
	"fmt"

	"github.com/clusterctl-x/clusterctl-x/config"
	"github.com/clusterctl-x/clusterctl-x/pkg/api/v1alpha1"
	"github.com/clusterctl-x/clusterctl-x/pkg/providers"
	"github.com/clusterctl-x/clusterctl-x/pkg/versionsbundle"
)

// Name of the provider, in the command line, among the templates and in the bundles.
const Name = "docker"

// Provider renders containers as machines.
type Provider struct{ fetchKubeadm string }

// New returns the provider.
func New() (Provider, error) {
	script, err := config.Templates.ReadFile("templates/docker/fetch-kubeadm.sh")
	if err != nil {
		return Provider{}, fmt.Errorf("reading the script that fetches kubeadm: %w", err)
	}
	return Provider{fetchKubeadm: string(script)}, nil
}

// Needs is what its machines need of a release.
func Needs() versionsbundle.Needs { return versionsbundle.Needs{NodeImage: Name, Kubeadm: true} }

// Name of the provider.
func (Provider) Name() string { return Name }

// Node is how kubeadm runs in node images of kind. Containers share the host's
// disk, so that the kubelet must not evict pods for its usage, and its cgroups:
// kubelets that know that version 1 of these is on its way out (from 1.31 on)
// are told to run on it.
func (p Provider) Node(version v1alpha1.Version) providers.Node {
	node := providers.Node{
		CertSANs:  []string{"localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"},
		CRISocket: "unix:///var/run/containerd/containerd.sock",
		KubeletExtraArgs: []providers.Arg{
			{Name: "eviction-hard", Value: "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"},
		},
		FetchKubeadm: p.fetchKubeadm,
	}
	if version.Minor().Compare(v1alpha1.Minor{Major: 1, Minor: 31}) >= 0 {
		node.KubeletExtraArgs = append(node.KubeletExtraArgs, providers.Arg{Name: "fail-cgroupv1", Value: "false"})
	}
	return node
}

// machine is the data of machine-template.yaml.tmpl.
type machine struct {
	ControlPlane bool
	// Image is empty where the bundle has none; then the dev provider takes
	// kindest/node of the machine's version.
	Image string
}

// ControlPlaneMachine is the data of the control plane's machine template.
func (Provider) ControlPlaneMachine(release versionsbundle.Release) any {
	return machine{ControlPlane: true, Image: release.NodeImages[Name]}
}

// WorkerMachine is the data of a worker node group's machine template.
func (Provider) WorkerMachine(release versionsbundle.Release) any {
	return machine{Image: release.NodeImages[Name]}
}

// Variables are none: DockerDatacenterConfig has no settings.
func (Provider) Variables() map[string]any { return nil }
